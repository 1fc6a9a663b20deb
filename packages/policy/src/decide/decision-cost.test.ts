import { expect, test } from 'vitest'
import { callOf, policyOf } from '../fixture/test-call.ts'
import { compilePolicy } from './compile-policy.ts'
import { decide, type PolicyAnswer } from './decide.ts'
import type { LayerPolicy } from './layer-says.ts'

const LAYERS = ['installation', 'owner', 'agent'] as const
const USED_UP = 'all that is looked at for one call costs more than 50000'
const LIST = Array.from({ length: 200 }, () => 'a')

const layer = (name: (typeof LAYERS)[number], policy: object): LayerPolicy => ({
  layer: name,
  policy: compilePolicy(policyOf(policy)),
})
const rulesOf = (count: number, when: string): readonly object[] =>
  Array.from({ length: count }, (_, at) => ({ name: `r${at}`, when, decision: 'deny_continue' }))
const allow = { name: 'rest', decision: 'allow' }
const costly = (more: object = {}): object => ({ rule: [...rulesOf(480, 'args.l.exists(x, x == "b")'), allow], ...more })

/** How many conditions were evaluated to their end. */
const evaluated = ({ trace }: PolicyAnswer): number => trace.reduce((sum, { passedOver }) => sum + passedOver.length, 0)

test('all conditions of a policy together cost no more than one may', () => {
  const answer = decide(callOf({ arguments: { l: LIST } }), [layer('agent', costly())])
  expect(answer).toMatchObject({ decision: 'evaluator_error', layer: 'agent', reason: expect.stringContaining(USED_UP) })
  expect(answer.reason).toBe(`the condition of the rule ${answer.rule} could not be evaluated: ${USED_UP}`)
  expect(evaluated(answer)).toBeLessThan(50)
})

test('and so do those of all layers', () => {
  const one = decide(callOf({ arguments: { l: LIST } }), [layer('agent', costly())])
  const three = decide(
    callOf({ arguments: { l: LIST } }),
    LAYERS.map((name) => layer(name, costly())),
  )
  expect(three.decision).toBe('evaluator_error')
  expect(evaluated(three)).toBe(evaluated(one))
})

test('conditions pay for their parts and the arguments for being looked at, without any macro', () => {
  const many = layer('agent', { rule: [...rulesOf(70, 'now.getHours("Europe/Vienna") > 24'), allow] })
  expect(decide(callOf({}), [many])).toMatchObject({ decision: 'evaluator_error', reason: expect.stringContaining(USED_UP) })
  const wide = callOf({ arguments: Array.from({ length: 19_999 }, () => 1) })
  const looks = LAYERS.map((name) => layer(name, { rule: [...rulesOf(1, 'size(args) == 0'), allow] }))
  // They are converted once for all three.
  expect(decide(wide, looks).decision).toBe('allow')
})

test('a policy in shadow has what the others leave, and denies nothing by what it costs', () => {
  const layers = [
    layer('installation', costly({ shadow: true })),
    layer('agent', { rule: [...rulesOf(1, 'size(args.l) == 0'), allow] }),
  ]
  expect(decide(callOf({ arguments: { l: LIST } }), layers)).toMatchObject({
    decision: 'allow',
    layer: 'agent',
    shadow: { decision: 'evaluator_error', layer: 'installation', reason: expect.stringContaining(USED_UP) },
  })
})

test('fault 8: three layers of fifty rules, each with a condition about this call, are no matter', () => {
  const when = 'args.path.matches("[.](exe|dll)$") || args.path.contains("..") || size(args.text) > 100000'
  const layers = LAYERS.map((name) => layer(name, { rule: [...rulesOf(50, when), allow] }))
  const call = callOf({ arguments: { path: '/src/packages/policy/main.ts', text: 'x'.repeat(2_000), lines: LIST } })
  expect(decide(call, layers).decision).toBe('allow')
})

test('fault 8: a call with megabytes of arguments is decided like any other', () => {
  const source = { name: 'source', when: 'args.path.startsWith("/src/")', decision: 'ask' }
  const call = callOf({ arguments: { path: '/src/a', text: 'x'.repeat(4 * 1024 * 1024) } })
  expect(decide(call, [layer('agent', { rule: [source, allow] })])).toMatchObject({ decision: 'ask', rule: 'source' })
})

test('patterns that are looked through for a long name are paid for, and the second time as well', () => {
  const tool = Array.from({ length: 64 }, (_, at) => `*${at}-*-*`)
  const rule = Array.from({ length: 100 }, (_, at) => ({ name: `r${at}`, tool, decision: 'deny_continue' }))
  const layers = [layer('agent', { rule: [...rule, allow] })]
  expect(decide(callOf({ name: 'x'.repeat(200) }), layers).decision).toBe('allow')
  const long = callOf({ name: 'x'.repeat(50_000) })
  for (const answer of [decide(long, layers), decide(long, layers)])
    expect(answer).toMatchObject({ decision: 'evaluator_error', reason: `the policy could not be evaluated: ${USED_UP}` })
})
