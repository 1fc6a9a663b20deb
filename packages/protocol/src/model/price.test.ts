import { expect, test } from 'vitest'
import {
  NO_PRICES,
  NO_TOKENS,
  type ModelPrices,
  addTokens,
  costOf,
  costText,
  isPriced,
  readTokens,
  totalTokens,
} from '../index.ts'

const prices: ModelPrices = {
  ...NO_PRICES,
  input_microusd_per_1m_tokens: 1_250_000,
  cached_input_microusd_per_1m_tokens: 125_000,
  output_microusd_per_1m_tokens: 10_000_000,
}
const usage = { ...NO_TOKENS, input_tokens: 100, cached_input_tokens: 40, output_tokens: 20, reasoning_output_tokens: 8 }

test('a cached token is charged once, at its own price', () => {
  // 60 × 1.25 + 40 × 0.125 + 20 × 10 micro-USD.
  expect(costOf(usage, prices)).toBe(75 + 5 + 200)
})

test('without a cached price a cached token costs what any other does', () => {
  expect(costOf(usage, { ...prices, cached_input_microusd_per_1m_tokens: null })).toBe(125 + 200)
})

test('reasoning is a part of the output unless it is priced apart', () => {
  expect(costOf(usage, { ...prices, reasoning_microusd_per_1m_tokens: 20_000_000 })).toBe(75 + 5 + 120 + 160)
})

test('a cached part of the output has its price, and never counts twice with reasoning', () => {
  const all = { ...usage, cached_output_tokens: 20, reasoning_output_tokens: 20 }
  const priced = { ...prices, cached_output_microusd_per_1m_tokens: 1_000_000, reasoning_microusd_per_1m_tokens: 2_000_000 }
  expect(costOf(all, priced)).toBe(75 + 5 + 40)
})

test('no price is not a price of nothing', () => {
  expect(costOf(usage, { ...prices, output_microusd_per_1m_tokens: null })).toBeNull()
  expect([isPriced(prices), isPriced({ ...prices, input_microusd_per_1m_tokens: null })]).toEqual([true, false])
  const free = {
    ...prices,
    input_microusd_per_1m_tokens: 0,
    cached_input_microusd_per_1m_tokens: 0,
    output_microusd_per_1m_tokens: 0,
  }
  expect(costOf(usage, free)).toBe(0)
})

test('large numbers are exact', () => {
  const many = { ...NO_TOKENS, input_tokens: 4_000_000_007, output_tokens: 1 }
  expect(costOf(many, { ...prices, input_microusd_per_1m_tokens: 999_999_999_999 })).toBe(4_000_000_006_996_009)
})

test('the usage of both wires reads the same', () => {
  const responses = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 2 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 3 },
    total_tokens: 15,
  }
  const chat = {
    prompt_tokens: 10,
    prompt_tokens_details: { cached_tokens: 2 },
    completion_tokens: 5,
    completion_tokens_details: { reasoning_tokens: 3 },
  }
  const tokens = {
    input_tokens: 10,
    cached_input_tokens: 2,
    output_tokens: 5,
    cached_output_tokens: 0,
    reasoning_output_tokens: 3,
  }
  expect([readTokens(responses, 'responses'), readTokens(chat, 'chat')]).toEqual([tokens, tokens])
  expect(totalTokens(addTokens(tokens, tokens))).toBe(30)
})

test('a part that is larger than its whole is cut to it, and no usage is none', () => {
  const odd = { input_tokens: 3, input_tokens_details: { cached_tokens: 9 }, output_tokens: 0, output_tokens_details: null }
  expect(readTokens(odd, 'responses')).toEqual({ ...NO_TOKENS, input_tokens: 3, cached_input_tokens: 3 })
  expect([readTokens(null, 'responses'), readTokens({}, 'chat'), readTokens(odd, 'chat')]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test.each([-4, '7', null, 1.5, 1e300, Number.MAX_SAFE_INTEGER])('a usage of %j tokens is not believed', (lie) => {
  expect(readTokens({ prompt_tokens: 3, completion_tokens: lie }, 'chat')).toBeUndefined()
  expect(readTokens({ input_tokens: lie, output_tokens: 3 }, 'responses')).toBeUndefined()
})

test('a price that is not known is not nothing', () => {
  expect([costText(null, 0), costText(0, 0), costText(49_534, 0), costText(1_500_000, 2), costText(0, 2, 2)]).toEqual([
    'unpriced',
    '$0.00',
    '$0.049534',
    '$1.50 and 2 unpriced',
    'unpriced',
  ])
})
