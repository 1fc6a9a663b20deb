import type { Database } from '@parley/database'
import type { ApprovalRecords, Store } from '@parley/store'

/** Which guard of the records is left out, to show that its absence is found. */
export type LeftOut = 'dispatch' | 'decide'

const DISPATCH = "UPDATE approvals SET status = 'dispatched', dispatched_at = $2 WHERE id = $1"
const UNDECIDE = "UPDATE approvals SET status = 'pending' WHERE id = $1"

/** The store with one step of its approvals that looks at nothing before it is taken. */
export function unguardedStore(leftOut: LeftOut): (store: Store, db: Database) => Store {
  return (store, db) => {
    const { approvals } = store
    const guarded: ApprovalRecords = {
      ask: (...given) => approvals.ask(...given),
      propose: (...given) => approvals.propose(...given),
      byId: (id) => approvals.byId(id),
      pending: (agentId) => approvals.pending(agentId),
      list: (page) => approvals.list(page),
      decide: (...given) => approvals.decide(...given),
      dispatch: (...given) => approvals.dispatch(...given),
      settle: (...given) => approvals.settle(...given),
      withdraw: (...given) => approvals.withdraw(...given),
      leave: (...given) => approvals.leave(...given),
      takeOver: (fence) => approvals.takeOver(fence),
      resolve: (...given) => approvals.resolve(...given),
      expire: (limit) => approvals.expire(limit),
      prune: (before) => approvals.prune(before),
    }
    const dispatch: ApprovalRecords['dispatch'] = async (_fence, id) =>
      db.transaction(async (tx) => ((await tx.run(DISPATCH, [id, store.now()])) > 0 ? 'dispatched' : 'refused'))
    const decide: ApprovalRecords['decide'] = async (id, said) => {
      await db.transaction((tx) => tx.run(UNDECIDE, [id]))
      return approvals.decide(id, said)
    }
    return { ...store, approvals: { ...guarded, ...(leftOut === 'dispatch' ? { dispatch } : { decide }) } }
  }
}
