import { isEnd } from '@parley/protocol'
import { type FoundModelKey, type OwnBounds, type UsageRecord, agentTopic } from '@parley/store'
import { agentBounds, jobBounds } from '../quota/bounds.ts'

/** What a key was made for: an attempt of a job, or a turn of an agent. All that differs between the two is here. */
export interface KeyHolder {
  /** Why it is over, beside its lease; `undefined` while it is not. */
  readonly ended: string | undefined
  /** Where it is told that something about it changed. */
  readonly topic: string
  /** How log lines name it. */
  readonly logged: Readonly<Record<string, string | number>>
  /** How the books name it. */
  readonly call: Pick<UsageRecord, 'jobId' | 'agentId' | 'prompt' | 'ownerId' | 'claimId' | 'claim' | 'attempt'>
  readonly bounds: OwnBounds
  /** What the key's own budget is called, and what it is the budget of. */
  readonly budget: string
  readonly round: 'attempt' | 'turn'
}

export function holderOf(found: FoundModelKey): KeyHolder {
  if (found.kind === 'job') {
    const { key, job } = found
    const { jobId, ownerId, claimId, claim, attempt } = key
    return {
      ended: isEnd(job.status) ? `its job is ${job.status}` : undefined,
      topic: `job/${jobId}`,
      logged: { job: jobId, claim, attempt },
      call: { jobId, agentId: null, prompt: null, ownerId, claimId, claim, attempt },
      bounds: jobBounds(job.spec.budget),
      budget: 'budget',
      round: 'attempt',
    }
  }
  const { key, budgets } = found
  const { agentId, ownerId, fence, prompt } = key
  return {
    ended: turnEnded(found),
    topic: agentTopic(agentId),
    logged: { agent: agentId, prompt },
    call: { jobId: null, agentId, prompt, ownerId, claimId: String(fence), claim: 0, attempt: 0 },
    bounds: agentBounds(budgets),
    budget: 'budgets.turn',
    round: 'turn',
  }
}

function turnEnded({ status, aborting }: Extract<FoundModelKey, { readonly kind: 'agent' }>): string | undefined {
  if (status !== 'running') return `its prompt is ${status ?? 'forgotten'}`
  return aborting ? 'somebody wants its turn to end' : undefined
}
