import type { ServerResponse } from 'node:http'
import { NO_PRICES } from '@parley/protocol'
import { RESPONSES_EVENTS, event, json, stream, text } from '@parley/models/testing'
import { expect, test } from 'vitest'
import { until } from '../fixture/job-socket.ts'
import { ModelBench } from '../fixture/model-bench.ts'

interface Refused {
  readonly error: { readonly code: string; readonly message: string; readonly type: string; readonly param: string | null }
}
const DAY_MS = 86_400_000
/** Writes for ever, as fast as somebody reads. */
const endless = (response: ServerResponse): void => {
  stream(response)
  const more = (): void => {
    if (response.destroyed) return
    response.write(event({ type: 'response.output_text.delta', delta: 'x'.repeat(400) }), () => setImmediate(more))
  }
  more()
}
const end = (response: ServerResponse) => stream(response).end(text(RESPONSES_EVENTS))

test('calls at once cannot pass the budget of the job together', async () => {
  // Each may come to a little more than 1,000 tokens: three fit, a fourth does not.
  await using bench = await ModelBench.open({ budget: { tokens: 3_500, microusd: null } })
  const open: ServerResponse[] = []
  bench.upstream.answer = (response) => open.push(response)
  const asking = Array.from({ length: 4 }, () => bench.ask({ max_output_tokens: 1_000 }))
  await until(() => open.length === 3)
  const refused = await Promise.race(asking)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, null])
  const { error } = (await refused.json()) as Refused
  expect([error.code, error.type]).toEqual(['budget_exceeded', 'rate_limit_error'])
  expect(error.message).toMatch(/budget\.tokens: \d+ of 3500 tokens of the job/)
  for (const response of open) end(response)
  const answers = await Promise.all(asking)
  for (const answer of answers) if (!answer.bodyUsed) await answer.text()
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
  // What they really came to is far less, so there is room again.
  expect(await bench.gw.store.usages.spentOnJob(bench.jobId)).toEqual({ tokens: 330, microusd: 330 })
  bench.upstream.answer = end
  expect((await bench.ask({ max_output_tokens: 1_000 })).status).toBe(200)
})

test('money is reserved at the dearest price, and the words say how much is left', async () => {
  await using bench = await ModelBench.open({ budget: { tokens: null, microusd: 1_000 } })
  const { error } = (await (await bench.ask({ max_output_tokens: 600 })).json()) as Refused
  expect(error).toMatchObject({
    code: 'budget_exceeded',
    message: expect.stringMatching(/budget\.microusd: 0 of 1000 micro-USD/),
  })
  bench.upstream.answer = end
  expect((await bench.ask({ max_output_tokens: 400 })).status).toBe(200)
})

test('the owner’s day is a quota that says when it starts anew', async () => {
  await using bench = await ModelBench.open({ gateway: { quota: { tokensPerDay: 500 } } })
  const refused = await bench.ask({ max_output_tokens: 1_000 })
  const { error } = (await refused.json()) as Refused
  expect([refused.status, error.code]).toEqual([429, 'quota_exceeded'])
  const resetsAt = new Date(error.message.match(/resets_at (\S+)$/)?.[1] ?? '').getTime()
  expect(resetsAt % DAY_MS).toBe(0)
  expect(resetsAt).toBeGreaterThan(Date.now())
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(DAY_MS / 1_000)
  expect(bench.upstream.requests).toEqual([])
  expect(await bench.gw.store.usages.spentOnJob(bench.jobId)).toEqual({ tokens: 0, microusd: 0 })
})

test('a request without a bound of its own gets what is left, and is cut when it writes more', async () => {
  await using bench = await ModelBench.open({ budget: { tokens: 1_000, microusd: null } })
  bench.upstream.answer = end
  expect((await bench.ask()).status).toBe(200)
  bench.upstream.answer = endless
  const answer = await bench.ask()
  expect(answer.status).toBe(200)
  await expect(answer.text()).rejects.toThrow('terminated')
  await until(() => bench.upstream.left === 1)
  const [, cut] = await bench.booked(2)
  expect(cut).toMatchObject({ estimated: true })
  expect(cut?.tokens.output_tokens).toBeGreaterThan(800)
  const { error } = (await (await bench.ask()).json()) as Refused
  expect(error.code).toBe('budget_exceeded')
})

test.each([
  ['tokens', { tokens: 30_000, microusd: null }, {}],
  ['money', { tokens: null, microusd: 60_000 }, {}],
  [
    'tokens, and the client set a bound that the upstream does not keep',
    { tokens: 3_000, microusd: null },
    { max_output_tokens: 500 },
  ],
])('an answer that never ends is cut when the budget is used up: %s', async (_, budget, body) => {
  await using bench = await ModelBench.open({ budget })
  bench.upstream.answer = endless
  const answer = await bench.ask(body)
  await expect(answer.text()).rejects.toThrow('terminated')
  const [cut] = await bench.booked(1)
  const { tokens, microusd } = await bench.gw.store.usages.spentOnJob(bench.jobId)
  expect(cut).toMatchObject({ estimated: true })
  // What a single piece of the answer may hold goes beyond.
  expect(tokens / (budget.tokens ?? tokens)).toBeLessThan(1.5)
  expect(microusd / (budget.microusd ?? microusd)).toBeLessThan(1.5)
})

const message = (...content: object[]): object => ({ input: [{ type: 'message', role: 'user', content }] })
const LONG = 'A'.repeat(400_000)

