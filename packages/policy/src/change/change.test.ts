import type { JsonValue, PolicyDocument } from '@parley/protocol'
import { describe, expect, test } from 'vitest'
import { canonicalJson } from '../call/canonical.ts'
import type { PolicyCall } from '../call/policy-call.ts'
import { compilePolicy } from '../decide/compile-policy.ts'
import { decide } from '../decide/decide.ts'
import { parsePolicy } from '../document/parse-policy.ts'
import { Random } from '../fixture/random.ts'
import { callOf, policyOf, TEST_CALL } from '../fixture/test-call.ts'
import { replay } from './replay.ts'
import { type MadeRule, ruleFromCall, withRule } from './rule-from-call.ts'
import { runExamples } from './run-examples.ts'

const agentLayer = (document: PolicyDocument) => [{ layer: 'agent', policy: compilePolicy(document) }] as const

function made(call: PolicyCall, decision: 'allow' | 'deny_continue' = 'allow'): MadeRule {
  const rule = ruleFromCall(call, decision, 'as approved')
  if (rule.kind === 'refused') throw new Error(rule.reason)
  return rule
}

describe('examples', () => {
  const policy = policyOf({
    shadow: true,
    rule: [
      { name: 'read', tool: 'read_*', mount: 'files', decision: 'allow' },
      { name: 'night', kind: 'command', when: 'now.getHours() < 6', decision: 'deny_abort' },
    ],
    example: [
      { call: { tool: 'read_file', mount: 'files' }, decision: 'allow', rule: 'read' },
      { call: { kind: 'command', name: 'rm', now: '2026-01-01T03:00:00Z' }, decision: 'deny_abort' },
      { call: { tool: 'read_file', mount: 'web' }, decision: 'allow' },
      { call: { command: 'rm' }, decision: 'ask' },
    ],
  })

  test('are decided by their policy alone, in shadow or not', () => {
    expect(runExamples(policy).map(({ at, passed, answer }) => [at, passed, answer.decision])).toEqual([
      [0, true, 'allow'],
      [1, true, 'deny_abort'],
      [2, false, 'ask'],
      [3, true, 'ask'],
    ])
  })

  test('fail where another rule than the one they name decides', () => {
    const [first] = policy.example
    if (first === undefined) throw new Error('there are examples')
    expect(runExamples({ ...policy, example: [{ ...first, rule: 'night' }] })).toMatchObject([{ passed: false }])
  })
})

test('a replay shows what would be decided otherwise, and what would be looser', () => {
  const before = agentLayer(
    policyOf({
      rule: [
        { name: 'read', tool: 'read_*', decision: 'allow' },
        { name: 'rest', decision: 'ask' },
      ],
    }),
  )
  const after = agentLayer(
    policyOf({
      rule: [
        { name: 'write', tool: 'write_*', decision: 'allow' },
        { name: 'rest', decision: 'ask' },
      ],
      shadow: true,
    }),
  )
  const calls = ['read_file', 'write_file', 'list'].map((name) => callOf({ name }))
  const { calls: looked, changed } = replay(calls, before, after)
  expect(looked).toBe(3)
  expect(changed.map(({ call, looser }) => [call.name, looser])).toEqual([
    ['read_file', false],
    ['write_file', true],
  ])
  expect(replay(calls, before, before).changed).toEqual([])
  expect(
    replay(
      Array.from({ length: 10_001 }, () => TEST_CALL),
      before,
      before,
    ).calls,
  ).toBe(10_000)
})

