import type { UsageId } from '@parley/protocol'
import type { UsageRecord } from '../record/usage/usage.ts'
import type { Store } from '../store.ts'
import type { Acknowledged } from './acknowledged.ts'

/** The claim that a worker's calls are made under. */
export const KILLED_CLAIM = 'killed'
const PAGE = 500

/** What was booked is there once with its tokens; what was reserved is settled once, by whoever comes after. */
export async function checkUsages(store: Store, all: readonly Acknowledged[]): Promise<readonly string[]> {
  const booked = new Map(all.flatMap((each) => (each.kind === 'book' ? [[each.call, each.tokens] as const] : [])))
  const problems: string[] = []
  for (const each of all) {
    if (each.kind !== 'reserve' && each.kind !== 'book') continue
    const found = await store.usages.byCall(KILLED_CLAIM, 1, each.call)
    if (found === undefined) problems.push(`call ${each.call} is lost`)
    else if (each.kind === 'book' && found.status !== 'booked') problems.push(`the booking of call ${each.call} is lost`)
  }
  await store.usages.settleStale(Number.MAX_SAFE_INTEGER)
  const times = new Map<string, number>()
  const calls = await allCalls(store)
  for (const { callId, tokens } of calls) {
    times.set(callId, (times.get(callId) ?? 0) + 1)
    const expected = booked.get(callId)
    if (expected !== undefined && expected !== tokens.input_tokens)
      problems.push(`call ${callId} came to ${expected} and is there with ${tokens.input_tokens}`)
  }
  for (const [call, count] of times) if (count > 1) problems.push(`call ${call} is there ${count} times`)
  for (const each of all) {
    if (each.kind === 'reserve' && !times.has(each.call)) problems.push(`call ${each.call} was reserved and never settled`)
  }
  const { total } = await store.usages.summary({ groupBy: 'model', limit: 1 })
  const sum = calls.reduce((tokens, call) => tokens + call.tokens.input_tokens, 0)
  if (total.calls !== calls.length || total.input_tokens !== sum) problems.push('the sum is not that of the calls')
  return problems
}

async function allCalls(store: Store): Promise<readonly UsageRecord[]> {
  const calls: UsageRecord[] = []
  for (let beforeId: UsageId | undefined; ;) {
    const page = await store.usages.list({ limit: PAGE, ...(beforeId === undefined ? {} : { beforeId }) })
    beforeId = page.at(-1)?.id
    if (beforeId === undefined) return calls
    calls.push(...page)
  }
}
