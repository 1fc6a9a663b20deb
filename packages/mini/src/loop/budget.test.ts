import { NO_BUDGET, NO_PRICES, totalTokens } from '@parley/protocol'
import { expect, test } from 'vitest'
import { said, turn } from '@parley/agent/testing'
import { openTalk, outputOf } from './fixture/mini-talk.ts'

const done = { pieces: [{ text: 'done' }], usage: { input: 10, output: 10 } }
const COMPLETED = { kind: 'completed', message: 'done' }
const plan = (id: string) => ({
  pieces: [{ call: 'update_plan', arguments: { explanation: null, plan: [] }, id }],
  usage: { input: 90, output: 10, cached: 80 },
})
const PRICES = { ...NO_PRICES, input_microusd_per_1m_tokens: 1_000_000, output_microusd_per_1m_tokens: 2_000_000 }
const priced = { facts: () => ({ contextTokens: null, maxOutputTokens: null, prices: PRICES }) }

test.for([
  ['requests', { requests: 2 }, 'budget_requests'],
  ['tokens', { tokens: 200 }, 'budget_tokens'],
  // 90 of input and 10 of output cost 110 each time.
  ['money', { microusd: 220 }, 'budget_money'],
] as const)(
  'a turn that has used its %s ends with its own code, its calls answered, and the next one works',
  async ([, bound, code]) => {
    await using talk = await openTalk({ answers: [plan('c1'), plan('c2'), done], mini: priced })
    const started = talk.conversation.submit({ ...said('go'), budget: { ...NO_BUDGET, ...bound } })
    expect(await started.ended).toMatchObject({ kind: 'failed', code })
    expect(talk.world.requests).toHaveLength(2)
    expect(talk.recorder.all('tool_begin').map(({ call }) => call)).toEqual(['c1'])
    expect(await turn(talk.conversation, 'on')).toEqual(COMPLETED)
    expect(outputOf(talk.input(-1), 'c2')).toContain('was not made')
  },
)

test('the last answer within the budget completes the turn', async () => {
  await using talk = await openTalk({ answers: [plan('c1'), done] })
  const started = talk.conversation.submit({ ...said('go'), budget: { ...NO_BUDGET, requests: 2, tokens: 101 } })
  expect(await started.ended).toEqual(COMPLETED)
})

test('time that runs out ends whatever runs', async () => {
  const sleep = { call: 'shell', arguments: { command: ['sleep', '600'], workdir: null, timeout_ms: null }, id: 'c1' }
  // On a busy machine it may run out before the command has begun: then there has to be more of it.
  for (let wallMs = 300, hasBegun = false; !hasBegun; wallMs *= 2) {
    await using talk = await openTalk({ answers: [{ pieces: [sleep] }, done] })
    const started = talk.conversation.submit({ ...said('go'), budget: { ...NO_BUDGET, wall_ms: wallMs } })
    expect(await started.ended).toMatchObject({ kind: 'failed', code: 'budget_time' })
    hasBegun = talk.recorder.all('command_begin').length > 0
    if (!hasBegun) continue
    expect(talk.recorder.one('command_end').status).toBe('failed')
    expect(await turn(talk.conversation, 'on')).toEqual(COMPLETED)
  }
})

test('the budget of a conversation goes on after a restart, and so do its counts', async () => {
  const budget = { ...NO_BUDGET, tokens: 150, microusd: 100_000 }
  await using talk = await openTalk({ answers: [plan('c1'), done, plan('c2'), done], mini: priced, options: { budget } })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  const { conversation, recorder } = await talk.resume()
  expect(await turn(conversation, 'go')).toMatchObject({ kind: 'failed', code: 'budget_tokens' })
  const { total } = recorder.one('usage')
  expect(totalTokens(total)).toBe(220)
  expect(total.cached_input_tokens).toBe(160)
})

test('time that earlier processes used counts as well', async () => {
  let now = 1_800_000_000_000
  const slow = () => {
    now += 400
    return done
  }
  const options = { budget: { ...NO_BUDGET, wall_ms: 1_000 } }
  await using talk = await openTalk({ answers: [slow, slow, slow], mini: { now: () => now }, options })
  expect(await turn(talk.conversation, 'one')).toEqual(COMPLETED)
  expect(await turn(talk.conversation, 'two')).toEqual(COMPLETED)
  const ended = talk.entries().filter(({ type }) => type === 'turn_ended')
  expect(ended.map(({ wall_ms }) => wall_ms)).toEqual([400, 400])
  const { conversation } = await talk.resume({ budget: { ...NO_BUDGET, wall_ms: 800 } })
  expect(await turn(conversation, 'three')).toMatchObject({ kind: 'failed', code: 'budget_time' })
})

test('money without a price is not enforced, and that is said once', async () => {
  const budget = { ...NO_BUDGET, microusd: 1 }
  await using talk = await openTalk({ answers: [plan('c1'), done, done], options: { budget } })
  expect(await turn(talk.conversation, 'one')).toEqual(COMPLETED)
  expect(await turn(talk.conversation, 'two')).toEqual(COMPLETED)
  expect(talk.recorder.one('warning').message).toContain('no price')
})

test('a turn has an end even where nobody set one', async () => {
  const answers = Array.from({ length: 5 }, (_, index) => plan(`c${index}`))
  await using talk = await openTalk({ answers, mini: { limits: { requestsPerTurn: 3 } } })
  expect(await turn(talk.conversation, 'go')).toMatchObject({ kind: 'failed', code: 'budget_requests' })
  expect(talk.world.requests).toHaveLength(3)
})
