import { ServerSpec } from '@parley/protocol'
import { CommandError, type Invocation, usageError } from '@parley/command-line'
import { readSecretLine, show } from '@parley/command-line/commands'
import { agentName } from '@parley/shell'
import { browserSignIn, scopesIn } from '../../mcp-config/browser-sign-in.ts'
import { withAgent } from './agents.ts'

/** Signs in at the server of a mount with the browser of this machine, and hands what that gives to the gateway. */
export const mountLogin = (invocation: Invocation): Promise<number> => {
  const client = clientOf(invocation)
  const scopes = scopesIn(invocation.values.text('scopes'))
  return withAgent(invocation, async (caller, agent_id) => {
    const name = invocation.positionals[1] ?? ''
    const { items } = await caller.call('mount.list', { agent_id })
    const mount = items.find((each) => each.name === name)
    if (mount === undefined)
      throw new CommandError('not_found', `nothing is mounted as ${name}`, { hint: 'parley mount list AGENT shows what is' })
    const server = ServerSpec.safeParse(mount.server).data
    if (server?.kind !== 'http') throw usageError(`${name} is a program: only servers at a URL can be signed in at`)
    if (server.url.includes(MASKED))
      throw new CommandError('unsupported', `the URL of ${name} holds a secret, which is not shown`, {
        hint: 'attach it with a --header instead',
      })
    const sign_in = await browserSignIn(invocation, { name, url: server.url, ...client, ...(scopes && { scopes }) })
    const signed = await caller.call('mount.sign_in', { agent_id, name, sign_in })
    return show(invocation, signed, `Signed in at ${name} for ${await agentName(caller, agent_id)}.`)
  })
}

/** As a masked value is written in a URL. */
const MASKED = encodeURIComponent('••••')

function clientOf({ io, values }: Invocation): { client?: { id: string; secret?: string } } {
  const id = values.text('client-id')
  const file = values.text('client-secret-file')
  if (id === undefined) {
    if (file !== undefined) throw usageError('--client-secret-file goes with --client-id')
    return {}
  }
  if (file === undefined) return { client: { id } }
  return { client: { id, secret: readSecretLine({ what: '--client-secret-file', file, cwd: io.cwd }, io, 'secret') } }
}
