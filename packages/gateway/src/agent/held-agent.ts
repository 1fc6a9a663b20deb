import { type ToolContext } from '@parley/access'
import { type AgentClaim, ToolError } from '@parley/protocol'
import { AGENT_QUEUE, type AgentRecord, type LeaseFence, LeaseLost, NotFound } from '@parley/store'
import type { AgentWorld } from './agent-world.ts'

/** The lease that a claim stands for, in the hands of that host alone: the number of a claim can be guessed. */
export const fenceOf = ({ agent_id: key, claim_id: claimId }: AgentClaim, holder: string): LeaseFence => ({
  queue: AGENT_QUEUE,
  key,
  fence: Number(claimId),
  holder,
})

/** Who asks, by the name that it spoke for on this connection: what it holds is written down under it, and is nobody else’s. */
export function hostOf({ call, world }: ToolContext<AgentWorld>): string {
  const name = call?.link === undefined ? undefined : world.workers.nameOn(call.link)
  if (name === undefined)
    throw new ToolError('no_session', 'a host says on its connection that it is here before it asks for agents', {
      hint: 'call worker.heartbeat first',
    })
  return name
}

/** Nothing more is told of an agent that a host has let go of, or lost. What another host is told goes on. */
export function forgetClaim(claim: AgentClaim, host: string, { world }: ToolContext<AgentWorld>): void {
  world.hostControls.forget(claim, (link) => world.workers.nameOn(link) === host)
}

/** Does something for the host that holds an agent; when it does not, before or meanwhile, it says `lease_lost`. */
export async function asHost<Answer>(
  claim: AgentClaim,
  context: ToolContext<AgentWorld>,
  work: (fence: LeaseFence, agent: AgentRecord) => Promise<Answer>,
): Promise<Answer> {
  const { store, hostControls } = context.world
  return underClaim(claim, context, async (fence) => {
    await store.leases.check(fence)
    // Before it is looked at: what changes from now on is told.
    if (context.call?.link !== undefined) hostControls.watch(claim, context.call.link)
    const agent = await store.agents.byId(claim.agent_id)
    if (agent === undefined || agent.status === 'deleting') throw new LeaseLost(fence)
    return work(fence, agent)
  })
}

/** The same for a write that goes under the fence itself: one statement then says whether it holds, and writes. */
export async function underClaim<Answer>(
  claim: AgentClaim,
  context: ToolContext<AgentWorld>,
  work: (fence: LeaseFence) => Promise<Answer>,
): Promise<Answer> {
  context.target = claim.agent_id
  const host = hostOf(context)
  try {
    return await work(fenceOf(claim, host))
  } catch (error) {
    if (!(error instanceof LeaseLost || error instanceof NotFound)) throw error
    forgetClaim(claim, host, context)
    throw new ToolError('lease_lost', `this claim does not hold ${claim.agent_id} any more`, {
      hint: 'end what belongs to it; host.claim_next gives the next one',
      cause: error,
    })
  }
}
