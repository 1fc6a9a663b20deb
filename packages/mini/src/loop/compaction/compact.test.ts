import { expect, test } from 'vitest'
import { said, turn } from '@parley/agent/testing'
import { FAILURES, type ReceivedRequest } from '@parley/agent/testing/model-server'
import { TALK_MODEL, inputOf, openTalk } from '../fixture/mini-talk.ts'

const done = { pieces: [{ text: 'done' }] }
const COMPLETED = { kind: 'completed', message: 'done' }
const facts = (contextTokens: number) => () => ({ contextTokens, maxOutputTokens: null, prices: null })
const isSummary = ({ body }: ReceivedRequest): boolean => JSON.stringify(body).includes('Write the summary now')
const text = (request: ReceivedRequest | undefined): string => JSON.stringify(request?.body ?? null)

/** Reads a file that is as long as the result may be, with thoughts before it. */
const step = (number: number) => ({
  pieces: [
    { reasoning: `step ${number}`, encrypted: `sealed ${number}` },
    { call: 'contract_echo', arguments: { text: `result-${number} ${'word '.repeat(300)}` }, id: `c${number}a` },
    { call: 'contract_echo', arguments: { text: `other-${number}` }, id: `c${number}b` },
  ],
})

/** A model that goes on for so many steps and sums up when it is asked to. */
function stepping(steps: number) {
  let made = 0
  let summaries = 0
  return (request: ReceivedRequest) => {
    if (isSummary(request)) return { pieces: [{ text: `SUMMARY-${(summaries += 1)} of what was` }] }
    made += 1
    return made > steps ? done : step(made)
  }
}

test.for(['responses', 'chat'] as const)(
  'fault 22: a conversation over %s that outgrows the context is summed up, again and again',
  async (wire) => {
    const steps = 30
    const answer = stepping(steps)
    await using talk = await openTalk({
      wire,
      answers: Array.from({ length: 100 }, () => answer),
      mini: { facts: facts(12_000) },
      options: { instructions: 'INSTRUCTIONS-STAY' },
    })
    const started = talk.conversation.submit({ ...said('PINNED-STAYS'), pinned: true })
    expect(await started.ended).toEqual(COMPLETED)
    const compactions = talk.recorder.all('compacted')
    expect(compactions.length).toBeGreaterThan(1)
    for (const { before, after } of compactions) expect(after).toBeLessThan(before)
    const last = talk.world.requests.findLast((request) => !isSummary(request))
    for (const words of ['INSTRUCTIONS-STAY', 'PINNED-STAYS', `SUMMARY-${compactions.length}`, `result-${steps}`])
      expect(text(last)).toContain(words)
    expect(text(last)).not.toContain('SUMMARY-1 ')
    expect(text(last)).not.toContain('"result-1 ')
    // The later summary was made from the earlier one.
    expect(text(talk.world.requests.filter(isSummary).at(-1))).toContain(`SUMMARY-${compactions.length - 1}`)
    const usages = talk.recorder.all('usage')
    expect(usages).toHaveLength(talk.world.requests.length)
  },
)

test('the log knows what a summary stands for: another process goes on with the same items', async () => {
  const answer = stepping(12)
  await using talk = await openTalk({ answers: Array.from({ length: 60 }, () => answer), mini: { facts: facts(12_000) } })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  expect(talk.recorder.all('compacted').length).toBeGreaterThan(0)
  expect(await turn(talk.conversation, 'more')).toEqual(COMPLETED)
  const here = talk.input(-1)
  const { conversation } = await talk.resume()
  expect(await turn(conversation, 'even more')).toEqual(COMPLETED)
  expect(talk.input(-1).slice(0, here.length)).toEqual(here)
})

test('a provider that says the context is full gets a shorter one, once', async () => {
  const answers = [step(1), step(2), FAILURES.contextOverflow(), { pieces: [{ text: 'SUMMARY' }] }, done]
  await using talk = await openTalk({ answers, mini: { limits: { keptItems: 3 } } })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  expect(talk.recorder.one('compacted')).toBeDefined()
  expect(text(talk.world.requests.at(-1))).toContain('SUMMARY')
  expect(text(talk.world.requests.at(-1))).toContain('result-2')
  expect(text(talk.world.requests.at(-1))).not.toContain('result-1 ')
})

test('a context that is still full after that fails the turn', async () => {
  const full = FAILURES.contextOverflow()
  const answers = [step(1), full, { pieces: [{ text: 'SUMMARY' }] }, full, done]
  await using talk = await openTalk({ answers })
  expect(await turn(talk.conversation, 'go')).toMatchObject({ kind: 'failed', code: 'context_overflow' })
  expect(await turn(talk.conversation, 'on')).toEqual(COMPLETED)
})

test('a context with nothing to sum up in it fails the turn at once', async () => {
  await using talk = await openTalk({ answers: [FAILURES.contextOverflow()] })
  expect(await turn(talk.conversation, 'far too much')).toMatchObject({ kind: 'failed', code: 'context_overflow' })
  expect(talk.world.requests).toHaveLength(1)
})

test('input that can never fit fails the turn without asking for the impossible', async () => {
  await using talk = await openTalk({ answers: [], mini: { facts: facts(1_000) } })
  const started = talk.conversation.submit({ ...said('word '.repeat(5_000)), pinned: true })
  expect(await started.ended).toMatchObject({ kind: 'failed', code: 'context_overflow' })
  expect(talk.world.requests).toEqual([])
})

test('a model that does not sum up is told of, and the conversation goes on while it can', async () => {
  let made = 0
  const answer = (request: ReceivedRequest) => {
    if (isSummary(request)) return { pieces: [{ refusal: 'I do not sum up.' }] }
    made += 1
    return made > 8 ? done : step(made)
  }
  await using talk = await openTalk({ answers: Array.from({ length: 20 }, () => answer), mini: { facts: facts(5_000) } })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  expect(talk.recorder.all('warning').map(({ message }) => message)).toEqual([expect.stringContaining('could not be summed up')])
  expect(talk.world.requests.filter(isSummary)).toHaveLength(1)
})

test('an interrupt reaches a compaction', async () => {
  const answers = [step(1), step(2), FAILURES.contextOverflow(), { silent: true } as const, done]
  await using talk = await openTalk({ answers })
  const started = talk.conversation.submit(said('go'))
  await talk.world.asked(TALK_MODEL, 4)
  await talk.conversation.interrupt()
  expect(await started.ended).toEqual({ kind: 'interrupted' })
  expect(await turn(talk.conversation, 'on')).toEqual(COMPLETED)
  expect(inputOf(talk.world.requests.at(-1)).length).toBeGreaterThan(8)
})

test('what a compaction cannot make smaller is not summed up before every request', async () => {
  let made = 0
  const answer = (request: ReceivedRequest) => {
    if (isSummary(request)) return { pieces: [{ text: 'SUMMARY' }] }
    made += 1
    return made > 12 ? done : { pieces: [{ call: 'contract_echo', arguments: { text: 'short' }, id: `c${made}` }] }
  }
  await using talk = await openTalk({ answers: Array.from({ length: 40 }, () => answer), mini: { facts: facts(6_000) } })
  const started = talk.conversation.submit({ ...said('word '.repeat(5_000)), pinned: true })
  expect(await started.ended).toEqual(COMPLETED)
  expect(talk.world.requests.filter(isSummary).length).toBeLessThanOrEqual(2)
})
