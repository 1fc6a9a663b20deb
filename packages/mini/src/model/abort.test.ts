import { once } from 'node:events'
import { expect, test } from 'vitest'
import { type Answer, FAILURES } from '@parley/agent/testing/model-server'
import { type Asker, openAsker, usagesTold } from './fixture/open-asker.ts'
import { pause } from './pause.ts'

const WIRES = ['responses', 'chat'] as const
const hello: Answer = { pieces: [{ reasoning: 'Hm.' }, { text: 'Hello!' }], manner: { deltaCharacters: 2 } }
/** So long that a test which had to wait for one would fail. */
const LONG = {
  firstTokenMs: 3_600_000,
  idleMs: 3_600_000,
  answerMs: 3_600_000,
  firstWaitMs: 3_600_000,
  longestWaitMs: 3_600_000,
  waitedMs: 36_000_000,
}

/** Resolves when the client has closed the connection of that request. */
async function gone({ server }: Asker, number = 1): Promise<void> {
  const signal = server.requests[number - 1]?.gone
  if (signal === undefined) throw new Error(`there was no request ${number}`)
  if (!signal.aborted) await once(signal, 'abort')
}

test.each(WIRES)('%s: given up before it began, nothing is sent', async (wire) => {
  await using asker = await openAsker(wire, [hello])
  expect(await asker.ask({}, AbortSignal.abort())).toEqual({ answer: { kind: 'aborted' }, told: [], exchanges: [] })
  expect(asker.server.requests).toEqual([])
})

test.each(WIRES)('%s: given up while nobody answers', async (wire) => {
  await using asker = await openAsker(wire, [{ silent: true }], { limits: LONG })
  const stop = new AbortController()
  const asked = asker.ask({}, stop.signal)
  await asker.server.arrived(1)
  stop.abort()
  const { answer, told, exchanges } = await asked
  expect(answer).toEqual({ kind: 'aborted' })
  expect(exchanges).toMatchObject([{ outcome: 'aborted', status: null, error: null }])
  expect(usagesTold(told)).toEqual([])
  await gone(asker)
})

test.each(WIRES)('%s: given up in the middle of an answer, at any moment', async (wire) => {
  for (const nth of [1, 2, 3, 4, 5]) {
    await using asker = await openAsker(
      wire,
      [{ ...hello, manner: { deltaCharacters: 2, writeBytes: 64, stallAfterEvents: wire === 'chat' ? 6 : 14 } }],
      {
        limits: LONG,
      },
    )
    const stop = new AbortController()
    let heard = 0
    const { answer, told, exchanges } = await asker.ask({}, stop.signal, ([what]) => {
      if (what === 'usage' || what === 'exchanged') return
      heard += 1
      if (heard === nth) stop.abort()
    })
    expect(answer).toEqual({ kind: 'aborted' })
    expect(exchanges).toMatchObject([{ outcome: 'aborted', status: 200 }])
    expect(usagesTold(told)).toMatchObject([['usage', expect.any(String), {}, true]])
    await gone(asker)
  }
})

test.each(WIRES)('%s: given up while an error is read', async (wire) => {
  const stop = new AbortController()
  const half: Answer = { status: 500, headers: { 'content-length': '1000' }, body: 'half of it' }
  await using asker = await openAsker(wire, [half], { limits: LONG })
  const asked = asker.ask({}, stop.signal)
  await asker.server.arrived(1)
  stop.abort()
  expect((await asked).answer).toEqual({ kind: 'aborted' })
})

test.each(WIRES)('%s: given up while waiting for the next try', async (wire) => {
  await using asker = await openAsker(wire, () => FAILURES.serverError(), { limits: LONG, sleep: pause })
  const stop = new AbortController()
  const { answer, exchanges } = await asker.ask({}, stop.signal, ([what]) => {
    if (what === 'retry') setImmediate(() => stop.abort())
  })
  expect(answer).toEqual({ kind: 'aborted' })
  expect(exchanges).toHaveLength(1)
  expect(asker.server.requests).toHaveLength(1)
})

