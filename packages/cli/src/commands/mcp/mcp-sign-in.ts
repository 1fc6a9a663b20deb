import { type Invocation, usageError } from '@parley/command-line'
import { readSecretLine, show } from '@parley/command-line/commands'
import { browserSignIn, scopesIn } from '../../mcp-config/browser-sign-in.ts'
import { serversFileOf } from '../../mcp-config/servers-file.ts'
import { tokenShelf } from '../../mcp-config/token-file.ts'
import { serverOf } from './mcp.ts'

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
  const scopes = scopesIn(values.text('scopes')) ?? entry.scopes
  const tokens = await browserSignIn(invocation, {
    name,
    url,
    ...(id === undefined ? {} : { client: { id, ...secret } }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(entry.oauth_resource === undefined ? {} : { resource: entry.oauth_resource }),
    ...(entry.oauth?.callback_port === undefined ? {} : { callbackPort: entry.oauth.callback_port }),
  })
  await tokenShelf(serversFileOf(invocation).tokensPath).put(name, url, tokens)
  return show(invocation, { name, signed_in: true }, `Signed in at '${name}'.`)
}

export async function mcpLogout(invocation: Invocation): Promise<number> {
  const { name, entry } = await serverOf(invocation)
  if (entry.url === undefined) throw usageError(`${name} is a command: there is nothing to sign out of`)
  const dropped = await tokenShelf(serversFileOf(invocation).tokensPath).drop(name)
  const said = dropped ? `Signed out of '${name}'.` : `Nobody is signed in at '${name}'.`
  return show(invocation, { name, signed_out: dropped }, said)
}
