import { messageOf, type PolicyDecision, type PolicyDocument, type PolicyExample, type PolicyRule } from '@parley/protocol'
import { digestCall } from '../call/digest.ts'
import { globOf } from '../call/glob.ts'
import { quotedText } from '@parley/protocol/visible'
import { ENGINE_MOUNT, type PolicyCall } from '../call/policy-call.ts'
import { compileCondition } from '../cel/condition.ts'
import { NAMED_KINDS, type NamedKind } from '../document/named-kinds.ts'
import { celLiteral } from './cel-literal.ts'

/** A rule that was made from one call, with that call as its example. */
export interface MadeRule {
  readonly rule: PolicyRule
  readonly example: PolicyExample
}

export type RuleFromCall =
  | ({ readonly kind: 'rule' } & MadeRule)
  /** The call cannot be written down as a rule; an allowance can still be made of it. */
  | { readonly kind: 'refused'; readonly reason: string }

const DIGEST_CHARS = 12

/** A rule that matches this call and no other: the agent, the caller, the mount, the name and all arguments. */
export function ruleFromCall(call: PolicyCall, decision: PolicyDecision, reason?: string): RuleFromCall {
  const digest = digestCall(call)
  if (digest.kind === 'refused') return digest
  const when = whenOf(call)
  if (when.kind === 'refused') return when
  const { agent, caller, kind, name } = call
  const mount = call.mount ?? ENGINE_MOUNT
  const named = namedKind(call)
  const fields = { agent: `${agent.owner}/${agent.name}`, caller: `${caller.role}:${caller.name}` }
  const rule: PolicyRule = {
    name: `${decision.replaceAll('_', '-')}-${digest.digest.slice(0, DIGEST_CHARS)}`,
    agent: globOf(fields.agent),
    caller: globOf(fields.caller),
    mount: globOf(mount),
    ...(named === undefined ? { kind } : { [named]: globOf(name) }),
    when: when.text,
    decision,
    ...(reason === undefined ? {} : { reason }),
    delegate: false,
  }
  const example: PolicyExample = {
    call: {
      ...fields,
      mount,
      ...(named === undefined ? { kind, name } : { [named]: name }),
      annotations: {},
      args: call.arguments,
      counts: {},
      now: new Date(call.now).toISOString(),
    },
    decision,
    rule: rule.name,
  }
  return { kind: 'rule', rule, example }
}

/** The policy with a made rule before the one that asked; where none did, behind all. The same rule stands there once. */
export function withRule(policy: PolicyDocument, { rule, example }: MadeRule, asked: string | null): PolicyDocument {
  const others = policy.rule.filter(({ name }) => name !== rule.name)
  const examples = policy.example.filter((known) => known.rule !== rule.name)
  const at = placeOf(others, asked)
  return { ...policy, rule: [...others.slice(0, at), rule, ...others.slice(at)], example: [...examples, example] }
}

/** Where a rule goes in front of the one of this name. Behind all where there is none: before them it would come before those that deny. */
export function placeOf(rules: readonly { readonly name: string }[], asked: string | null): number {
  const at = rules.findIndex(({ name }) => name === asked)
  return at < 0 ? rules.length : at
}

/** What of a call no other field of a rule says. */
function whenOf(
  call: PolicyCall,
): { readonly kind: 'when'; readonly text: string } | { readonly kind: 'refused'; readonly reason: string } {
  try {
    const name = namedKind(call) === undefined ? `name == ${quotedText(call.name)} && ` : ''
    const text = `${name}args == ${celLiteral(call.arguments)}`
    const compiled = compileCondition(text)
    if (compiled.kind === 'condition') return { kind: 'when', text }
    return { kind: 'refused', reason: `the arguments do not fit into a rule: ${compiled.message}` }
  } catch (error) {
    return { kind: 'refused', reason: messageOf(error) }
  }
}

/** The kinds that have a field of their own; an empty name fits into no pattern. */
const namedKind = ({ kind, name }: PolicyCall): NamedKind | undefined =>
  name === '' ? undefined : NAMED_KINDS.find((known) => known === kind)
