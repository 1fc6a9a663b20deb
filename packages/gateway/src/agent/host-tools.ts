import { type ToolContext } from '@parley/access'
import { AGENT_LIMITS, type AgentClaim, AgentId, TOOLS, ToolError } from '@parley/protocol'
import {
  AGENT_QUEUE,
  type AgentRecord,
  type Lease,
  LeaseLost,
  type Store,
  agentTopic,
  agentsTopic,
  callsLog,
  drainedTopic,
  transcriptLog,
} from '@parley/store'
import { withinShare } from '../blob/inputs-share.ts'
import { workerViews } from '../worker/worker-view.ts'
import { type AgentWorld, serveTool } from './agent-world.ts'
import { asHost, fenceOf, forgetClaim, hostOf } from './held-agent.ts'
import { restView } from './agent-view.ts'
import { folderRefusal, grantedAbove, mountGrantedAbove, mountRefusalAt } from './may-mount.ts'
import { openedMount, sealedSecrets } from './mount-secrets.ts'
import { activePolicies, countedCalls, layersOf } from '@parley/rulebook'

const QUIET = { audit: 'failures' } as const

export const hostClaimNext = serveTool(
  TOOLS['host.claim_next'],
  async ({ wait_ms: waitMs }, context) => {
    const { store } = context.world
    const host = hostOf(context)
    const nothing = { claim: null, lease_ms: AGENT_LIMITS.leaseMs }
    if ((await store.workers.byName('host', host))?.drain === true) return nothing
    const { call } = context
    const lease = await store.leases.claim(AGENT_QUEUE, host, {
      ttlMs: AGENT_LIMITS.leaseMs,
      waitMs,
      ...(call === undefined ? {} : { signal: AbortSignal.any([call.signal, context.world.hostControls.closing]) }),
    })
    if (lease === undefined) return nothing
    return { claim: await claimed(context, lease), lease_ms: AGENT_LIMITS.leaseMs }
  },
  QUIET,
)

/** The claim of an agent that is still there; one that is not leaves the queue. */
async function claimed({ call, world }: ToolContext<AgentWorld>, lease: Lease): Promise<AgentClaim | null> {
  const { store, hostControls } = world
  const { data: id } = AgentId.safeParse(lease.key)
  const agent = id === undefined ? undefined : await store.agents.byId(id)
  if (agent === undefined || agent.status === 'deleting') {
    await store.leases.complete(lease)
    return null
  }
  await store.leases.serve(lease)
  // What a host before had sent has an end that nobody knows; what it had asked is still asked.
  await store.approvals.takeOver(lease)
  await store.backgroundCalls.takeOver(lease)
  await announced(store, agent)
  const claim = { agent_id: agent.id, claim_id: String(lease.fence) }
  if (call?.link !== undefined) hostControls.watch(claim, call.link)
  return claim
}

/** Who holds an agent has changed, and its lease tells nobody. */
async function announced({ topics }: Pick<Store, 'topics'>, { id, ownerId }: AgentRecord): Promise<void> {
  for (const topic of [agentTopic(id), agentsTopic(ownerId), 'agents']) await topics.publish(topic)
}

export const hostRenew = serveTool(
  TOOLS['host.renew'],
  async ({ claims }, context) => {
    const host = hostOf(context)
    const { call, world } = context
    const { store, hostControls } = world
    const lost: AgentId[] = []
    for (const claim of claims) {
      try {
        await store.leases.renew(fenceOf(claim, host), AGENT_LIMITS.leaseMs)
        if (call?.link !== undefined) hostControls.watch(claim, call.link)
      } catch (error) {
        if (!(error instanceof LeaseLost)) throw error
        forgetClaim(claim, host, context)
        lost.push(claim.agent_id)
      }
    }
    return { lost, lease_ms: AGENT_LIMITS.leaseMs }
  },
  QUIET,
)

export const hostRelease = serveTool(TOOLS['host.release'], async ({ asleep, ...claim }, context) => {
  const { store } = context.world
  context.target = claim.agent_id
  const host = hostOf(context)
  forgetClaim(claim, host, context)
  const agent = await store.agents.byId(claim.agent_id)
  // Whoever deletes it waits for this.
  if (agent === undefined || agent.status === 'deleting') await store.topics.publish(drainedTopic(claim.agent_id))
  try {
    if (asleep) await store.agents.sleep(fenceOf(claim, host))
    else {
      await store.leases.release(fenceOf(claim, host), { countClaim: false })
      if (agent !== undefined) await announced(store, agent)
    }
  } catch (error) {
    // Somebody else has it, or it is gone: there is nothing left to let go of.
    if (!(error instanceof LeaseLost)) throw error
  }
  return { agent_id: claim.agent_id, released: true as const }
})

