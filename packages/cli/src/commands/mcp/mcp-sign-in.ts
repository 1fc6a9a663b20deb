import { OauthError, discoverOauth, signIn } from '@parley/oauth'
import { CommandError, type Invocation, usageError } from '@parley/command-line'
import { readSecretLine, show } from '@parley/command-line/commands'
import { openBrowser } from '../../mcp-config/open-browser.ts'
import { serversFileOf } from '../../mcp-config/servers-file.ts'
import { tokenShelf } from '../../mcp-config/token-file.ts'
import { serverOf } from './mcp.ts'

/** What a person gets to sign in. */
const SIGN_IN_MS = 10 * 60_000

export async function mcpLogin(invocation: Invocation): Promise<number> {
  const { io, values } = invocation
  const { name, entry } = await serverOf(invocation)
  const { url } = entry
  if (url === undefined) throw usageError(`${name} is a command: only servers at a --url can be signed in at`)
  if (entry.bearer_token_env_var !== undefined)
    throw usageError(`${name} takes its token from ${entry.bearer_token_env_var}`, 'add it again without --bearer-token-env-var')
  const secretFile = values.text('client-secret-file')
  const id = entry.oauth?.client_id
  if (secretFile !== undefined && id === undefined)
    throw usageError('--client-secret-file goes with a server that was added with --oauth-client-id')
  const secret =
    secretFile === undefined
      ? {}
      : { secret: readSecretLine({ what: '--client-secret-file', file: secretFile, cwd: io.cwd }, io, 'secret') }
  const scopes =
    values
      .text('scopes')
      ?.split(',')
      .filter((scope) => scope !== '') ?? entry.scopes
  const stop = new AbortController()
  let ignore = (): void => {}
  let closeBrowser = (): Promise<void> => Promise.resolve()
  try {
    const server = await discoverOauth(url)
    // Not before: while the server is asked there is nothing to put away, and a signal ends the command by itself.
    ignore = io.onSignal(() => stop.abort())
    if (server === undefined)
      throw new CommandError('unsupported', `${name} wants no sign-in`, {
        hint: `nothing at ${new URL(url).origin} speaks of OAuth`,
      })
    const tokens = await signIn({
      server,
      ...(id === undefined ? {} : { client: { id, ...secret } }),
      ...(scopes === undefined ? {} : { scopes }),
      ...(entry.oauth_resource === undefined ? {} : { resource: entry.oauth_resource }),
      ...(entry.oauth?.callback_port === undefined ? {} : { callbackPort: entry.oauth.callback_port }),
      clientName: 'Parley',
      open: (address) => {
        io.err(`Sign in at:\n  ${address}\n`)
        if (!values.has('no-browser')) closeBrowser = openBrowser(io, address)
      },
      timeoutMs: SIGN_IN_MS,
      now: io.now,
      signal: stop.signal,
    })
    await tokenShelf(serversFileOf(invocation).tokensPath).put(name, url, tokens)
  } catch (error) {
    if (error instanceof OauthError) throw new CommandError(`sign_in_${error.code}`, error.message, { cause: error })
    throw error
  } finally {
    ignore()
    await closeBrowser()
  }
  return show(invocation, { name, signed_in: true }, `Signed in at '${name}'.`)
}

export async function mcpLogout(invocation: Invocation): Promise<number> {
  const { name, entry } = await serverOf(invocation)
  if (entry.url === undefined) throw usageError(`${name} is a command: there is nothing to sign out of`)
  const dropped = await tokenShelf(serversFileOf(invocation).tokensPath).drop(name)
  const said = dropped ? `Signed out of '${name}'.` : `Nobody is signed in at '${name}'.`
  return show(invocation, { name, signed_out: dropped }, said)
}
