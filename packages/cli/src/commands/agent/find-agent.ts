import type { SteadyClient } from '@parley/client'
import { type Agent, AgentId, AgentName, ToolError } from '@parley/protocol'
import { CommandError } from '@parley/command-line'
import { findId } from '../../caller/find-id.ts'
import { type ReadPage, itemsOf } from '../../caller/items-of.ts'

const KIND = { noun: 'agent', what: 'AGENT', prefix: 'agt_', list: 'parley agent list' } as const
const PAGE = 200
const PAGES_MAX = 50
const LAST = '@last'

/** The agent that was meant: by its id, by its name if it is one's own, by a beginning of its id, or the newest of one's own. */
export async function findAgentId(caller: SteadyClient, given: string): Promise<AgentId> {
  const whole = AgentId.safeParse(given)
  if (whole.success) return whole.data
  return lookUp(caller, given).catch(async (error: unknown) => {
    throw (await mayNotLookUp(caller, given, error)) ?? error
  })
}

/** A token that decides alone reads no list of agents, and the scope that would let it read one does not decide: both are needed. */
async function mayNotLookUp(caller: SteadyClient, given: string, cause: unknown): Promise<CommandError | undefined> {
  if (!(cause instanceof ToolError) || cause.code !== 'forbidden') return undefined
  const { scopes } = await caller.call('account.get', {})
  if (scopes?.includes('approvals') !== true) return undefined
  return new CommandError('forbidden', `this token may not look up which agent ${given} is`, {
    hint: 'give its whole id, agt_…, which works with this token, or make one with --scope approvals --scope read',
    cause,
  })
}

async function lookUp(caller: SteadyClient, given: string): Promise<AgentId> {
  if (given === LAST) return lastOwn(caller)
  const isName = AgentName.safeParse(given).success
  const named = isName ? await ownNamed(caller, given) : undefined
  if (named !== undefined) return named
  const page: ReadPage<{ readonly id: AgentId; readonly about: string }> = async (cursor) => {
    const { items, next_cursor } = await caller.call('agent.list', { limit: PAGE, ...cursor })
    return { items: items.map(({ agent_id: id, name: about }) => ({ id, about })), next_cursor }
  }
  return findId({ ...KIND, whole: (text) => AgentId.safeParse(text).data, page }, given).catch((error: unknown) => {
    // What can be no id was meant to be a name.
    if (!isName || given.startsWith(KIND.prefix)) throw error
    throw new CommandError('not_found', `you have no agent called ${given}, and none whose id begins so`, {
      hint: 'parley agent list shows yours',
      cause: error,
    })
  })
}

async function ownNamed(caller: SteadyClient, wanted: string): Promise<AgentId | undefined> {
  for await (const { agent_id, name } of ownOf(caller, PAGE)) if (name === wanted) return agent_id
  return undefined
}

async function lastOwn(caller: SteadyClient): Promise<AgentId> {
  for await (const { agent_id } of ownOf(caller, 1)) return agent_id
  throw new CommandError('not_found', `${LAST}: you have no agent yet`, { hint: 'parley agent create makes one' })
}

/** Newest first. An admin's list holds everybody's, and names are each person's own. */
async function* ownOf(caller: SteadyClient, limit: number): AsyncGenerator<Agent> {
  const { user_id } = await caller.call('account.get', {})
  if (user_id === null) return
  yield* itemsOf((from) => caller.call('agent.list', { owner_user_id: user_id, limit, ...from }), PAGES_MAX)
}
