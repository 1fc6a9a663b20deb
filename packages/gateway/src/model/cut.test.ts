import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { JOB_LIMITS } from '@parley/protocol'
import { RESPONSES_EVENTS, event, json, stream, text } from '@parley/models/testing'
import { expect, test } from 'vitest'
import { openGateway } from '../gateway.ts'
import { until } from '../fixture/job-socket.ts'
import { ModelBench, UPSTREAM_KEY } from '../fixture/model-bench.ts'
import { optionsOf } from '../fixture/test-gateway.ts'

const [CREATED = {}, DELTA = {}] = RESPONSES_EVENTS
const BEGUN = event(CREATED) + event(DELTA)
/** "Grüße, 世界" by its length. */
const WRITTEN = 4

/** Begins an answer and leaves it open. */
async function begin(bench: ModelBench) {
  bench.upstream.answer = (response) => stream(response).write(BEGUN)
  const answer = await bench.ask()
  const reader = answer.body?.getReader()
  if (reader === undefined) throw new Error('there is no body')
  const first = await reader.read()
  expect(Buffer.from(first.value ?? []).toString()).toBe(BEGUN)
  return reader
}

/** What a request without a bound sets aside for its answer. */
const SET_ASIDE = 16_384

/** What a stream leaves in the books that its upstream cut. */
const ESTIMATED = {
  status: 'booked',
  estimated: true,
  tokens: { input_tokens: expect.any(Number), output_tokens: WRITTEN },
  costMicrousd: expect.any(Number),
}
/** Where we hung up, nobody knows what the model had thought by then. */
const WHOLE = { ...ESTIMATED, tokens: { input_tokens: expect.any(Number), output_tokens: SET_ASIDE } }

test('a client that goes away ends the request upstream at once, and what was set aside is booked', async () => {
  await using bench = await ModelBench.open()
  const reader = await begin(bench)
  expect(bench.upstream.left).toBe(0)
  await reader.cancel()
  await until(() => bench.upstream.left === 1)
  expect(await bench.booked(1)).toMatchObject([WHOLE])
  const [{ tokens, costMicrousd } = { tokens: undefined, costMicrousd: 0 }] = await bench.booked(1)
  expect(tokens?.input_tokens).toBeGreaterThan(10)
  expect(costMicrousd).toBe((tokens?.input_tokens ?? 0) + 2 * SET_ASIDE)
  expect(await bench.gw.store.usages.totalOf(bench.jobId)).toMatchObject({ calls: 1, estimated_calls: 1 })
})

test('an upstream that breaks off cuts the client too, and is booked as estimated', async () => {
  await using bench = await ModelBench.open()
  bench.upstream.answer = async (response) => {
    await new Promise((resolve) => stream(response).write(BEGUN, resolve))
    response.destroy()
  }
  const answer = await bench.ask()
  await expect(answer.text()).rejects.toThrow('terminated')
  expect(await bench.booked(1)).toMatchObject([ESTIMATED])
  // It is not our fault, so the log does not say so.
  expect(bench.gw.logged.filter((line) => line.includes('"level":"error"'))).toEqual([])
})

test('a stream that ends without a word about its usage is booked as estimated', async () => {
  await using bench = await ModelBench.open()
  bench.upstream.answer = (response) => stream(response).end(BEGUN)
  expect(await (await bench.ask()).text()).toBe(BEGUN)
  expect(await bench.booked(1)).toMatchObject([ESTIMATED])
})

test('a stream is cut within moments after its job was cancelled, and the key is dead', async () => {
  await using bench = await ModelBench.open()
  const reader = await begin(bench)
  await bench.gw.store.jobs.cancel(bench.jobId)
  await expect(reader.read()).rejects.toThrow('terminated')
  await until(() => bench.upstream.left === 1)
  expect(await bench.booked(1)).toMatchObject([WHOLE])
  const again = await bench.ask()
  expect([again.status, await again.json()]).toMatchObject([
    401,
    { error: { code: 'expired_api_key', message: 'this key does not work any more: its job is cancelled' } },
  ])
})

test('a stream is cut when the claim is given back, and when the lease runs out', async () => {
  await using bench = await ModelBench.open()
  const reader = await begin(bench)
  await bench.judge.ok('judge.release_claim', { ...bench.claim, reason: 'unfinished' })
  await expect(reader.read()).rejects.toThrow('terminated')
  const over = await bench.ask()
  expect([over.status, await over.json()]).toMatchObject([401, { error: { code: 'expired_api_key' } }])
  await bench.settled()

  let ahead = 0
  const now = (): number => Date.now() + ahead
  await using short = await ModelBench.open({ gateway: { now }, storeNow: now })
  const lost = await begin(short)
  ahead = JOB_LIMITS.leaseMs + 1
  await expect(lost.read()).rejects.toThrow('terminated')
  const late = await short.ask()
  expect([late.status, await late.json()]).toMatchObject([401, { error: { code: 'expired_api_key' } }])
  expect(await short.booked(1)).toMatchObject([WHOLE])
})

