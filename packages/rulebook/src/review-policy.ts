import {
  POLICY_LIMITS,
  type PolicyDocument,
  type PolicyReview,
  type PolicySubject,
  iso,
  policySubjectText,
} from '@parley/protocol'
import { type ChangedDecision, hashOf, replay, runExamples } from '@parley/policy'
import type { AgentRecord, PolicyRecord, Store } from '@parley/store'
import { activePolicies, layersOf, layersWith } from './active-policies.ts'
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
  const examples = runExamples(document)
  const review = {
    base_version: active?.version ?? null,
    examples: {
      run: examples.length,
      failed: examples
        .filter(({ passed }) => !passed)
        .map(({ at, example, answer }) => ({
          example: at + 1,
          wanted: example.decision,
          decided: answer.decision,
          rule: answer.rule,
        })),
    },
    replayed: await replayed(store, subject, document),
  }
  return { digest: hashOf(JSON.stringify([policySubjectText(subject), version, sha256, review])), ...review }
}

async function replayed(
  store: Pick<Store, 'agents' | 'logs' | 'policies'>,
  subject: PolicySubject,
  document: PolicyDocument,
): Promise<PolicyReview['replayed']> {
  const agents = await agentsOf(store, subject)
  const changed: ChangedDecision[] = []
  let calls = 0
  for (const agent of agents) {
    const active = await activePolicies(store, agent)
    const recorded = await recordedCalls(store, agent, POLICY_LIMITS.replayedCalls)
    const found = replay(recorded, layersOf(active), layersWith(active, subject.layer, document))
    calls += found.calls
    changed.push(...found.changed)
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
