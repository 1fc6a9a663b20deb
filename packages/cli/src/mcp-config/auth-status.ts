import type { AuthStatusName, McpServerEntry } from '@parley/codex/config'
import type { OauthServer } from '@parley/oauth'
import type { TokenFileShelf } from './token-file.ts'

/** How somebody signs in at this server, as far as it can be seen from here. */
export async function authStatusOf(name: string, entry: McpServerEntry, tokens: TokenFileShelf): Promise<AuthStatusName> {
  if (entry.url === undefined) return 'unsupported'
  if (entry.bearer_token_env_var !== undefined) return 'bearer_token'
  if (await tokens.has(name, entry.url)) return 'o_auth'
  if (entry.enabled === false) return 'unknown'
  const found = await probeOauth(entry.url)
  if (found === 'unknown') return 'unknown'
  return found === undefined ? 'unsupported' : 'not_logged_in'
}

/** The authorization server of an address; `unknown` where nobody answers. */
export async function probeOauth(url: string): Promise<OauthServer | 'unknown' | undefined> {
  if (URL.parse(url) === null) return 'unknown'
  const { discoverOauth } = await import('@parley/oauth')
  return discoverOauth(url).catch(() => 'unknown' as const)
}