test('a key that is made anew replaces the one before', async () => {
  await using bench = await ModelBench.open()
  const reader = await begin(bench)
  const { api_key: old } = bench.prepared
  await bench.prepare()
  expect((await bench.ask({}, { key: old })).status).toBe(401)
  await expect(reader.read()).rejects.toThrow('terminated')
  bench.upstream.answer = (response) => stream(response).end(text(RESPONSES_EVENTS))
  expect((await bench.ask()).status).toBe(200)
})

test('a cut before the answer began says why', async () => {
  await using bench = await ModelBench.open()
  bench.upstream.answer = () => undefined
  const asking = bench.ask()
  await until(() => bench.upstream.requests.length === 1)
  await bench.gw.store.jobs.cancel(bench.jobId)
  const answer = await asking
  expect([answer.status, await answer.json()]).toMatchObject([401, { error: { code: 'expired_api_key' } }])
  expect(await bench.booked(1)).toMatchObject([{ estimated: true, tokens: { output_tokens: SET_ASIDE } }])
})

test('a client that reads slowly holds its upstream back and gets every byte', async () => {
  await using bench = await ModelBench.open()
  const line = event({ type: 'response.output_text.delta', delta: 'x'.repeat(60_000) })
  const lines = 1_000
  let written = 0
  bench.upstream.answer = async (response) => {
    stream(response)
    for (; written < lines; written += 1)
      if (!response.write(line)) await new Promise((resolve) => response.once('drain', resolve))
    response.end(event(RESPONSES_EVENTS.at(-1) ?? {}))
  }
  const { hostname, port } = new URL(bench.gw.gateway.url)
  const body = JSON.stringify({ model: bench.prepared.model, stream: true, input: 'x' })
  const socket = connect(Number(port), hostname)
  socket.write(
    `POST ${bench.path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${bench.prepared.api_key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  )
  // Nobody reads: once all buffers on the way are full, the upstream cannot write any more.
  let before = -1
  await until(async () => {
    const same = written === before && written > 0
    before = written
    await new Promise((resolve) => setTimeout(resolve, 200))
    return same
  })
  expect(written).toBeLessThan(lines)
  let bytes = 0
  for await (const piece of socket) bytes += (piece as Buffer).length
  expect(bytes).toBeGreaterThan(lines * line.length)
  expect(await bench.booked(1)).toMatchObject([{ estimated: false, tokens: { output_tokens: 10 } }])
})

test('a stalled client does not keep its stream when the key is over', async () => {
  await using bench = await ModelBench.open()
  const line = event({ type: 'response.output_text.delta', delta: 'x'.repeat(60_000) })
  bench.upstream.answer = (response) => {
    stream(response)
    const fill = (): void => {
      while (!response.destroyed && response.write(line));
      response.once('drain', fill)
    }
    fill()
  }
  const answer = await bench.ask()
  await bench.gw.store.jobs.cancel(bench.jobId)
  await until(() => bench.upstream.left === 1)
  await bench.settled()
  await expect(answer.arrayBuffer()).rejects.toThrow('terminated')
})

test('a gateway that closes lets a stream end in its grace, and cuts and books what lasts longer', async () => {
  await using bench = await ModelBench.open()
  let open: ServerResponse | undefined
  bench.upstream.answer = (response) => {
    open = stream(response)
    open.write(BEGUN)
  }
  const ends = await bench.ask()
  const closing = bench.gw.gateway.close(5_000)
  // Nothing new is taken, and what is under way ends by itself.
  expect((await bench.ask().catch(() => undefined))?.status ?? 503).toBe(503)
  open?.end(event(RESPONSES_EVENTS.at(-1) ?? {}))
  expect(await ends.text()).toContain('response.completed')
  await closing
  expect(await bench.booked(1)).toMatchObject([{ estimated: false }])

  await bench.gw.restart()
  bench.upstream.answer = (response) => stream(response).write(BEGUN)
  const lasts = await bench.ask()
  await bench.gw.gateway.close(100)
  await expect(lasts.text()).rejects.toThrow('terminated')
  expect(await bench.gw.store.usages.totalOf(bench.jobId)).toMatchObject({ calls: 2, estimated_calls: 1 })
  await bench.settled()
})

test('what a gateway had reserved when it was killed is booked as estimated at the next start, and not again', async () => {
  await using bench = await ModelBench.open()
  const { usages } = bench.gw.store
  const reader = await begin(bench)
  const { tokens } = await usages.spentOnJob(bench.jobId)
  expect(tokens).toBeGreaterThan(16_000)
  expect(await usages.totalOf(bench.jobId)).toMatchObject({ calls: 0 })
  // A second gateway on the same database: it knows nothing of the stream, as after a kill of the first.
  const other = await openGateway(optionsOf(bench.gw.store, [], bench.settings))
  await other.close(100)
  const settled = await usages.ofJob(bench.jobId)
  expect(settled).toMatchObject([{ status: 'booked', estimated: true, tokens: { output_tokens: 0 } }])
  await reader.cancel()
  await until(() => bench.upstream.left === 1)
  await bench.gw.restart()
  expect(await usages.ofJob(bench.jobId)).toEqual(settled)
})

test('an upstream’s refusal is passed on without the key, and costs nothing', async () => {
  await using bench = await ModelBench.open()
  const { upstream } = bench
  const refused = async (answer: typeof upstream.answer) => {
    upstream.answer = answer
    const got = await bench.ask()
    return { status: got.status, headers: got.headers, text: await got.text() }
  }
  const limited = await refused(
    json(429, { error: { message: `key ${UPSTREAM_KEY} is slow`, type: 'x', code: 'rate' } }, { 'retry-after': '7' }),
  )
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7'])
  expect(limited.text).not.toContain(UPSTREAM_KEY)
  expect(JSON.parse(limited.text)).toEqual({
    error: { message: expect.stringMatching(/^key \*+ is slow$/), type: 'x', code: 'rate' },
  })

  const page = await refused((response) => response.writeHead(503, { 'content-type': 'text/html' }).end(`<b>${UPSTREAM_KEY}</b>`))
  expect([page.status, page.headers.get('content-type')]).toEqual([503, 'application/json'])
  expect(JSON.parse(page.text)).toMatchObject({ error: { type: 'server_error', code: 'upstream_503', param: null } })
  expect(page.text).not.toContain(UPSTREAM_KEY)

  const denied = await refused(json(401, { error: { message: `Incorrect API key provided: ${UPSTREAM_KEY}` } }))
  expect([denied.status, JSON.parse(denied.text)]).toMatchObject([424, { error: { code: 'upstream_unauthorized' } }])
  expect(denied.text).not.toContain(UPSTREAM_KEY)
  expect(bench.gw.logged.filter((line) => line.includes('"level":"warn"')).join('')).toContain('"channel":"main"')

  const moved = await refused((response) => response.writeHead(307, { location: `${upstream.url}/elsewhere` }).end())
  expect([moved.status, JSON.parse(moved.text)]).toMatchObject([424, { error: { code: 'upstream_redirected' } }])
  const website = await refused((response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'))
  expect([website.status, JSON.parse(website.text)]).toMatchObject([424, { error: { code: 'upstream_bad_answer' } }])
  expect(upstream.requests).toHaveLength(5)
  await bench.settled()
  expect(await bench.gw.store.usages.totalOf(bench.jobId)).toMatchObject({ calls: 0 })
  expect(bench.gw.logged.join('')).not.toContain(UPSTREAM_KEY)
})

test('the key does not leave in a stream either, also when it is cut in two', async () => {
  await using bench = await ModelBench.open()
  const whole = text([{ type: 'response.output_text.delta', delta: `the key is ${UPSTREAM_KEY}` }, ...RESPONSES_EVENTS])
  bench.upstream.answer = async (response) => {
    stream(response)
    for (let at = 0; at < whole.length; at += 7) {
      response.write(whole.slice(at, at + 7))
      await new Promise((resolve) => setImmediate(resolve))
    }
    response.end()
  }
  expect(await (await bench.ask()).text()).toBe(whole.replaceAll(UPSTREAM_KEY, '*'.repeat(UPSTREAM_KEY.length)))
})

test('an upstream that is not there is a 502, and nothing is booked', async () => {
  await using bench = await ModelBench.open()
  await bench.upstream[Symbol.asyncDispose]()
  const answer = await bench.ask()
  expect([answer.status, await answer.json()]).toEqual([
    502,
    {
      error: {
        message: `channel main cannot be reached at ${new URL(bench.upstream.url).host}: the connection was refused; check that its server runs and its base URL is right; it comes from the settings of this gateway: an admin changes that and restarts the gateway`,
        type: 'server_error',
        code: 'upstream_unreachable',
        param: null,
      },
    },
  ])
  await bench.settled()
  expect(await bench.gw.store.usages.totalOf(bench.jobId)).toMatchObject({ calls: 0 })
})