export const hostAgentsKnown = serveTool(
  TOOLS['host.agents_known'],
  async ({ agent_ids: ids }, { world: { store, installation } }) => {
    const known: AgentId[] = []
    for (const id of ids) {
      const agent = await store.agents.byId(id)
      if (agent !== undefined && agent.status !== 'deleting') known.push(id)
    }
    return { installation, known }
  },
  QUIET,
)

export const hostAgentGet = serveTool(
  TOOLS['host.agent_get'],
  (claim, context) =>
    asHost(claim, context, async (_fence, agent) => {
      const { store, mountSealer, gate, hostControls } = context.world
      const { id, name, kind, ownerId, ownerName, settings, version } = agent
      const [grant, mounts, subscriptions, calls, transcript, active, allowances, rest] = await Promise.all([
        store.grants.of(ownerId),
        store.agents.mounts(id),
        store.agents.subscriptions(id),
        store.logs.end(callsLog(id)),
        store.logs.end(transcriptLog(id)),
        activePolicies(store, agent),
        store.policies.allowances(id),
        store.news.rest(id),
      ])
      if (context.call?.link !== undefined) hostControls.watch(claim, context.call.link, version)
      return {
        agent_id: id,
        name,
        kind,
        owner: ownerName,
        ...settings,
        version,
        mounts: await Promise.all(
          mounts.map(async (mount) => {
            const { server, signIn } = openedMount(mountSealer, id, mount)
            const refused = (await mountRefusalAt(store, server, grant))?.reason ?? null
            const held = { name: mount.name, server, options: mount.options, version: mount.version, sign_in: signIn }
            return { ...held, refused, folder_granted: mountGrantedAbove(server, grant) }
          }),
        ),
        subscriptions: [...subscriptions],
        rest: rest === undefined ? null : restView(rest),
        calls_offset: calls.offset,
        transcript_offset: transcript.offset,
        gate,
        policies: active.policies.map(({ record, document }) => ({
          layer: record.subject.layer,
          version: record.version,
          sha256: record.sha256,
          document_json: JSON.stringify({ ...document, example: [] }),
        })),
        policy: active.name,
        allowances: [...allowances],
        ...(await countedCalls(store, id, layersOf(active))),
        private_http: grant.private_http,
        folder_refused: folderRefusal(settings.folder, grant)?.reason ?? null,
        folder_granted: settings.folder === null ? null : grantedAbove(settings.folder, grant),
      }
    }),
  QUIET,
)

export const hostAgentReport = serveTool(
  TOOLS['host.agent_report'],
  ({ mounts, ...claim }, context) =>
    asHost(claim, context, async (fence) => {
      await context.world.store.agents.report(fence, mounts)
      return { agent_id: claim.agent_id }
    }),
  QUIET,
)

/** The mount stays what it is to everybody else: nothing is told of it. */
export const hostMountRenewed = serveTool(
  TOOLS['host.mount_renewed'],
  ({ name, version, sign_in: signIn, ...claim }, context) =>
    asHost(claim, context, async (fence, { id }) => {
      const { store, mountSealer } = context.world
      const mount = (await store.agents.mounts(id)).find((each) => each.name === name && each.version === version)
      if (mount === undefined) return { agent_id: id, name, kept: false }
      const { server } = openedMount(mountSealer, id, mount)
      const sealed = sealedSecrets(mountSealer, id, name, { server, signIn })
      return { agent_id: id, name, kept: await store.agents.reseal(fence, { name, version, sealed }) }
    }),
  QUIET,
)

export const hostAgentListen = serveTool(
  TOOLS['host.agent_listen'],
  ({ uri, listens, digest, ...claim }, context) =>
    asHost(claim, context, async (fence) => {
      const { agents } = context.world.store
      if (listens) await withinShare({}, () => agents.listen(fence, uri, AGENT_LIMITS.subscriptions, digest))
      else await agents.unlisten(fence, uri)
      return { agent_id: claim.agent_id, uri, listens }
    }),
  QUIET,
)

export const hostList = serveTool(TOOLS['host.list'], ({ gone }, { world }) => workerViews(world, 'host', { gone }))

export const hostDrain = serveTool(TOOLS['host.drain'], async ({ name, drain }, context) => {
  context.target = name
  const host = await context.world.store.workers.setDrain('host', name, drain)
  if (host === undefined)
    throw new ToolError('not_found', `there is no host ${name}`, { field: 'name', hint: 'host.list has them' })
  return { name: host.name, drain: host.drain }
})
