import {
  type Approvers,
  type PolicyCounts,
  type CallKind,
  type JsonObject,
  type PolicyDecision,
  type PolicyDocument,
  type PolicyRule,
} from '@parley/protocol'
import { compileGlob, type NamePattern } from '../call/glob.ts'
import { ENGINE_MOUNT, type PolicyCall } from '../call/policy-call.ts'
import { CEL_LIMITS } from '../cel/cel-limits.ts'
import { compileCondition, type Condition } from '../cel/condition.ts'
import type { Charges } from '../cel/meter.ts'
import { listOf, namedKindsOf } from '../document/named-kinds.ts'
import { ANYBODY } from './approvers.ts'

/** Candidates that are remembered for one policy, and the longest name for which they are: names come from strangers. */
const KEPT_NAMES = 1_024
const KEPT_NAME_CHARS = 256

const HOUR_MINUTES = 60
const DAY_MINUTES = 1_440

/** What MCP takes a tool for whose server does not say. */
const UNSAID: Readonly<Record<string, boolean>> = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
}

export interface CompiledRule {
  readonly name: string
  readonly decision: PolicyDecision
  readonly reason: string
  readonly delegate: boolean
  readonly kinds: readonly CallKind[] | undefined
  readonly mounts: readonly NamePattern[] | undefined
  readonly names: readonly NamePattern[] | undefined
  readonly condition: Condition | undefined
  /** Whether it matches only so many calls. */
  readonly isLimited: boolean
  readonly countedMinutes: number
  /** All that a look at the rest of the call settles, without a condition. */
  readonly covers: (call: PolicyCall) => boolean
}

/** A policy that is ready to decide. Rules that cannot match a kind, a mount and a name are never looked at for them again. */
export class CompiledPolicy {
  readonly shadow: boolean
  readonly denyUnknown: boolean
  readonly approvers: Approvers
  /** How far back its rules look for calls like the one that they decide about; 0: none does. */
  readonly countedMinutes: number
  readonly #rules: readonly CompiledRule[]
  readonly #patterns: number
  readonly #candidates = new Map<CallKind, Map<string | null, Map<string, readonly CompiledRule[]>>>()
  #kept = 0

