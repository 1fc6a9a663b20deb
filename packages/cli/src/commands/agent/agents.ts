import {
  type Agent,
  type AgentId,
  AgentKind,
  AgentName,
  AGENT_LIMITS,
  EngineName,
  ToolError,
  type ToolInput,
} from '@parley/protocol'
import { columns, timeText } from '@parley/screen'
import type { SteadyClient } from '@parley/client'
import { CommandError, type Invocation, usageError } from '@parley/command-line'
import { askYes, canAsk, parseDuration, readGivenText, show } from '@parley/command-line/commands'
import { agentName, agentRow, agentText, boundsOf, hasBounds, tellWarnings, toldByOption } from '@parley/shell'
import { allItems } from '../../caller/items-of.ts'
import { withCaller } from '../../caller/with-caller.ts'
import { showNewToken } from '../account/show-new-token.ts'
import { findAgentId } from './find-agent.ts'

const PAGE = 200
/** More than this is no list for a terminal. */
const PAGES_MAX = 1_000
/** Whoever deletes an agent is asked first by this name. */
const FORGET = 'forget_unknown'
const HEADER = ['name', 'kind', 'status', 'mounts', 'host', 'owner', 'changed', 'id']

/** Does something with the agent that is named first. */
export const withAgent = (
  invocation: Invocation,
  use: (caller: SteadyClient, agentId: AgentId) => Promise<number>,
): Promise<number> =>
  withCaller(invocation, 'user', async (caller) => use(caller, await findAgentId(caller, invocation.positionals[0] ?? '')))

export const agentCreate = (invocation: Invocation): Promise<number> => {
  const { values, positionals } = invocation
  const kind = AgentKind.optional().parse(values.text('kind'))
  const preset = values.text('preset')
  const input = {
    ...nameOf('NAME', positionals[0]),
    ...(preset === undefined ? {} : { preset }),
    ...(kind === undefined ? {} : { kind }),
    ...settingsOf(invocation),
    ...boundsOf(values),
  }
  return withCaller(invocation, 'user', async (caller) => {
    const agent = await caller.call('agent.create', input)
    const { name } = agent
    tellWarnings(invocation.io, agent.warnings)
    const next =
      agent.kind === 'local'
        ? `parley agent run ${name} TEXT tells it something.`
        : `parley agent token ${name} lets a program be it.`
    const text = `${name} is made: ${agent.agent_id}\nparley mount attach ${name} NAME -- CMD mounts a server for it; ${next}`
    return show(invocation, agent, invocation.io.typed(text))
  })
}

export const agentList = (invocation: Invocation): Promise<number> =>
  withCaller(invocation, 'user', async (caller) => {
    const { io, values } = invocation
    const items = await allItems((from) => caller.call('agent.list', { limit: PAGE, ...from }), PAGES_MAX)
    if (items.length === 0 && !values.has('json')) io.err('there is no agent; parley agent create makes one\n')
    const rows = items.map((agent) => agentRow(agent, io))
    return show(invocation, { items }, columns([HEADER, ...rows], io.screen(), { mayGo: ['owner', 'host'] }))
  })

export const agentShow = (invocation: Invocation): Promise<number> =>
  withAgent(invocation, async (caller, agent_id) => showAgent(invocation, caller, await caller.call('agent.get', { agent_id })))

export const agentUpdate = (invocation: Invocation): Promise<number> => {
  const { values } = invocation
  const changes = {
    ...nameOf('--name', values.text('name')),
    ...settingsOf(invocation),
    ...(values.has('no-folder') ? { folder: null } : {}),
  }
  if (Object.keys(changes).length === 0 && !hasBounds(values))
    throw usageError('agent update needs something to change', 'parley agent update --help')
  return withAgent(invocation, async (caller, agent_id) => {
    const before = hasBounds(values) ? await caller.call('agent.get', { agent_id }) : undefined
    const agent = await caller.call('agent.update', { agent_id, ...changes, ...boundsOf(values, before) })
    tellWarnings(invocation.io, agent.warnings)
    return showAgent(invocation, caller, agent)
  })
}

export const agentDelete = (invocation: Invocation): Promise<number> =>
  withAgent(invocation, async (caller, agent_id) => {
    const { io, values } = invocation
    const name = await agentName(caller, agent_id)
    const deleted = (forget: boolean) => caller.call('agent.delete', { agent_id, ...(forget ? { forget_unknown: true } : {}) })
    const result = await deleted(values.has('forget-unknown')).catch(async (error: unknown) => {
      if (!(error instanceof ToolError) || error.field !== FORGET) throw error
      if (!canAsk(io)) throw toldByOption(error, { [FORGET]: '--forget-unknown' })
      const question = `${error.message}. Delete it all the same, with what is known of them?`
      if (!(await askYes(io, question, 'no'))) throw new CommandError('interrupted', 'nothing was deleted', { exitCode: 130 })
      return deleted(true)
    })
    return show(invocation, result, `${name} is deleted.`)
  })

export const agentToken = (invocation: Invocation): Promise<number> => {
  const { values, io } = invocation
  const ttl = values.text('ttl')
  const more = { ...(ttl === undefined ? {} : { ttl_seconds: parseDuration('--ttl', ttl) }), rotate: values.has('rotate') }
  return withAgent(invocation, async (caller, agent_id) => {
    const name = await agentName(caller, agent_id)
    return showNewToken(
      invocation,
      () => caller.call('agent.token', { agent_id, ...more }),
      ({ id, expires_at, revoked }) => {
        const ended = revoked === 0 ? '' : ` ${revoked === 1 ? 'One before it has' : `${revoked} before it have`} ended.`
        return `${id} is a token of ${name}, good until ${timeText(expires_at, io)}.${ended}`
      },
    )
  })
}

type Settings = Partial<Pick<ToolInput<'agent.update'>, 'instructions' | 'model' | 'engine' | 'folder'>>

function settingsOf({ values, io }: Invocation): Settings {
  const file = values.text('instructions-file')
  const model = values.text('model')
  const engine = EngineName.optional().parse(values.text('engine'))
  const folder = values.text('folder')
  if (folder?.startsWith('/') === false) throw usageError('--folder must be a whole path on the host, such as /srv/work')
  const given = { what: '--instructions-file', file: file ?? '', cwd: io.cwd }
  return {
    ...(file === undefined ? {} : { instructions: readGivenText(given, AGENT_LIMITS.instructionsBytes) }),
    ...(model === undefined ? {} : { model }),
    ...(engine === undefined ? {} : { engine }),
    ...(folder === undefined ? {} : { folder }),
  }
}

function nameOf(what: string, given: string | undefined): { readonly name?: string } {
  if (given === undefined) return {}
  const name = AgentName.safeParse(given)
  if (name.success) return { name: name.data }
  throw usageError(`${what} ${name.error.issues[0]?.message}`)
}

async function showAgent(invocation: Invocation, caller: SteadyClient, agent: Agent): Promise<number> {
  if (invocation.values.has('json')) return show(invocation, agent, '')
  const { items } = await caller.call('mount.list', { agent_id: agent.agent_id })
  return show(invocation, agent, agentText(agent, items, invocation.io))
}
