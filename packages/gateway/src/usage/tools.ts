import { type JobId, NO_TOKENS, TOOLS, type UsageEvent, type UserId, iso, wrongArgument } from '@parley/protocol'
import type { UsageRecord } from '@parley/store'
import type { QuotaBook } from '@parley/models'
import type { GatewayCaller } from '../caller.ts'
import { findJob, noSuchJob } from '../job/find-job.ts'
import { pageOf } from '../tool/page.ts'
import { type ToolWorld, serving } from '../tool/served-tool.ts'

/** What the tools of usage work with. */
interface UsageWorld extends ToolWorld {
  readonly quotas: QuotaBook
}

const serveTool = serving<UsageWorld>()

type Person = Pick<GatewayCaller, 'admin' | 'userId'>

const NOTHING = { ...NO_TOKENS, calls: 0, unpriced_calls: 0, estimated_calls: 0, cost_microusd: 0 }

export const usageSummary = serveTool(TOOLS['usage.summary'], async (args, { world, caller }) => {
  const range = rangeOf(args)
  const whose = ownerFilter(caller, args.owner_user_id)
  const quota = await world.quotas.of(caller.admin ? (args.owner_user_id ?? caller.userId) : caller.userId)
  if (whose === 'nobody') return { total: NOTHING, groups: [], quota }
  const { group_by: groupBy, limit } = args
  const { total, groups } = await world.store.usages.summary({ ...whose, ...range, groupBy, limit })
  return { total, groups: [...groups], quota }
})

export const usageEvents = serveTool(TOOLS['usage.events'], async (args, { world, caller }) => {
  const range = rangeOf(args)
  const { job_id: jobId, before, limit } = args
  const isThere = jobId === undefined || (await isVisible(world, jobId, caller))
  const whose = ownerFilter(caller, args.owner_user_id)
  const found =
    whose === 'nobody'
      ? []
      : await world.store.usages.list({
          ...whose,
          ...range,
          ...(jobId === undefined ? {} : { jobId }),
          ...(before === undefined ? {} : { beforeId: before }),
          limit: limit + 1,
        })
  // What a job used stays when the job goes: its owner may still ask. Anybody else hears what they would of any other id.
  if (jobId !== undefined && !isThere && found.length === 0) throw noSuchJob(jobId)
  const { items, next } = pageOf(found, limit, ({ id }) => id)
  return { items: items.map(eventView), next }
})

/** People see their own; somebody else's is as if there were none. An admin sees all, or one person's. */
function ownerFilter(caller: Person, asked: UserId | undefined): { readonly ownerId?: UserId | null } | 'nobody' {
  if (caller.admin) return asked === undefined ? {} : { ownerId: asked }
  return asked === undefined || asked === caller.userId ? { ownerId: caller.userId } : 'nobody'
}

/** False: the job is gone. A foreign one is `not_found`. */
async function isVisible({ store }: ToolWorld, jobId: JobId, caller: GatewayCaller): Promise<boolean> {
  if ((await store.jobs.byId(jobId)) === undefined) return false
  await findJob(store, jobId, caller)
  return true
}

function rangeOf(args: { readonly from?: string | undefined; readonly to?: string | undefined }): {
  readonly from?: number
  readonly to?: number
} {
  const from = args.from === undefined ? undefined : Date.parse(args.from)
  const to = args.to === undefined ? undefined : Date.parse(args.to)
  if (from !== undefined && to !== undefined && from >= to) throw wrongArgument('to', 'must be later than from')
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
}

function eventView(record: UsageRecord): UsageEvent {
  return {
    id: record.id,
    at: iso(record.at),
    job_id: record.jobId,
    owner_user_id: record.ownerId,
    claim: record.claim,
    attempt: record.attempt,
    call_id: record.callId,
    upstream_channel: record.channel,
    model: record.model,
    source: record.source,
    estimated: record.estimated,
    cost_microusd: record.costMicrousd,
    prices: record.prices,
    ...record.tokens,
  }
}