  constructor(document: PolicyDocument) {
    this.shadow = document.shadow
    this.denyUnknown = document.deny_unknown
    this.approvers = document.approvers ?? ANYBODY
    this.#rules = document.rule.map(compileRule)
    this.#patterns = document.rule.reduce((sum, rule) => sum + patternsIn(rule), 0)
    this.countedMinutes = Math.max(0, ...this.#rules.map((rule) => rule.countedMinutes))
  }

  /**
   * The rules that may match such a call, in their order. To look for them is charged also where they are known already: whether there is a
   * decision must not depend on earlier ones.
   */
  candidates({ kind, mount, name }: Pick<PolicyCall, 'kind' | 'mount' | 'name'>, meter: Charges): readonly CompiledRule[] {
    meter.charge(this.#costOf(name))
    return this.#found(kind, mount, name)
  }

  /** Whether one of its rules may go by how many such calls there were. */
  counts({ kind, mount, name }: Pick<PolicyCall, 'kind' | 'mount' | 'name'>): boolean {
    if (this.countedMinutes === 0) return false
    // A name for which it costs too much to find out: no decision comes about for it either.
    return this.#costOf(name) > CEL_LIMITS.cost || this.#found(kind, mount, name).some((rule) => rule.countedMinutes > 0)
  }

  #costOf(name: string): number {
    const looked = (this.#rules.length + this.#patterns) / CEL_LIMITS.patternsPerCost
    return looked + (this.#patterns * name.length) / CEL_LIMITS.patternCharsPerCost
  }

  #found(kind: CallKind, mount: string | null, name: string): readonly CompiledRule[] {
    const known = this.#candidates.get(kind)?.get(mount)?.get(name)
    if (known !== undefined) return known
    const found = this.#rules.filter((rule) => couldMatch(rule, kind, mount, name))
    if (name.length <= KEPT_NAME_CHARS) this.#keep(kind, mount, name, found)
    return found
  }

  #keep(kind: CallKind, mount: string | null, name: string, found: readonly CompiledRule[]): void {
    if (this.#kept >= KEPT_NAMES) {
      this.#candidates.clear()
      this.#kept = 0
    }
    this.#kept += 1
    const mounts = this.#candidates.get(kind) ?? new Map<string | null, Map<string, readonly CompiledRule[]>>()
    const names = mounts.get(mount) ?? new Map<string, readonly CompiledRule[]>()
    this.#candidates.set(kind, mounts.set(mount, names.set(name, found)))
  }
}

/** `parsePolicy` has found what is wrong with a document before; a condition that is wrong all the same fails when it is asked. */
export const compilePolicy = (document: PolicyDocument): CompiledPolicy => new CompiledPolicy(document)

const WORDS: Readonly<Record<PolicyDecision, string>> = {
  allow: 'allows it',
  ask: 'asks a person first',
  deny_continue: 'denies it',
  deny_abort: 'denies it and ends the turn',
}

function compileRule(rule: PolicyRule): CompiledRule {
  const [kind] = namedKindsOf(rule)
  const condition = rule.when === undefined ? undefined : conditionOf(rule.when)
  return {
    name: rule.name,
    decision: rule.decision,
    reason: rule.reason ?? `the rule ${rule.name} ${WORDS[rule.decision]}`,
    delegate: rule.delegate,
    kinds: kind === undefined ? listOf(rule.kind) : [kind],
    mounts: globsOf(rule.mount),
    names: kind === undefined ? undefined : globsOf(rule[kind]),
    condition,
    isLimited: rule.counts !== undefined,
    countedMinutes: countedMinutes(rule, condition),
    covers: coverage(rule),
  }
}

/** A turn is at most what the last hour is, for those who take none of ours. */
function countedMinutes({ counts }: PolicyRule, condition: Condition | undefined): number {
  if (counts?.day !== undefined || condition?.uses.has('counts') === true) return DAY_MINUTES
  return counts === undefined ? 0 : HOUR_MINUTES
}

function conditionOf(when: string): Condition {
  const compiled = compileCondition(when)
  if (compiled.kind === 'condition') return compiled.condition
  return { uses: new Set(), holds: () => ({ kind: 'failed', reason: compiled.message }) }
}

function patternsIn(rule: PolicyRule): number {
  const [kind] = namedKindsOf(rule)
  const fields = [rule.mount, rule.agent, rule.caller, kind === undefined ? undefined : rule[kind]]
  return fields.reduce((sum, patterns) => sum + (listOf(patterns)?.length ?? 0), 0)
}

const globsOf = (patterns: string | readonly string[] | undefined): readonly NamePattern[] | undefined =>
  listOf(patterns)?.map(compileGlob)

const matchesOne = (globs: readonly NamePattern[] | undefined, text: string): boolean =>
  globs === undefined || globs.some((glob) => glob.matches(text))

function couldMatch({ kinds, mounts, names }: CompiledRule, kind: CallKind, mount: string | null, name: string): boolean {
  if (kinds !== undefined && !kinds.includes(kind)) return false
  return isMount(mounts, mount) && matchesOne(names, name)
}

/** What an engine does itself belongs to no mount: only the word for it matches, never a star. */
function isMount(mounts: readonly NamePattern[] | undefined, mount: string | null): boolean {
  if (mount !== null || mounts === undefined) return matchesOne(mounts, mount ?? '')
  return mounts.some(({ literal }) => literal === ENGINE_MOUNT)
}

/** What of an agent a pattern is about. Names can be changed and given twice, an id cannot. */
function agentPart(pattern: string): (agent: PolicyCall['agent']) => string {
  if (/^agt_[0-9a-z]{26}$/.test(pattern)) return ({ id }) => id
  return pattern.includes('/') ? ({ owner, name }) => `${owner}/${name}` : ({ name }) => name
}

function coverage({ agent, caller, annotations, counts }: PolicyRule): (call: PolicyCall) => boolean {
  const agents = listOf(agent)?.map((pattern) => ({ glob: compileGlob(pattern), part: agentPart(pattern) }))
  const callers = globsOf(caller)
  const hints = Object.entries(annotations ?? {})
  if (agents === undefined && callers === undefined && hints.length === 0 && counts === undefined) return () => true
  return (call) => {
    if (agents !== undefined && !agents.some(({ glob, part }) => glob.matches(part(call.agent)))) return false
    if (callers !== undefined && !matchesOne(callers, `${call.caller.role}:${call.caller.name}`)) return false
    return hints.every(([hint, wanted]) => saidOf(call.annotations, hint) === wanted) && hasLeft(counts, call.counts)
  }
}

function saidOf(annotations: JsonObject | undefined, hint: string): boolean {
  const said = annotations !== undefined && Object.hasOwn(annotations, hint) ? annotations[hint] : undefined
  return typeof said === 'boolean' ? said : (UNSAID[hint] ?? false)
}

const SPANS = ['turn', 'hour', 'day'] as const

/** Where counts are not known, whoever asks finds that out. */
function hasLeft(
  limits: Partial<Record<keyof PolicyCounts, number | undefined>> | undefined,
  counts: PolicyCounts | null,
): boolean {
  return limits === undefined || counts === null || SPANS.every((span) => counts[span] < (limits[span] ?? Infinity))
}
