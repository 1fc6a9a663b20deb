import type { Allowance, PolicyDecision, PolicyDocument, PolicyLayer, PolicyRule } from '@parley/protocol'
import { expect, test } from 'vitest'
import type { PolicyCall } from '../call/policy-call.ts'
import { Random } from '../fixture/random.ts'
import { callOf } from '../fixture/test-call.ts'
import { compilePolicy } from './compile-policy.ts'
import { decide } from './decide.ts'
import type { PolicyOutcome } from './layer-says.ts'

const SEED = 20261118
const POLICIES = 400
const CALLS = 25

/** Conditions with what they mean, written by hand: true, false, or that they fail. */
const CONDITIONS: readonly (readonly [string, (call: PolicyCall) => boolean | undefined])[] = [
  ['true', () => true],
  ['counts.turn < 2', ({ counts }) => (counts === null ? undefined : counts.turn < 2)],
  ['"x" in args', ({ arguments: args }) => Object.hasOwn(Object(args), 'x')],
  ['args.x == 1', ({ arguments: args }) => (Object.hasOwn(Object(args), 'x') ? Object(args).x === 1 : undefined)],
  [
    'has(args.x) && args.x > 1',
    ({ arguments: args }) => Object.hasOwn(Object(args), 'x') && (Object(args).x === null ? undefined : Object(args).x > 1),
  ],
  ['name.startsWith("re")', ({ name }) => name.startsWith('re')],
]
const MEANINGS = new Map(CONDITIONS)

const LAYERS: readonly PolicyLayer[] = ['installation', 'owner', 'agent']
const DECISIONS: readonly PolicyDecision[] = ['allow', 'ask', 'deny_continue', 'deny_abort']
const KINDS = ['tool', 'resource', 'prompt', 'command', 'patch', 'question'] as const
const MOUNTS = ['files', 'web', null] as const
const NAMES = ['read', 'reread', 'write', 'rw*', 'a.b']
const PATTERNS = ['*', 'read', 're*', '*read', 'w*e', String.raw`rw\*`, 'a.b', 'a*b', 'none']

function randomRule(random: Random, at: number): PolicyRule {
  const decision = random.pick(DECISIONS)
  const isDenial = decision.startsWith('deny')
  const field = random.pick(['tool', 'resource', 'prompt', 'command', 'kind', 'none'] as const)
  return {
    name: `rule-${at}`,
    ...(field === 'none'
      ? {}
      : field === 'kind'
        ? { kind: [random.pick(KINDS), random.pick(KINDS)] }
        : { [field]: random.pick(PATTERNS) }),
    ...(random.chance(50) ? { mount: random.pick(['files', 'web', '*', 'f*', '@engine', ['web', '@engine']]) } : {}),
    ...(random.chance(30) ? { agent: random.pick(['helper', 'ada/*', 'bob/*', '*er', 'x']) } : {}),
    ...(random.chance(30) ? { caller: random.pick(['agent:*', 'user:ada', '*:*']) } : {}),
    ...(random.chance(20) ? { annotations: { readOnlyHint: random.chance(50) } } : {}),
    ...(random.chance(20) && !isDenial ? { counts: { turn: random.below(4), hour: random.below(4) } } : {}),
    ...(random.chance(40) ? { when: random.pick(CONDITIONS)[0] } : {}),
    decision,
    delegate: !isDenial && random.chance(40),
  }
}

const randomPolicy = (random: Random): PolicyDocument => ({
  deny_unknown: random.chance(10),
  shadow: random.chance(15),
  rule: Array.from({ length: random.below(8) }, (_, at) => randomRule(random, at)),
  example: [],
})

const randomCall = (random: Random): PolicyCall =>
  callOf({
    kind: random.pick(KINDS),
    mount: random.pick(MOUNTS),
    name: random.pick(NAMES),
    agent: { id: 'agt_1', name: random.pick(['helper', 'x']), owner: random.pick(['ada', 'bob']) },
    caller: random.pick([
      { role: 'agent', name: 'helper' },
      { role: 'user', name: 'ada' },
    ] as const),
    annotations: random.pick([undefined, {}, { readOnlyHint: true }]),
    arguments: random.pick([{}, { x: 1 }, { x: 2 }, { x: null, y: [1] }]),
    counts: random.chance(10) ? null : { turn: random.below(4), hour: random.below(4), day: 0 },
  })

const randomAllowance = (random: Random, call: PolicyCall): Allowance => ({
  id: `alw_${random.below(1_000)}`,
  agent_id: 'agt_1',
  session: null,
  kind: call.kind,
  mount: call.mount,
  mount_version: 3,
  name: random.chance(80) ? call.name : 'other',
  digest: null,
  answers: [...LAYERS, 'default' as const].filter(() => random.chance(60)),
  expires_at: random.chance(80) ? '2027-01-01T00:00:00Z' : '2020-01-01T00:00:00Z',
})

// The slow and obvious way: every rule of every layer, one after the other, by regular expressions.

const glob = (pattern: string, text: string): boolean =>
  new RegExp(
    `^${pattern.replaceAll(/\\\*|[*.\\/:@]/g, (found) => (found === '*' ? '.*' : found === String.raw`\*` ? found : `\\${found}`))}$`,
    's',
  ).test(text)
const anyGlob = (patterns: string | string[] | undefined, text: string): boolean =>
  patterns === undefined || (Array.isArray(patterns) ? patterns : [patterns]).some((pattern) => glob(pattern, text))

