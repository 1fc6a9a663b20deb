import {
  POLICY_LIMITS,
  type PolicyDocument,
  type PolicyReview,
  type PolicySubject,
  ToolError,
  iso,
  policySubjectText,
} from '@parley/protocol'
import { type ChangedDecision, compilePolicy, decide, exampleCall, hashOf, replay } from '@parley/policy'
import type { AgentRecord, PolicyRecord, Store } from '@parley/store'
import { activePolicies, layersOf, layersWith } from './active-policies.ts'
import { Pace, REVIEW_MS } from './pace.ts'
import { recordedCalls } from './recorded-calls.ts'

/**
 * What a version would change: its examples, and the calls that agents made. The digest is of all that is answered, and of what it is about:
 * whoever confirms it has been shown just this.
 */
export async function reviewPolicy(
  store: Pick<Store, 'agents' | 'logs' | 'policies'>,
  record: Pick<PolicyRecord, 'subject' | 'version' | 'sha256'>,
  document: PolicyDocument,
): Promise<PolicyReview> {
  const { subject, version, sha256 } = record
  const [active] = await store.policies.active([subject])
  const pace = new Pace()
  const failed = await failedExamples(document, pace)
  const review = {
    base_version: active?.version ?? null,
    examples: { run: document.example.length, failed },
    replayed: await replayed(store, subject, document, pace),
  }
  return { digest: hashOf(JSON.stringify([policySubjectText(subject), version, sha256, review])), ...review }
}

/** Each example, decided by this policy alone. Throws `ToolError` for a policy whose conditions take too long for its own examples. */
export async function failedExamples(
  document: PolicyDocument,
  pace: Pace = new Pace(),
): Promise<PolicyReview['examples']['failed']> {
  const layers = [{ layer: 'agent', policy: compilePolicy({ ...document, shadow: false }) }] as const
  const failed: PolicyReview['examples']['failed'] = []
  for (const [at, example] of document.example.entries()) {
    if (await pace.isOver())
      throw new ToolError('invalid_argument', `text: its examples take longer than ${REVIEW_MS / 1_000} s to decide`, {
        field: 'text',
        hint: 'make its conditions simpler',
      })
    const { decision, rule } = decide(exampleCall(example.call), layers)
    if (decision !== example.decision || (example.rule !== undefined && rule !== example.rule))
      failed.push({ example: at + 1, wanted: example.decision, decided: decision, rule })
  }
  return failed
}

const FAILED_SHOWN = 5

/** Which of its examples fail, for a refusal. */
export function failedText(failed: PolicyReview['examples']['failed']): string {
  const each = failed
    .slice(0, FAILED_SHOWN)
    .map(
      ({ example, wanted, decided, rule }) =>
        `example ${example} wants ${wanted} and is ${decided}${rule === null ? ' without any rule' : ` by the rule ${rule}`}`,
    )
  const more = failed.length - each.length
  return `${failed.length} of its examples ${failed.length === 1 ? 'is' : 'are'} decided otherwise than written: ${each.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

async function replayed(
  store: Pick<Store, 'agents' | 'logs' | 'policies'>,
  subject: PolicySubject,
  document: PolicyDocument,
  pace: Pace,
): Promise<PolicyReview['replayed']> {
  const agents = await agentsOf(store, subject)
  const changed: ChangedDecision[] = []
  let calls = 0
  for (const agent of agents) {
    const active = await activePolicies(store, agent, pace)
    const recorded = await recordedCalls(store, agent, POLICY_LIMITS.replayedCalls)
    const [before, after] = [layersOf(active), layersWith(active, subject.layer, document)]
    // The newest first: where there is no time for all, those are looked at.
    for (const call of recorded.toReversed()) {
      if (await pace.isOver()) break
      const found = replay([call], before, after)
      calls += found.calls
      changed.push(...found.changed)
    }
  }
  const items = changed.toSorted((a, b) => Number(b.looser) - Number(a.looser)).slice(0, POLICY_LIMITS.changes)
  return {
    calls,
    agents: agents.length,
    changed: changed.length,
    looser: changed.filter(({ looser }) => looser).length,
    items: items.map(({ call, before, after, looser }) => ({
      agent: `${call.agent.owner}/${call.agent.name}`,
      mount: call.mount,
      kind: call.kind,
      name: call.name,
      at: iso(call.now),
      before: (before.shadow ?? before).decision,
      after: (after.shadow ?? after).decision,
      rule: (after.shadow ?? after).rule,
      looser,
    })),
  }
}

/** Those whose calls it would decide about: of many, the newest. */
async function agentsOf({ agents }: Pick<Store, 'agents'>, subject: PolicySubject): Promise<readonly AgentRecord[]> {
  if (subject.layer === 'agent') {
    const agent = await agents.byId(subject.agentId)
    return agent === undefined ? [] : [agent]
  }
  const owner = subject.layer === 'owner' ? { ownerId: subject.userId } : {}
  return agents.list({ ...owner, limit: POLICY_LIMITS.replayedAgents })
}
