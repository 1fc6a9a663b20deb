import type { SteadyClient } from '@parley/client'
import { costText, dollars, type Quota, type UsageTotal } from '@parley/protocol'
import { columns, timeText } from '@parley/screen'
import { counted } from '@parley/screen/usage'
import type { Invocation } from '@parley/command-line'
import { show } from '@parley/command-line/commands'
import { itemsOf } from '../../caller/items-of.ts'
import { withCaller } from '../../caller/with-caller.ts'
import { findAgentId } from '../agent/find-agent.ts'

const GROUPS = ['day', 'model', 'job', 'agent', 'user'] as const

/** What the calls of models came to, and what is left of the quota. */
export const usage = (invocation: Invocation): Promise<number> => {
  const by = GROUPS.find((group) => group === invocation.values.text('by')) ?? 'day'
  return withCaller(invocation, 'user', async (caller) => {
    const agent = invocation.values.text('agent')
    const ofAgent = agent === undefined ? {} : { agent_id: await findAgentId(caller, agent) }
    const result = await caller.call('usage.summary', { group_by: by, ...ofAgent })
    const names = invocation.values.has('json') ? NO_NAMES : await namesFor(by, caller)
    const rows = result.groups.map(({ key, ...group }) => [names.get(key ?? '') ?? key ?? '-', ...cells(group)])
    const header = [by, 'calls', 'tokens in', 'cached', 'tokens out', 'cost']
    const table = columns([header, ...rows, ['all', ...cells(result.total)]], invocation.io.screen(), { mayGo: ['cached'] })
    const lines = [table, ...estimateLines(result.total), ...quotaLines(result.quota, invocation)]
    return show(invocation, result, lines.join('\n'))
  })
}

const NO_NAMES: ReadonlyMap<string, string> = new Map()
const PAGE_USERS = 500
const PAGE_AGENTS = 200
/** An account or agent that is on no page read stays with its id. */
const PAGES_MAX = 20

async function namesFor(by: (typeof GROUPS)[number], caller: Pick<SteadyClient, 'call'>): Promise<ReadonlyMap<string, string>> {
  if (by === 'user') return userNames(caller)
  return by === 'agent' ? agentNames(caller) : NO_NAMES
}

/** What agents are called that are still there, by their ids. */
async function agentNames(caller: Pick<SteadyClient, 'call'>): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  const agents = itemsOf((from) => caller.call('agent.list', { limit: PAGE_AGENTS, ...from }), PAGES_MAX)
  for await (const { agent_id, name } of agents) names.set(agent_id, name)
  return names
}

/** What accounts are called, by their ids: for an admin all of them, for others their own. */
async function userNames(caller: Pick<SteadyClient, 'call'>): Promise<ReadonlyMap<string, string>> {
  const me = await caller.call('account.get', {})
  const names = new Map<string, string>()
  if (me.user_id !== null && me.username !== null) names.set(me.user_id, me.username)
  if (!me.admin) return names
  const users = itemsOf((from) => caller.call('user.list', { limit: PAGE_USERS, ...from }), PAGES_MAX)
  for await (const { id, username } of users) names.set(id, username)
  return names
}

const cells = (total: UsageTotal): string[] => [
  `${counted(total.calls)}${total.estimated_calls === 0 ? '' : ` (${counted(total.estimated_calls)} estimated)`}`,
  counted(total.input_tokens),
  counted(total.cached_input_tokens),
  counted(total.output_tokens),
  total.calls === 0 ? dollars(0) : costText(total.cost_microusd, total.unpriced_calls, total.calls),
]

/** Figures that are nobody's count are told from those that a provider gave. */
const estimateLines = ({ estimated_calls }: UsageTotal): string[] =>
  estimated_calls === 0
    ? []
    : ['', 'estimated: broken off before its tokens were told. One that was given up here counts all that was set aside for it.']

/** Bounds that there are; without one there is nothing to say. */
function quotaLines(
  { jobs_at_once, tokens_per_day, microusd_per_day, resets_at }: Quota,
  { io }: Pick<Invocation, 'io'>,
): string[] {
  const line = (what: string, used: string, limit: string): string => `${what}: ${used} of ${limit}`
  const lines = [
    ...(jobs_at_once.limit === null ? [] : [line('jobs at once', counted(jobs_at_once.used), counted(jobs_at_once.limit))]),
    ...(tokens_per_day.limit === null ? [] : [line('tokens today', counted(tokens_per_day.used), counted(tokens_per_day.limit))]),
    ...(microusd_per_day.limit === null
      ? []
      : [line('cost today', dollars(microusd_per_day.used), dollars(microusd_per_day.limit))]),
  ]
  return lines.length === 0 ? [] : ['', ...lines, `A new day begins at ${timeText(resets_at, io)}.`]
}
