import { type GatewayCaller, pageOf, serving, type ToolWorld } from '@parley/access'
import { type AgentId, type JobId, NO_TOKENS, TOOLS, type UsageEvent, type UserId, iso, wrongArgument } from '@parley/protocol'
import type { UsageRecord } from '@parley/store'
import type { QuotaBook } from '@parley/models'
import { isTheirs, noSuchAgent } from '../agent/find-agent.ts'
import { findJob, noSuchJob } from '../job/find-job.ts'

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
  const { group_by: groupBy, agent_id: agentId, limit } = args
  const isThere = agentId === undefined || (await isAgentVisible(world, agentId, caller))
  const { total, groups } = await world.store.usages.summary({ ...whose, ...range, ...ofAgent(agentId), groupBy, limit })
  if (agentId !== undefined && !isThere && total.calls === 0) throw noSuchAgent(agentId)
  return { total, groups: [...groups], quota }
})

export const usageEvents = serveTool(TOOLS['usage.events'], async (args, { world, caller }) => {
  const range = rangeOf(args)
  const { job_id: jobId, agent_id: agentId, before, limit } = args
  const isThere = jobId === undefined || (await isVisible(world, jobId, caller))
  const isAgentThere = agentId === undefined || (await isAgentVisible(world, agentId, caller))
  const whose = ownerFilter(caller, args.owner_user_id)
  const found =
    whose === 'nobody'
      ? []
      : await world.store.usages.list({
          ...whose,
          ...range,
          ...(jobId === undefined ? {} : { jobId }),
          ...ofAgent(agentId),
          ...(before === undefined ? {} : { beforeId: before }),
          limit: limit + 1,
        })
  // What a job or an agent used stays when it goes: its owner may still ask. Anybody else hears what they would of any other id.
  if (jobId !== undefined && !isThere && found.length === 0) throw noSuchJob(jobId)
  if (agentId !== undefined && !isAgentThere && found.length === 0) throw noSuchAgent(agentId)
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

/** The same for an agent. */
async function isAgentVisible({ store }: ToolWorld, agentId: AgentId, caller: GatewayCaller): Promise<boolean> {
  const agent = await store.agents.byId(agentId)
  if (agent === undefined) return false
  if (!isTheirs(agent, caller)) throw noSuchAgent(agentId)
  return true
}

const ofAgent = (agentId: AgentId | undefined): { readonly agentId?: AgentId } => (agentId === undefined ? {} : { agentId })

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
    agent_id: record.agentId,
    prompt: record.prompt,
    owner_user_id: record.ownerId,
    claim: record.agentId === null ? record.claim : null,
    attempt: record.agentId === null ? record.attempt : null,
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
