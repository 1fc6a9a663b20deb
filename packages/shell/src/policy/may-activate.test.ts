import { expect, test } from 'vitest'
import { mayActivate } from './may-activate.ts'

const review = (failed: number, looser: number) => ({
  examples: {
    run: 3,
    failed: Array.from({ length: failed }, (_, index) => ({
      example: index + 1,
      wanted: 'allow' as const,
      decided: 'ask' as const,
      rule: null,
    })),
  },
  replayed: { calls: 9, agents: 1, changed: looser, looser, items: [] },
})
const NOBODY = { saidYes: false, canAsk: false, asks: 'looser' } as const

test('what makes an example fail is refused, whatever was said', () => {
  expect(mayActivate(review(1, 0), { saidYes: true, canAsk: true, asks: 'looser' })).toMatchObject({ kind: 'refused' })
})

test('what becomes looser needs a yes: said before, or at a terminal', () => {
  expect(mayActivate(review(0, 0), NOBODY)).toEqual({ kind: 'activate' })
  expect(mayActivate(review(0, 2), NOBODY)).toMatchObject({ kind: 'refused', why: expect.stringContaining('2 of the calls') })
  expect(mayActivate(review(0, 2), { ...NOBODY, canAsk: true })).toMatchObject({ kind: 'ask' })
  expect(mayActivate(review(0, 2), { ...NOBODY, saidYes: true })).toEqual({ kind: 'activate' })
})

test('who did not see it before is always asked', () => {
  expect(mayActivate(review(0, 0), { ...NOBODY, asks: 'always' })).toMatchObject({ kind: 'refused' })
  expect(mayActivate(review(0, 0), { ...NOBODY, asks: 'always', canAsk: true })).toEqual({
    kind: 'ask',
    question: 'Activate it?',
  })
})
