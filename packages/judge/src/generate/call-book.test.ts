import { NO_PRICES, NO_TOKENS, ToolError, type UsageTotal } from '@parley/protocol'
import { expect, test } from 'vitest'
import type { BookedCall } from '../worker/generator.ts'
import { CallBook } from './call-book.ts'

const usage = { ...NO_TOKENS, input_tokens: 100, cached_input_tokens: 40, output_tokens: 20 }
const event = (call: string) =>
  ({ type: 'usage', call, last: usage, total: usage, estimated: false, contextTokens: null }) as const

function open(money: { readonly unpriced: number; readonly microusd: number | null }, script = false) {
  const booked: BookedCall[] = []
  const warned: string[] = []
  const ingest = (_attempt: number, call: BookedCall): Promise<UsageTotal> => {
    if (call.id === 'refused') return Promise.reject(new ToolError('lease_lost', 'the claim is over'))
    booked.push(call)
    const sum = { ...usage, input_tokens: 100 * booked.length, output_tokens: 20 * booked.length }
    return Promise.resolve({
      ...sum,
      calls: booked.length,
      unpriced_calls: money.unpriced,
      estimated_calls: 0,
      cost_microusd: money.microusd,
    })
  }
  const prices = { ...NO_PRICES, input_microusd_per_1m_tokens: 1_000_000, output_microusd_per_1m_tokens: 2_000_000 }
  const about = { attempt: 1, model: 'm', prices, script, warn: (message: string) => void warned.push(message) }
  return { book: new CallBook({ ingest }, about), booked, warned }
}

test.each([
  [{ unpriced: 0, microusd: 1_234 }, '240 tokens in 2 calls, $0.001234'],
  [{ unpriced: 0, microusd: 200 }, '240 tokens in 2 calls, $0.0002'],
  [{ unpriced: 1, microusd: 1_234 }, '240 tokens in 2 calls, 1 of them without a price, $0.001234'],
  [{ unpriced: 2, microusd: null }, '240 tokens in 2 calls, 2 of them without a price, unpriced'],
])('what has no price is never told as nothing: %j', async (money, words) => {
  const { book } = open(money)
  book.take(event('a'))
  book.take(event('b'))
  const line = await book.close()
  expect(line?.summary).toBe(`usage: 200 tokens in (80 cached), 40 out; the job so far: ${words}`)
})

test('of a script nothing is said about money', async () => {
  const { book } = open({ unpriced: 0, microusd: 0 }, true)
  book.take(event('a'))
  const line = await book.close()
  expect(line?.summary).toBe('usage: 100 tokens in (40 cached), 20 out; the job so far: 120 tokens in 1 call')
})

test('calls are booked in order; one that is refused is told and keeps none of the others', async () => {
  const { book, booked, warned } = open({ unpriced: 0, microusd: 1 })
  for (const call of ['a', 'refused', 'b']) book.take(event(call))
  await book.close()
  expect(booked.map(({ id }) => id)).toEqual(['a', 'b'])
  expect(warned).toEqual(['a call of the model could not be booked: the claim is over'])
  const budget = { requests: 10, tokens: 1_000, microusd: 1_000, wall_ms: 9 }
  expect(book.left(budget)).toEqual({ requests: 7, tokens: 640, microusd: 1_000 - 3 * 140, wall_ms: 9 })
  expect(book.left({ ...budget, requests: 2, tokens: null })).toMatchObject({ requests: 1, tokens: null })
})