test.each([
  ['a text that looks like a picture', message({ type: 'input_text', text: `data:image/png;base64,${LONG}` }), 100_000],
  ['instructions that look like one', { input: 'x', instructions: `data:x/${LONG}` }, 100_000],
  ['a picture', message({ type: 'input_image', image_url: `data:image/png;base64,${LONG}` }), 1_500],
])('%s is counted as what the model reads', async (_, body, tokens) => {
  await using bench = await ModelBench.open({ budget: { tokens: 1_000, microusd: null } })
  const { error } = (await (await bench.ask({ ...body, max_output_tokens: 1 })).json()) as Refused
  const asked = Number(/up to (\d+) tokens/.exec(error.message)?.[1])
  expect([error.code, bench.upstream.requests.length]).toEqual(['budget_exceeded', 0])
  expect(asked / tokens).toBeGreaterThan(1)
  expect(asked / tokens).toBeLessThan(1.1)
})

test.each([
  ['the job', { budget: { tokens: null, microusd: 1_000 } }, 'budget.microusd'],
  ['the owner', { gateway: { quota: { microusdPerDay: 1_000 } } }, 'microusd_per_day'],
] as const)('a model without a price is not asked where the money of %s is bounded', async (_, options, bound) => {
  await using bench = await ModelBench.open({ ...options, prices: NO_PRICES })
  const refused = await bench.ask()
  expect([refused.status, await refused.json()]).toMatchObject([
    403,
    { error: { code: 'model_unpriced', param: 'model', message: expect.stringContaining(`has no price, and ${bound} bounds`) } },
  ])
  expect(bench.upstream.requests).toEqual([])
})

test('a provider hears how little is left, and is asked again when it does not know the field', async () => {
  await using bench = await ModelBench.open({ budget: { tokens: 2_000, microusd: null } })
  bench.upstream.answer = end
  expect((await bench.ask()).status).toBe(200)
  expect(bench.upstream.requests[0]?.body).toMatchObject({ max_output_tokens: expect.any(Number) })
  const bounds = { asked: 0 }
  bench.upstream.answer = (response, asked) => {
    bounds.asked += 1
    if (bounds.asked > 1) return end(response)
    return json(400, { error: { message: "Unknown parameter: 'max_output_tokens'." } })(response, asked)
  }
  expect((await bench.ask()).status).toBe(200)
  expect(bench.upstream.requests.at(-1)?.body).not.toHaveProperty('max_output_tokens')
  bench.upstream.answer = json(400, { error: { message: 'no such thing' } })
  const refused = await bench.ask()
  expect([refused.status, await refused.json()]).toEqual([400, { error: { message: 'no such thing' } }])
})

test('a key has four requests at once and no more', async () => {
  await using bench = await ModelBench.open()
  const open: ServerResponse[] = []
  bench.upstream.answer = (response) => open.push(response)
  const asking = Array.from({ length: 5 }, () => bench.ask())
  await until(() => open.length === 4)
  const refused = await Promise.race(asking)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
  expect(((await refused.json()) as Refused).error).toMatchObject({ code: 'rate_limited', type: 'rate_limit_error' })
  for (const response of open) end(response)
  for (const answer of await Promise.all(asking)) if (!answer.bodyUsed) await answer.text()
  bench.upstream.answer = end
  expect((await bench.ask()).status).toBe(200)
  const ids = (await bench.booked(5)).map(({ callId }) => callId)
  expect(new Set(ids).size).toBe(5)
})

test('requests and time of an attempt are bounded, and so is how fast they come', async () => {
  let now = Date.now()
  await using bench = await ModelBench.open({ gateway: { now: () => now, limits: { leaseMs: 3_600_000 } } })
  const codes: string[] = []
  for (let asked = 0; asked < 62; asked += 1)
    codes.push(((await (await bench.ask({ store: true })).json()) as Refused).error.code)
  expect([codes[59], codes[61]]).toEqual(['invalid_value', 'rate_limited'])
  for (let seconds = 0; seconds < 30; seconds += 1) {
    now += 1_000
    for (let asked = 0; asked < 5; asked += 1)
      codes.push(((await (await bench.ask({ store: true })).json()) as Refused).error.code)
  }
  expect(codes.filter((code) => code === 'invalid_value')).toHaveLength(200)
  expect(codes.at(-1)).toBe('budget_exceeded')
  await bench.prepare(2)
  expect(((await (await bench.ask({ store: true })).json()) as Refused).error.code).toBe('invalid_value')
  now += 21 * 60_000
  const { error } = (await (await bench.ask()).json()) as Refused
  expect(error).toMatchObject({ code: 'budget_exceeded', message: expect.stringContaining('budget.wall_ms') })
})

test('what passes is in the metrics, without a name', async () => {
  await using bench = await ModelBench.open()
  bench.upstream.answer = end
  await (await bench.ask()).text()
  await bench.ask({ store: true })
  await until(async () => (await (await fetch(`${bench.gw.gateway.url}/metrics`)).text()).includes('parley_model_in_flight 0'))
  const metrics = await (await fetch(`${bench.gw.gateway.url}/metrics`)).text()
  for (const line of [
    'parley_model_requests_total{wire="responses",outcome="ok"} 1',
    'parley_model_refusals_total{status="400",code="invalid_value"} 1',
    'parley_model_tokens_total{kind="input"} 100',
    'parley_model_tokens_total{kind="cached_input"} 20',
    'parley_model_tokens_total{kind="output"} 10',
    'parley_model_cost_microusd_total 110',
  ])
    expect(metrics).toContain(line)
  expect(metrics).not.toContain('gpt-test')
})
