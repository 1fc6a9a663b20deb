import { expect, test } from 'vitest'
import { type Answer, FAILURES, errorReply } from '@parley/agent/testing/model-server'
import { KEY, openAsker, textTold, usagesTold } from './fixture/open-asker.ts'

const WIRES = ['responses', 'chat'] as const
const hello: Answer = { pieces: [{ text: 'Hello!' }], usage: { input: 10, output: 5 } }

test.each(WIRES)('%s: failures that pass are waited for, longer each time', async (wire) => {
  const failures = [500, 503, 529, 408, 409].map((status) => FAILURES.serverError(status))
  await using asker = await openAsker(wire, [...failures, FAILURES.rateLimited(), hello])
  const { answer, told, exchanges } = await asker.ask()
  expect(answer.kind).toBe('answered')
  expect(exchanges.map(({ attempt, status, outcome }) => [attempt, status, outcome])).toEqual([
    [1, 500, 'failed'],
    [2, 503, 'failed'],
    [3, 529, 'failed'],
    [4, 408, 'failed'],
    [5, 409, 'failed'],
    [6, 429, 'failed'],
    [7, 200, 'answered'],
  ])
  expect(usagesTold(told)).toHaveLength(1)
  expect(told.filter(([what]) => what === 'retry').map(([, attempt]) => attempt)).toEqual([2, 3, 4, 5, 6, 7])
  expect(asker.waits).toHaveLength(6)
  for (const [index, wait] of asker.waits.entries()) {
    const longest = Math.min(500 * 2 ** index, 30_000)
    expect(wait).toBeGreaterThanOrEqual(longest / 2)
    expect(wait).toBeLessThanOrEqual(longest + 1)
  }
})

const NOW = Date.UTC(2026, 10, 16, 7, 0, 0)
test.each([
  ['seconds', { 'retry-after': '7' }, 7_000],
  ['parts of a second', { 'retry-after': '0.25' }, 250],
  ['a date', { 'retry-after': new Date(NOW + 9_000).toUTCString() }, 9_000],
  ['milliseconds, which are more exact', { 'retry-after-ms': '1234', 'retry-after': '2' }, 1_234],
])('a wait that is asked for in %s is kept, and a little more', async (_name, headers, asked) => {
  await using asker = await openAsker('responses', [FAILURES.rateLimited(headers), hello], { now: () => NOW })
  expect((await asker.ask()).answer.kind).toBe('answered')
  const [wait = 0] = asker.waits
  expect(wait).toBeGreaterThanOrEqual(asked)
  expect(wait).toBeLessThanOrEqual(asked + 100)
})

test('a wait that stands in the words of an error in the stream is kept', async () => {
  const failed = { code: 'rate_limit_exceeded', message: 'Rate limit reached. Please try again in 11.054s.' }
  await using asker = await openAsker('responses', [{ pieces: [], end: { failed } }, hello])
  expect((await asker.ask()).answer.kind).toBe('answered')
  expect(asker.waits[0]).toBeGreaterThanOrEqual(11_054)
})

test.each(WIRES)('%s: a bound of the provider that outlasts ours ends it at once', async (wire) => {
  const tooLarge = 'Request too large for gpt on tokens per min (TPM): Limit 30000, Requested 40000.'
  await using asker = await openAsker(wire, [
    FAILURES.outOfQuota(),
    errorReply(402, null, 'Payment required'),
    errorReply(429, 'credit_balance_exhausted', 'No credit.', { type: 'insufficient_quota' }),
    errorReply(429, 'rate_limit_exceeded', tooLarge, { type: 'tokens' }),
    { pieces: [], end: { failed: { code: 'insufficient_quota', message: 'You exceeded your current quota.' } } },
    FAILURES.rateLimited({ 'retry-after': '3600' }),
  ])
  for (let round = 0; round < 5; round++)
    expect((await asker.ask()).answer).toMatchObject({ kind: 'failed', code: 'model_quota' })
  expect((await asker.ask()).answer).toMatchObject({
    kind: 'failed',
    code: 'model_overloaded',
    message: expect.stringContaining('it asks to wait 60 min'),
  })
  expect(asker.waits).toEqual([])
})

test('a 402 that says when to come back is waited for', async () => {
  const busy = errorReply(402, null, 'Too much is under way', { headers: { 'retry-after': '3' } })
  await using asker = await openAsker('chat', [busy, hello])
  expect((await asker.ask()).answer.kind).toBe('answered')
  expect(asker.waits[0]).toBeGreaterThanOrEqual(3_000)
})

