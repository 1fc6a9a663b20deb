import { NO_BUDGET, NO_TOKENS, type TokenUsage } from '@parley/protocol'
import { expect, test } from 'vitest'
import { NOTHING_USED, Spending } from './spending.ts'

const usage = (input: number, output: number): TokenUsage => ({ ...NO_TOKENS, input_tokens: input, output_tokens: output })

test('the first bound that another request would break is named, of the turn before the conversation', () => {
  const spending = new Spending({ budget: { ...NO_BUDGET, tokens: 100 }, prices: null })
  spending.startTurn({ ...NO_BUDGET, requests: 2 })
  spending.addRequest()
  spending.addUsage(usage(60, 20))
  expect(spending.spent()).toBeUndefined()
  spending.addRequest()
  spending.addUsage(usage(60, 20))
  expect(spending.spent()).toEqual({ code: 'budget_requests', message: 'the turn has used its 2 requests to the model' })
  spending.startTurn(undefined)
  expect(spending.spent()).toEqual({ code: 'budget_tokens', message: 'the conversation has used 160 of its 100 tokens' })
})

test('an engine that knows the total of its conversation is believed', () => {
  const spending = new Spending({ budget: undefined, prices: null })
  spending.addUsage(usage(10, 1), usage(500, 50))
  expect(spending.total).toEqual(usage(500, 50))
})

test('a turn has what is left of the time of both', () => {
  const used = { ...NOTHING_USED, wallMs: 400 }
  const spending = new Spending({ used, budget: { ...NO_BUDGET, wall_ms: 1_000 }, prices: null })
  spending.startTurn({ ...NO_BUDGET, wall_ms: 800 })
  expect(spending.wallMs).toBe(600)
  spending.endTurn(700)
  expect(spending.wallMs).toBe(0)
})

test('a bound on money without a price is told once', () => {
  const spending = new Spending({ budget: { ...NO_BUDGET, microusd: 5 }, prices: null })
  expect([spending.isUnenforced(), spending.isUnenforced()]).toEqual([true, false])
})
