import { type AgentClaim, ToolError } from '@parley/protocol'
import { AGENT_QUEUE, type AgentRecord, type LeaseFence, LeaseLost, NotFound } from '@parley/store'
import type { ToolContext } from '../tool/served-tool.ts'
import type { AgentWorld } from './agent-world.ts'

export const fenceOf = ({ agent_id: key, claim_id: claimId }: AgentClaim): LeaseFence => ({
  queue: AGENT_QUEUE,
  key,
  fence: Number(claimId),
})

/** Does something for the host that holds an agent; when it does not, before or meanwhile, it says `lease_lost`. */
export async function asHost<Answer>(
  claim: AgentClaim,
  context: ToolContext<AgentWorld>,
  work: (fence: LeaseFence, agent: AgentRecord) => Promise<Answer>,
): Promise<Answer> {
  const { store, hostControls } = context.world
  context.target = claim.agent_id
  const fence = fenceOf(claim)
  try {
    await store.leases.check(fence)
    const agent = await store.agents.byId(claim.agent_id)
    if (agent === undefined || agent.status === 'deleting') throw new LeaseLost(fence)
    if (context.call?.link !== undefined) hostControls.watch(claim, context.call.link)
    return await work(fence, agent)
  } catch (error) {
    if (!(error instanceof LeaseLost || error instanceof NotFound)) throw error
    throw new ToolError('lease_lost', `this claim does not hold ${claim.agent_id} any more`, {
      hint: 'end what belongs to it; host.claim_next gives the next one',
      cause: error,
    })
  }
}