test.each(WIRES)('%s: who watches is told what is wrong in a few words, which try comes, and of how many', async (wire) => {
  await using asker = await openAsker(
    wire,
    [
      FAILURES.rateLimited({ 'retry-after': '20' }),
      FAILURES.serverError(503),
      errorReply(503, 'server_is_overloaded', 'Slow down', { type: 'service_unavailable_error' }),
      FAILURES.serverError(529),
      hello,
    ],
    { limits: { attempts: 9 } },
  )
  const { told } = await asker.ask()
  const lines = told.filter(([what]) => what === 'retry').map(([, attempt, , , brief, most]) => [attempt, brief, most])
  expect(lines).toEqual([
    [2, 'the model is overloaded (429): Rate limit reached for requests', 9],
    [3, 'the model’s server failed (503)', 9],
    [4, 'the model is overloaded (503)', 9],
    [5, 'the model is overloaded (529): The server had an error while processing your request', 9],
  ])
})

test.each(WIRES)(
  '%s: the first sentence of a provider that is overloaded is told, without the key and within a bound',
  async (wire) => {
    const limited = (message: string) => errorReply(429, 'rate_limit_exceeded', message)
    await using asker = await openAsker(wire, [
      limited(`Rate limit reached for ${KEY} on tokens: Limit 3.5 k, used 3 k. Visit https://example.com to learn more.`),
      limited(`A limit ${'x'.repeat(1_000)}${KEY}`),
      limited('Too many requests.'),
      hello,
    ])
    const { told } = await asker.ask()
    const briefs = told.filter(([what]) => what === 'retry').map(([, , , , brief]) => String(brief))
    expect(briefs[0]).toMatch(/^the model is overloaded \(429\): Rate limit reached for \S+ on tokens: Limit 3\.5 k, used 3 k$/)
    expect(briefs[1]).toMatch(/^the model is overloaded \(429\): A limit x+…$/)
    expect(briefs[1]?.length).toBeLessThanOrEqual(301)
    expect(briefs[2]).toBe('the model is overloaded (429)')
    expect(briefs.join()).not.toContain(KEY)
  },
)

test.each(WIRES)('%s: that a connection broke off is said once', async (wire) => {
  await using asker = await openAsker(wire, [{ ...hello, manner: { cutAfterBytes: 100 } }, hello])
  const { told } = await asker.ask()
  const [retry] = told.filter(([what]) => what === 'retry')
  expect(retry?.[4]).toBe('the connection broke off')
})

test.each(WIRES)('%s: all waits together have a bound, whoever asks for them', async (wire) => {
  const limits = { waitedMs: 10_000 }
  await using asker = await openAsker(wire, () => FAILURES.rateLimited({ 'retry-after': '4' }), { limits })
  const { answer } = await asker.ask()
  expect(answer).toEqual({
    kind: 'failed',
    code: 'model_overloaded',
    message: expect.stringMatching(/429 rate_limit_exceeded: Rate limit .*; given up after 3 tries and \d+ s of waiting$/),
  })
  expect(asker.waits).toHaveLength(2)
})

test.each(WIRES)('%s: what stays wrong fails at once, with the words of the provider', async (wire) => {
  await using asker = await openAsker(wire, [
    FAILURES.badKey('sk-other'),
    errorReply(403, null, 'Country not supported'),
    errorReply(404, 'model_not_found', 'The model m1 does not exist'),
    errorReply(400, null, 'Something is odd'),
    { status: 422, body: { detail: [{ loc: ['body', 'model'], msg: 'Field is odd' }] } },
    { status: 307, headers: { location: 'http://127.0.0.1:1/' }, body: 'Moved' },
    { pieces: [], end: { failed: { code: 'invalid_prompt', message: 'Not this prompt' } } },
  ])
  const rejected = [
    ['model_unauthorized', 'Incorrect API key'],
    ['model_forbidden', 'Country not supported'],
    ['model_not_found', 'The model m1 does not exist'],
    ['model_rejected', 'Something is odd'],
    ['model_rejected', 'Field is odd'],
    ['model_misconfigured', 'Moved'],
    ['model_rejected', 'Not this prompt'],
  ]
  for (const [code, words] of rejected)
    expect((await asker.ask()).answer).toEqual({ kind: 'failed', code, message: expect.stringContaining(String(words)) })
  expect(asker.waits).toEqual([])
  expect(asker.server.requests).toHaveLength(7)
})

test.each(WIRES)('%s: after all tries the last failure is told', async (wire) => {
  await using asker = await openAsker(wire, () => FAILURES.serverError(), { limits: { attempts: 3 } })
  const { answer, exchanges } = await asker.ask()
  expect(answer).toMatchObject({ kind: 'failed', code: 'model_unavailable', message: expect.stringContaining('500') })
  expect(exchanges).toHaveLength(3)
  await using limited = await openAsker(wire, () => FAILURES.rateLimited(), { limits: { attempts: 2 } })
  expect((await limited.ask()).answer).toMatchObject({ kind: 'failed', code: 'model_overloaded' })
})