test.each(WIRES)('%s: given up while all connections are in use', async (wire) => {
  await using asker = await openAsker(wire, [{ silent: true }, hello], { limits: LONG, connections: 1 })
  const [first, second] = [new AbortController(), new AbortController()]
  const holding = asker.ask({}, first.signal)
  await asker.server.arrived(1)
  const waiting = asker.ask({}, second.signal)
  second.abort()
  expect((await waiting).answer).toEqual({ kind: 'aborted' })
  first.abort()
  expect((await holding).answer).toEqual({ kind: 'aborted' })
  expect(asker.server.requests).toHaveLength(1)
})

test.each(WIRES)('%s: once answered, giving up changes nothing', async (wire) => {
  await using asker = await openAsker(wire, [hello, hello])
  const stop = new AbortController()
  expect((await asker.ask({}, stop.signal)).answer.kind).toBe('answered')
  stop.abort()
  expect((await asker.ask()).answer.kind).toBe('answered')
})

test.each(WIRES)('%s: a model that never begins is given up and asked again', async (wire) => {
  const limits = { ...LONG, firstWaitMs: 1, firstTokenMs: 400, attempts: 4, silentAttempts: 4 }
  const drip: Answer = { pieces: [{ text: 'x' }], manner: { keepAlives: true, pauseMs: 10, stallAfterEvents: 1 } }
  await using asker = await openAsker(
    wire,
    [{ silent: true }, drip, { ...hello, manner: { stallAfterEvents: 0 } }, { pieces: [{ text: 'Now' }] }],
    {
      limits,
    },
  )
  const { answer, exchanges } = await asker.ask()
  expect(answer).toMatchObject({ kind: 'answered', items: [{ content: [{ text: 'Now' }] }] })
  expect(exchanges.map(({ outcome, status, firstTokenMs }) => [outcome, status, firstTokenMs === null])).toEqual([
    ['failed', null, true],
    ['cut', 200, true],
    ['cut', 200, true],
    ['answered', 200, false],
  ])
})

test.each(WIRES)('%s: a model that never begins is not asked for ever, and the timeout names itself', async (wire) => {
  const limits = { ...LONG, firstWaitMs: 1, firstTokenMs: 400 }
  await using asker = await openAsker(wire, () => ({ silent: true }), { limits })
  const { answer, exchanges } = await asker.ask()
  expect(answer).toEqual({
    kind: 'failed',
    code: 'model_timeout',
    message: expect.stringMatching(/^the model did not begin to answer within 1 s; given up after 2 tries/),
  })
  expect(exchanges).toHaveLength(2)
})

test.each(WIRES)('%s: a stream that falls silent is given up and asked again', async (wire) => {
  const stalled: Answer = { ...hello, manner: { deltaCharacters: 2, stallAfterEvents: 6 } }
  await using asker = await openAsker(wire, [stalled, hello], { limits: { ...LONG, firstWaitMs: 1, idleMs: 400 } })
  const { answer, told, exchanges } = await asker.ask()
  expect(answer.kind).toBe('answered')
  expect(exchanges).toMatchObject([{ outcome: 'cut', error: 'the provider said nothing for 1 s' }, { outcome: 'answered' }])
  expect(usagesTold(told).map(([, , , estimated]) => estimated)).toEqual([true, false])
  await gone(asker)
})

test.each(WIRES)('%s: an answer that drips for ever is given up', async (wire) => {
  const drip: Answer = { pieces: [{ text: 'x'.repeat(10_000) }], manner: { deltaCharacters: 1, pauseMs: 5 } }
  await using asker = await openAsker(wire, () => drip, { limits: { ...LONG, answerMs: 100, firstWaitMs: 1, attempts: 2 } })
  const { answer, exchanges } = await asker.ask()
  expect(answer).toMatchObject({ kind: 'failed', code: 'model_timeout' })
  expect(exchanges).toHaveLength(2)
  // On a crowded machine one may be given up before it arrives.
  for (const number of asker.server.requests.keys()) await gone(asker, number + 1)
})

test('responses: a provider that keeps the connection open after the last word does not hold up the answer', async () => {
  const lingering: Answer = { pieces: [{ text: 'Done' }], manner: { stallAfterEvents: 10 } }
  await using asker = await openAsker('responses', [lingering], { limits: { ...LONG, lingerMs: 20 } })
  expect((await asker.ask()).answer.kind).toBe('answered')
  await gone(asker)
})
