import { type GatewayCaller } from '@parley/access'
import {
  type AgentId,
  type PolicyRule,
  type PolicySubject,
  ToolError,
  type ToolArguments,
  isJsonObject,
  parseJson,
} from '@parley/protocol'
import { type MadeRule, type PolicyCall, compilePolicy, decide, readPolicy, ruleFromCall, textWithRule } from '@parley/policy'
import { failedExamples } from '@parley/rulebook'
import type { AgentRecord, ApprovalRecord, DecisionEffects, Store } from '@parley/store'
import { policySubject } from './policy-subject.ts'
import { neededFor } from './may-decide.ts'

type Said = ToolArguments<'approval.decide'>

const MINUTE_MS = 60_000
/** What a program is told to do differs by its arguments: of these only the very same is meant. */
const EXACT_KINDS: ReadonlySet<string> = new Set(['command', 'patch'])

/** What can be made with other arguments: calls of mounts, by the compositor; and what our own engine does itself, the only one that asks. */
const MOUNT_EDITABLE: ReadonlySet<string> = new Set(['tool', 'prompt'])
const OWN_EDITABLE: ReadonlySet<string> = new Set(['tool', 'command', 'patch'])

const wrong = (field: string, message: string): ToolError => new ToolError('invalid_argument', `${field}: ${message}`, { field })

/** What a decision says is looked at before it counts: what cannot be carried out is refused, and nothing is decided. */
export function checkDecision(approval: ApprovalRecord, { decision, arguments_json: edited, rule }: Said): void {
  if (rule !== undefined && decision !== 'approve_rule') throw wrong('rule', 'says nothing without approve_rule')
  const isMore = decision === 'approve_session' || decision === 'approve_rule' || edited !== undefined
  if (isMore && approval.kind === 'proposal') throw wrong('decision', 'a policy is approved or denied as it is')
  if (isMore && neededFor(approval) > 1) throw wrong('decision', 'several people must approve it, so it is approved as it is')
  if (edited === undefined) return
  if (decision !== 'approve') throw wrong('arguments_json', 'only approve takes other arguments')
  if (!(approval.mount === null ? OWN_EDITABLE : MOUNT_EDITABLE).has(approval.kind))
    throw wrong('arguments_json', `a ${approval.kind} of this kind is sent as it is, or not at all`)
  const args = parseJson(edited)
  if (!isJsonObject(args)) throw wrong('arguments_json', 'must be a JSON object')
  if (approval.kind === 'command' && 'argv' in args)
    throw wrong('arguments_json', 'argv follows from command: change that, and leave argv out')
}

/** What a yes does beyond this one call. */
export async function effectsOf(
  store: Store,
  approval: ApprovalRecord,
  said: Said,
  caller: GatewayCaller,
): Promise<DecisionEffects | undefined> {
  if (said.decision === 'approve_session')
    return {
      allowance: {
        session: approval.caller,
        kind: callKind(approval),
        mount: approval.mount,
        mount_version: approval.mountVersion,
        name: approval.name,
        digest: EXACT_KINDS.has(approval.kind) ? approval.digest : null,
        answers: approval.askers,
        ttlMs: said.minutes * MINUTE_MS,
      },
    }
  if (said.decision !== 'approve_rule') return undefined
  const agent = await store.agents.byId(approval.agentId)
  if (agent === undefined) throw new ToolError('not_found', 'the agent is gone')
  return { policy: await ruleEffect(store, { approval, agent, rule: said.rule }, caller) }
}

function callKind({ kind }: ApprovalRecord): PolicyCall['kind'] {
  if (kind === 'proposal') throw wrong('decision', 'a policy is approved or denied as it is')
  return kind
}

/** The policy that asked, with a rule for this call before the rule that did; where none asked, the agent's own. */
async function ruleEffect(
  store: Store,
  {
    approval,
    agent,
    rule,
  }: { readonly approval: ApprovalRecord; readonly agent: AgentRecord; readonly rule: PolicyRule | undefined },
  caller: GatewayCaller,
): Promise<NonNullable<DecisionEffects['policy']>> {
  const subject = await policySubject(store, whoseOf(approval.layer ?? 'agent', agent), caller, 'write')
  const [active] = await store.policies.active([subject])
  const call = callOf(approval, agent)
  if (rule !== undefined) checkNewName(rule, active?.text ?? '')
  const made = madeRule(call, rule)
  const text = textWithRule(active?.text ?? '', made, approval.rule)
  const read = text === undefined ? undefined : readPolicy(text)
  if (text === undefined || read?.kind !== 'policy')
    throw wrong('decision', 'this call cannot be written down as a rule; approve it, or for the session')
  const decided = decide(call, [{ layer: subject.layer, policy: compilePolicy({ ...read.policy, shadow: false }) }])
  if (decided.decision !== 'allow' || decided.rule !== made.rule.name)
    throw wrong('rule', `with it this call would be decided by ${decided.rule ?? 'no rule'}: ${decided.decision}`)
  const [failed] = await failedExamples(read.policy)
  if (failed !== undefined)
    throw new ToolError('conflict', `rule: example ${failed.example} of the policy would be decided otherwise`, {
      field: 'rule',
    })
  return { subject, base: active?.version ?? null, text, note: `a rule from ${approval.id}` }
}

/** A rule takes no other's place: that may be one that denies. */
function checkNewName({ name }: PolicyRule, text: string): void {
  const read = readPolicy(text)
  if (read.kind === 'policy' && read.policy.rule.some((known) => known.name === name))
    throw wrong('rule', `there is a rule ${name} already; give it another name`)
}

const whoseOf = (layer: PolicySubject['layer'], { id, ownerName }: { readonly id: AgentId; readonly ownerName: string }) =>
  layer === 'agent' ? { layer, agent_id: id } : layer === 'owner' ? { layer, username: ownerName } : { layer }

/** A rule goes by what is called, not by the token that happens to call: that is another one soon. */
function madeRule(call: PolicyCall, given: PolicyRule | undefined): MadeRule {
  const made = ruleFromCall(call, 'allow')
  if (made.kind === 'refused') throw wrong('decision', made.reason)
  const { caller: _caller, ...rule } = made.rule
  if (given === undefined) return { rule, example: made.example }
  return { rule: given, example: { ...made.example, rule: given.name } }
}

function callOf(approval: ApprovalRecord, { id, name, ownerName }: AgentRecord): PolicyCall {
  return {
    caller: { role: 'agent', name: approval.caller },
    agent: { id, name, owner: ownerName },
    session: approval.caller,
    kind: callKind(approval),
    mount: approval.mount,
    mountVersion: approval.mountVersion,
    name: approval.name,
    arguments: parseJson(approval.arguments) ?? null,
    annotations: undefined,
    counts: { turn: 0, hour: 0, day: 0 },
    now: approval.createdAt,
  }
}
