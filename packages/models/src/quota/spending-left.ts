import { ToolError } from '@parley/protocol'
import { type OwnBounds, SPEND_SCOPES, type SpendBound, type Spender, type Store } from '@parley/store'
import type { ReachableModel } from '../channel/directory.ts'
import { boundWords, payable } from './bounds.ts'
import type { QuotaBook } from './quota-book.ts'

/** What all bounds together leave. Throws `quota_exceeded`, which names the bound that leaves nothing. */
export async function spendingLeft(
  { store, quotas }: { readonly store: Pick<Store, 'usages'>; readonly quotas: QuotaBook },
  spending: {
    readonly spender: Spender
    readonly bounds: OwnBounds
    readonly reachable: Pick<ReachableModel, 'script'>
    /** What whoever hears of it may do. */
    readonly hint: string
  },
): Promise<SpendBound> {
  const { spender, bounds, reachable, hint } = spending
  const limits = payable(await quotas.limitsFor({ ownerId: spender.ownerId, bounds }), reachable)
  const left = { tokens: Infinity, microusd: Infinity }
  for (const scope of SPEND_SCOPES) {
    const bound = limits[scope]
    if (bound === undefined || (bound.tokens === null && bound.microusd === null)) continue
    const spent = await store.usages.spentIn(scope, spender, limits.since)
    for (const unit of ['tokens', 'microusd'] as const) {
      const most = bound[unit]
      if (most === null) continue
      const used = spent[unit]
      if (used >= most)
        throw new ToolError('quota_exceeded', boundWords({ scope, unit, used, most }, quotas.resetsAt()).message, { hint })
      left[unit] = Math.min(left[unit], most - used)
    }
  }
  return { tokens: finite(left.tokens), microusd: finite(left.microusd) }
}

const finite = (left: number): number | null => (left === Infinity ? null : left)
