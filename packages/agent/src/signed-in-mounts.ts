import { messageOf } from '@parley/protocol/wire'
import type { OauthTokens } from '@parley/oauth'
import type { ConnectMount, MountServer } from './mount.ts'

/** What was given for one server. */
export interface HeldTokens {
  readonly name: string
  readonly tokens: OauthTokens
}

/** Where the tokens of signed-in servers are kept. */
export interface TokenShelf {
  /** Of the server at this address. */
  find(url: string): Promise<HeldTokens | undefined>
  put(name: string, url: string, tokens: OauthTokens): Promise<void>
}

/** A token is renewed this long before it is over. */
const EARLY_MS = 60_000

export interface SignedInOptions {
  /** Asked for by the first mount that may have a token. */
  readonly tokens: () => Promise<TokenShelf>
  /** Asks where the token came from for a new one. */
  readonly refresh: (tokens: OauthTokens, url: string) => Promise<OauthTokens>
  readonly now: () => number
  readonly warn: (message: string) => void
}

/** Mounts addresses that `parley mcp login` signed in at with their token; one that is over is renewed first. */
export function signedInMounts(connect: ConnectMount, options: SignedInOptions): ConnectMount {
  const renewals = new Map<string, Promise<string>>()
  return async (mount, signal) => {
    const { server } = mount
    if (server.kind !== 'http' || Object.keys(server.headers).some((name) => name.toLowerCase() === 'authorization'))
      return connect(mount, signal)
    const token = await tokenFor(server, options, renewals)
    if (token === undefined) return connect(mount, signal)
    const headers = { ...server.headers, authorization: `Bearer ${token}` }
    return connect({ ...mount, server: { ...server, headers } }, signal)
  }
}

async function tokenFor(
  { url }: Extract<MountServer, { kind: 'http' }>,
  options: SignedInOptions,
  renewals: Map<string, Promise<string>>,
): Promise<string | undefined> {
  const { tokens, now, warn } = options
  let held: HeldTokens | undefined
  try {
    const shelf = await tokens()
    held = await shelf.find(url)
    if (held === undefined) return undefined
    const { expires_at: end, refresh_token: renewable, access_token: token } = held.tokens
    if (end === null || renewable === null || now() < end - EARLY_MS) return token
    // What renews a token may be good for one use: conversations that begin at once share it.
    const running = renewals.get(url) ?? renewed(held, url, shelf, options).finally(() => renewals.delete(url))
    renewals.set(url, running)
    return await running
  } catch (error) {
    const words = messageOf(error)
    warn(`${url}: its token cannot be had: ${words}; sign in anew: parley mcp login ${held?.name ?? 'NAME'}`)
    return undefined
  }
}

async function renewed(
  held: HeldTokens,
  url: string,
  shelf: TokenShelf,
  { refresh }: Pick<SignedInOptions, 'refresh'>,
): Promise<string> {
  const fresh = await refresh(held.tokens, url)
  await shelf.put(held.name, url, fresh)
  return fresh.access_token
}
