import { expect, test } from 'vitest'
import { callOf, policyOf } from '../fixture/test-call.ts'
import { compilePolicy } from './compile-policy.ts'
import { decide, type PolicyAnswer } from './decide.ts'

const uncounted = (rule: readonly object[]): PolicyAnswer =>
  decide(callOf({ counts: null }), [{ layer: 'agent', policy: compilePolicy(policyOf({ rule })) }])

test('where it is not known how many calls there were, a rule that goes by them denies, and others do not mind', () => {
  const reason = expect.stringContaining('how many such calls there were is not known')
  const rest = { name: 'rest', decision: 'allow' }
  for (const few of [{ counts: { day: 2 } }, { when: 'counts.day < 2' }])
    expect(uncounted([{ name: 'few', decision: 'ask', ...few }, rest])).toMatchObject({
      decision: 'evaluator_error',
      rule: 'few',
      reason,
    })
  const others = [rest, { name: 'few', decision: 'ask', counts: { day: 2 } }]
  expect(uncounted(others)).toMatchObject({ decision: 'allow', rule: 'rest' })
})

test('a policy says which calls its rules count, and how far back', () => {
  const counting = (...rule: readonly object[]) =>
    compilePolicy(policyOf({ shadow: true, rule: rule.map((each, at) => ({ name: `r${at}`, decision: 'allow', ...each })) }))
  const tools = counting({ tool: 'trans*', counts: { turn: 2 } }, { resource: '*' })
  expect(tools.countedMinutes).toBe(60)
  expect(tools.counts(callOf({ name: 'transfer' }))).toBe(true)
  expect(tools.counts(callOf({ name: 'other' }))).toBe(false)
  expect(tools.counts(callOf({ kind: 'resource', name: 'transfer' }))).toBe(false)
  expect(counting({ tool: 'x', counts: { day: 2 } }).countedMinutes).toBe(1_440)
  expect(counting({ mount: 'm', when: 'counts.hour < 2' })).toMatchObject({ countedMinutes: 1_440 })
  expect(counting({ tool: 'x' }).countedMinutes).toBe(0)
})