function ruleSays(rule: PolicyRule, call: PolicyCall): boolean | undefined {
  for (const kind of ['tool', 'resource', 'prompt', 'command'] as const)
    if (rule[kind] !== undefined && !(call.kind === kind && anyGlob(rule[kind], call.name))) return false
  if (rule.kind !== undefined && !rule.kind.includes(call.kind)) return false
  if (call.mount === null && rule.mount !== undefined && !rule.mount.includes('@engine')) return false
  if (call.mount !== null && !anyGlob(rule.mount, call.mount)) return false
  const agent = String(rule.agent ?? '*')
  if (!glob(agent, agent.includes('/') ? `${call.agent.owner}/${call.agent.name}` : call.agent.name)) return false
  if (!anyGlob(rule.caller, `${call.caller.role}:${call.caller.name}`)) return false
  if (
    rule.annotations?.readOnlyHint !== undefined &&
    rule.annotations.readOnlyHint !== (call.annotations?.['readOnlyHint'] ?? false)
  )
    return false
  const isUncounted = call.counts === null && rule.counts !== undefined
  if (call.counts !== null && call.counts.turn >= (rule.counts?.turn ?? 99)) return false
  if (call.counts !== null && call.counts.hour >= (rule.counts?.hour ?? 99)) return false
  if (isUncounted) return undefined
  return rule.when === undefined ? true : MEANINGS.get(rule.when)?.(call)
}

interface Said {
  readonly layer: number
  readonly outcome: PolicyOutcome
  readonly rule: PolicyRule | null
}

function reference(call: PolicyCall, policies: readonly PolicyDocument[], allowances: readonly Allowance[]): PolicyOutcome {
  const said: Said[] = []
  for (const [layer, policy] of policies.entries()) {
    if (policy.shadow) continue
    const hit = policy.rule.find((rule) => ruleSays(rule, call) !== false)
    if (hit !== undefined)
      said.push({ layer, outcome: ruleSays(hit, call) === undefined ? 'evaluator_error' : hit.decision, rule: hit })
    else if (policy.deny_unknown) said.push({ layer, outcome: 'deny_continue', rule: null })
  }
  const standing = said.filter(
    ({ layer, outcome, rule }) =>
      outcome === 'evaluator_error' || !rule?.delegate || !said.some((lower) => lower.layer > layer && lower.rule !== null),
  )
  for (const outcome of ['deny_abort', 'evaluator_error', 'deny_continue'] as const)
    if (standing.some((one) => one.outcome === outcome)) return outcome
  const asking = standing.filter(({ outcome }) => outcome === 'ask').map(({ layer }) => LAYERS[layer] ?? 'default')
  if (standing.length > 0 && asking.length === 0) return 'allow'
  const covering = allowances.filter(({ name, expires_at }) => name === call.name && expires_at.startsWith('2027'))
  const isAnswered = (asking.length === 0 ? ['default' as const] : asking).every((asker) =>
    covering.some(({ answers }) => answers.includes(asker)),
  )
  return isAnswered ? 'allow' : 'ask'
}

test(`random policies decide as the slow and obvious way does (seed ${SEED})`, () => {
  const random = new Random(SEED)
  const seen = new Map<PolicyOutcome, number>()
  for (let at = 0; at < POLICIES; at += 1) {
    const policies = LAYERS.map(() => randomPolicy(random))
    const layers = LAYERS.map((layer, index) => ({ layer, policy: compilePolicy(policies[index] ?? policyless) }))
    for (let count = 0; count < CALLS; count += 1) {
      const call = randomCall(random)
      const allowances = Array.from({ length: random.below(3) }, () => randomAllowance(random, call))
      const answer = decide(call, layers, { allowances })
      const expected = reference(call, policies, allowances)
      if (answer.decision !== expected) expect({ call, policies, allowances, answer }).toBe(expected)
      seen.set(expected, (seen.get(expected) ?? 0) + 1)
    }
  }
  // Every outcome must have come up often enough to mean something.
  for (const outcome of [...DECISIONS, 'evaluator_error' as const]) expect(seen.get(outcome) ?? 0).toBeGreaterThan(100)
})

test('nothing that is added below, and no allowance, loosens what an upper layer denies', () => {
  const random = new Random(SEED + 1)
  let denied = 0
  for (let at = 0; at < POLICIES; at += 1) {
    const [upper, lower, lowest] = LAYERS.map(() => ({ ...randomPolicy(random), shadow: false }))
    const call = randomCall(random)
    const top = { layer: 'installation', policy: compilePolicy(upper ?? policyless) } as const
    const alone = decide(call, [top]).decision
    if (!alone.startsWith('deny')) continue
    denied += 1
    const below = [
      { layer: 'owner', policy: compilePolicy(lower ?? policyless) },
      { layer: 'agent', policy: compilePolicy(lowest ?? policyless) },
    ] as const
    const every = {
      ...randomAllowance(random, call),
      name: call.name,
      answers: [...LAYERS, 'default' as const],
      expires_at: '2027-01-01T00:00:00Z',
    }
    const { decision } = decide(call, [top, ...below], { allowances: [every] })
    expect(['deny_continue', 'deny_abort', 'evaluator_error']).toContain(decision)
    if (alone === 'deny_abort') expect(decision).toBe('deny_abort')
  }
  expect(denied).toBeGreaterThan(50)
})

const policyless: PolicyDocument = { deny_unknown: false, shadow: false, rule: [], example: [] }