test.each(WIRES)('%s: a stream cut at any event is asked for again, and only the last answer counts', async (wire) => {
  const whole: Answer = { pieces: [{ reasoning: 'Hm.' }, { text: 'Hello!' }], manner: { deltaCharacters: 2 } }
  // Enough for every event of the answer; the last ones cut nothing.
  for (let events = 0; events < 20; events++) {
    await using asker = await openAsker(wire, [{ ...whole, manner: { deltaCharacters: 2, cutAfterEvents: events } }, whole])
    const { answer, told, exchanges } = await asker.ask()
    expect(answer).toMatchObject({ kind: 'answered', items: [{ type: 'reasoning' }, { type: 'message' }] })
    expect(textTold(told, 'message')).toBe('Hello!')
    expect(usagesTold(told)).toHaveLength(asker.server.requests.length)
    if (exchanges.length === 1) continue
    expect(exchanges).toMatchObject([{ outcome: 'cut', status: 200 }, { outcome: 'answered' }])
    expect(usagesTold(told)[0]?.[3]).toBe(true)
  }
})

test.each(WIRES)('%s: a stream cut inside an event is asked for again', async (wire) => {
  for (const bytes of [0, 1, 100, 333]) {
    await using asker = await openAsker(wire, [{ ...hello, manner: { cutAfterBytes: bytes } }, hello])
    expect((await asker.ask()).answer.kind).toBe('answered')
    expect(asker.server.requests).toHaveLength(2)
  }
})

test.each(WIRES)('%s: an answer that ends well but says nothing of its end is cut', async (wire) => {
  await using asker = await openAsker(wire, [{ ...hello, end: 'missing' }, hello])
  const { answer, exchanges } = await asker.ask()
  expect(answer.kind).toBe('answered')
  expect(exchanges).toMatchObject([{ outcome: 'cut' }, { outcome: 'answered' }])
})

test('tokens of a cut stream are guessed from both sides', async () => {
  const said = 'x'.repeat(4_000)
  const image = `data:image/png;base64,${'A'.repeat(100_000)}`
  const cut = { pieces: [{ text: said }], manner: { cutAfterEvents: 6, deltaCharacters: 4_000 } }
  await using asker = await openAsker('responses', [cut, hello])
  const content = [{ type: 'input_image', image_url: image }]
  const { told } = await asker.ask({ input: [{ type: 'message', role: 'user', content }] })
  const [first, second] = usagesTold(told)
  expect(first?.[3]).toBe(true)
  expect(first?.[2]).toMatchObject({ output_tokens: 1_000 })
  const input = first?.[2]
  expect(typeof input === 'object' && input !== null && 'input_tokens' in input ? input.input_tokens : 0).toBeLessThan(2_000)
  expect(second?.[3]).toBe(false)
  expect(first?.[1]).not.toBe(second?.[1])
})

test.each(WIRES)('%s: nobody listens: it is tried again, and told that it was not reached', async (wire) => {
  const asker = await openAsker(wire, [], { limits: { attempts: 3 } })
  await asker.server.close()
  const { answer, told, exchanges } = await asker.ask()
  await asker[Symbol.asyncDispose]()
  expect(answer).toMatchObject({ kind: 'failed', code: 'model_unavailable', message: expect.stringContaining('reached') })
  expect(exchanges).toMatchObject(Array.from({ length: 3 }, () => ({ status: null, outcome: 'failed' })))
  expect(usagesTold(told)).toEqual([])
})

test.each(WIRES)('%s: an error inside the stream is tried again when it may pass', async (wire) => {
  await using asker = await openAsker(wire, [
    { pieces: [{ text: 'Half' }], end: { failed: { code: 'server_error', message: 'Sorry' } } },
    { pieces: [{ text: 'Half' }], end: { error: { code: null, message: 'Overloaded' } } },
    hello,
  ])
  const { answer, told } = await asker.ask()
  expect(answer.kind).toBe('answered')
  expect(textTold(told, 'message')).toBe('Hello!')
  expect(asker.waits).toHaveLength(2)
})

test.each(WIRES)('%s: the key is in no error, exchange or event', async (wire) => {
  const headers = { 'x-request-id': KEY, 'x-parley-call': KEY, 'x-secret': 'other-secret-value' }
  await using asker = await openAsker(
    wire,
    [
      { ...FAILURES.serverError(), body: `<html>${KEY} other-secret-value</html>` },
      { pieces: [], end: { error: { code: null, message: `bad ${KEY}` } }, headers },
      { ...FAILURES.badKey(KEY), headers },
    ],
    { headers: { 'x-secret': 'other-secret-value' } },
  )
  const asked = await asker.ask()
  expect(asked.answer).toMatchObject({
    kind: 'failed',
    code: 'model_unauthorized',
    message: expect.stringContaining('[redacted]'),
  })
  expect(asked.exchanges).toHaveLength(3)
  expect(JSON.stringify(asked)).not.toContain(KEY)
  expect(JSON.stringify(asked)).not.toContain('other-secret-value')
})