describe('a rule made from a call', () => {
  const policy = policyOf({
    rule: [
      { name: 'first', tool: 'delete_*', decision: 'deny_continue' },
      { name: 'asks', mount: 'files', decision: 'ask' },
      { name: 'last', decision: 'deny_abort' },
    ],
  })

  test('stands before the rule that asked, with the call as its example', () => {
    const rule = made(TEST_CALL)
    const changed = withRule(policy, rule, 'asks')
    expect(changed.rule.map(({ name }) => name)).toEqual(['first', rule.rule.name, 'asks', 'last'])
    expect(parsePolicy(changed)).toEqual({ kind: 'policy', policy: changed })
    expect(runExamples(changed)).toMatchObject([{ passed: true, answer: { rule: rule.rule.name, reason: 'as approved' } }])
    expect(decide(TEST_CALL, agentLayer(changed)).decision).toBe('allow')
    // Once more is the same policy.
    expect(withRule(changed, rule, 'asks')).toEqual(changed)
    // Never before rules that it was not asked by: they may deny.
    for (const asked of [null, 'gone']) expect(withRule(policy, rule, asked).rule.at(-1)).toBe(rule.rule)
  })

  test('denies as well', () => {
    const changed = withRule(policy, made(TEST_CALL, 'deny_continue'), 'asks')
    expect(decide(TEST_CALL, agentLayer(changed))).toMatchObject({ decision: 'deny_continue', reason: 'as approved' })
  })

  test.each<[string, Partial<PolicyCall>]>([
    ['another agent', { agent: { ...TEST_CALL.agent, name: 'helper2' } }],
    ['another owner', { agent: { ...TEST_CALL.agent, owner: 'bob' } }],
    ['another caller', { caller: { role: 'user', name: 'helper' } }],
    ['another mount', { mount: 'files2' }],
    ['the engine itself', { mount: null }],
    ['another kind', { kind: 'prompt' }],
    ['another name', { name: 'read_file2' }],
    ['no arguments', { arguments: {} }],
    ['one argument more', { arguments: { path: '/src/main.ts', force: null } }],
    ['another text', { arguments: { path: '/src/main.ts\n' } }],
  ])('does not match %s', (_, parts) => {
    const [layer] = agentLayer(policyOf({ rule: [made(TEST_CALL).rule] }))
    expect(decide(TEST_CALL, [layer]).decision).toBe('allow')
    expect(decide(callOf(parts), [layer]).decision).toBe('ask')
  })

  test('matches names that are patterns, and arguments that look like CEL, to the letter', () => {
    const calls = [
      callOf({ name: 'read_*' }),
      callOf({ name: String.raw`a\b\*c` }),
      callOf({ kind: 'patch', name: 'x" || true || "', arguments: { a: '"} || true || args == {"a": "' } }),
      callOf({ kind: 'question', mount: null, name: '' }),
      callOf({ arguments: { '"': "'", '\\': '\\"', 'a\nb': '\u202e\u{e0041}\u0000`${x}' } }),
      callOf({ kind: 'command', mount: null, name: 'sh', arguments: { argv: ['-c', 'echo "$(id)" && [ x ]'] } }),
      callOf({ kind: 'resource', name: 'file:///a*b' }),
    ]
    for (const [at, call] of calls.entries()) {
      const layers = agentLayer(policyOf({ rule: [made(call).rule], example: [made(call).example] }))
      for (const [index, other] of calls.entries()) expect(decide(other, layers).decision).toBe(index === at ? 'allow' : 'ask')
      expect(decide({ ...call, name: call.name.replaceAll('*', 'xyz') }, layers).decision).toBe(
        call.name.includes('*') ? 'ask' : 'allow',
      )
    }
  })

  test('matches random arguments and nothing that was changed in them', () => {
    const random = new Random(20261118)
    for (let at = 0; at < 150; at += 1) {
      const args = randomJson(random, 0)
      const layers = agentLayer(policyOf({ rule: [made(callOf({ arguments: args })).rule] }))
      expect(decide(callOf({ arguments: args }), layers).decision).toBe('allow')
      for (let count = 0; count < 10; count += 1) {
        const other = random.chance(50) ? mutated(random, args) : randomJson(random, 0)
        const isSame = canonicalJson(other) === canonicalJson(args)
        expect([other, decide(callOf({ arguments: other }), layers).decision]).toEqual([other, isSame ? 'allow' : 'ask'])
      }
    }
  })

  test('is refused where the call cannot be written down exactly', () => {
    expect(ruleFromCall(callOf({ arguments: { id: 2 ** 60 } }), 'allow')).toMatchObject({
      kind: 'refused',
      reason: expect.stringMatching(/beyond 2\^53/),
    })
    expect(ruleFromCall(callOf({ arguments: { text: '\ud800' } }), 'allow')).toMatchObject({
      kind: 'refused',
      reason: expect.stringMatching(/do not fit into a rule/),
    })
    expect(ruleFromCall(callOf({ arguments: { text: 'x'.repeat(3_000) } }), 'allow')).toMatchObject({
      kind: 'refused',
      reason: expect.stringMatching(/2000 characters/),
    })
    expect(ruleFromCall(callOf({ arguments: Array.from({ length: 450 }, () => '') }), 'allow')).toMatchObject({
      kind: 'refused',
      reason: expect.stringMatching(/400 parts/),
    })
  })
})

const SCALARS: readonly JsonValue[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  -0,
  1e-7,
  123456789012,
  '',
  'a',
  'b',
  '"',
  '\\',
  '\n',
  '🎈',
  '1',
  'null',
  'é',
]
const NAMES = ['a', 'b', '__proto__', 'constructor', 'a b', '"', '']

function randomJson(random: Random, depth: number): JsonValue {
  const kind = depth > 2 ? 0 : random.below(3)
  if (kind === 0) return random.pick(SCALARS)
  const size = random.below(4)
  if (kind === 1) return Array.from({ length: size }, () => randomJson(random, depth + 1))
  return Object.fromEntries(Array.from({ length: size }, () => [random.pick(NAMES), randomJson(random, depth + 1)]))
}

/** One place in it replaced, taken out or added. */
function mutated(random: Random, value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null || random.chance(30)) return randomJson(random, 1)
  if (Array.isArray(value)) {
    const at = random.below(value.length + 1)
    return random.chance(50) ? value.toSpliced(at, 1, randomJson(random, 2)) : value.toSpliced(at, 1)
  }
  const name = random.pick([...Object.keys(value), ...NAMES])
  const entries = Object.entries(value).filter(([known]) => known !== name)
  return Object.fromEntries(
    random.chance(50)
      ? entries
      : [...entries, [name, mutated(random, Object.hasOwn(value, name) ? (value[name] ?? null) : null)]],
  )
}
