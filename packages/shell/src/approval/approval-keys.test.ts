import { expect, test } from 'vitest'
import { actOf, keysText } from './approval-keys.ts'

const ASKED = { kind: 'tool', needed: 1, may_decide: true } as const

test('each key decides what it says, capital or not, and any other does nothing', () => {
  const decisions = ['a', 'S', 'r', 'd', 'x'].map((key) => actOf(ASKED, key))
  expect(decisions).toEqual(
    ['approve', 'approve_session', 'approve_rule', 'deny_continue', 'deny_abort'].map((decision) => ({
      kind: 'decide',
      decision,
    })),
  )
  expect([actOf(ASKED, 'n'), actOf(ASKED, 'q')]).toEqual([{ kind: 'next' }, { kind: 'quit' }])
  expect(['y', '', ' ', '\r', 'aa', '\u001b'].map((key) => actOf(ASKED, key))).toEqual(Array(6).fill(undefined))
})

test.each([
  ['a policy', { ...ASKED, kind: 'proposal' }],
  ['what two must approve', { ...ASKED, needed: 2 }],
] as const)('%s is approved as it is, or denied', (_what, asked) => {
  expect([actOf(asked, 's'), actOf(asked, 'r')]).toEqual([undefined, undefined])
  expect(keysText(asked)).toBe('a approve, d deny, x deny and abort, n next, q quit: ')
})

test('who may not decide can look at the next one or leave', () => {
  const asked = { ...ASKED, may_decide: false }
  expect(['a', 's', 'r', 'd', 'x'].map((key) => actOf(asked, key))).toEqual(Array(5).fill(undefined))
  expect(keysText(asked)).toBe('you may not decide about it; n next, q quit: ')
})
