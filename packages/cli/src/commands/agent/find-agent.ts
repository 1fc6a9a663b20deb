import type { SteadyClient } from '@parley/client'
import { AgentId, AgentName } from '@parley/protocol'
import { CommandError } from '@parley/command-line'
import { findId } from '../../caller/find-id.ts'
import { type ReadPage, itemsOf } from '../../caller/items-of.ts'

const KIND = { noun: 'agent', what: 'AGENT', prefix: 'agt_', list: 'parley agent list' } as const
const PAGE = 200
const PAGES_MAX = 50

/** The agent that was meant: by its id, by its name if it is one's own, or by a beginning of its id. */
export async function findAgentId(caller: SteadyClient, given: string): Promise<AgentId> {
  const whole = AgentId.safeParse(given)
  if (whole.success) return whole.data
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

/** An admin's list holds everybody's, and names are each person's own. */
async function ownNamed(caller: SteadyClient, wanted: string): Promise<AgentId | undefined> {
  const { user_id } = await caller.call('account.get', {})
  if (user_id === null) return undefined
  const own = itemsOf((from) => caller.call('agent.list', { owner_user_id: user_id, limit: PAGE, ...from }), PAGES_MAX)
  for await (const { agent_id, name } of own) if (name === wanted) return agent_id
  return undefined
}
