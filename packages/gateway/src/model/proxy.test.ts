import { connect } from 'node:net'
import { CHAT_EVENTS, CHAT_USAGE, RESPONSES_EVENTS, RESPONSES_USAGE, json, stream, text } from '@parley/models/testing'
import { describe, expect, test } from 'vitest'
import { until } from '../fixture/job-socket.ts'
import { MODEL, ModelBench, UPSTREAM_KEY } from '../fixture/model-bench.ts'

const TOKENS = {
  input_tokens: 100,
  cached_input_tokens: 20,
  output_tokens: 10,
  cached_output_tokens: 0,
  reasoning_output_tokens: 4,
}
/** 80 at 1, 20 at a half, 10 at 2. */
const COST = 110

describe.each([
  { wire: 'responses', events: RESPONSES_EVENTS, usage: RESPONSES_USAGE, sent: { store: false } },
  { wire: 'chat', events: CHAT_EVENTS, usage: CHAT_USAGE, sent: { stream_options: { include_usage: true } } },
] as const)('on the $wire wire', ({ wire, events, usage, sent }) => {
  test('a stream passes byte by byte, whatever its pieces, and is booked once by what it says itself', async () => {
    await using bench = await ModelBench.open({ wire })
    const { upstream } = bench
    const whole = text(events)
    upstream.answer = async (response) => {
      stream(response, { 'x-request-id': 'req_7', 'x-secret': 'no', 'x-ratelimit-remaining-tokens': '9' })
      // Every byte by itself: characters, lines and events are split everywhere.
      for (const byte of Buffer.from(whole)) {
        response.write(Buffer.of(byte))
        await new Promise((resolve) => setImmediate(resolve))
      }
      response.end()
    }
    const answer = await bench.ask()
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/event-stream')
    expect([answer.headers.get('x-request-id'), answer.headers.get('x-ratelimit-remaining-tokens')]).toEqual(['req_7', '9'])
    expect([answer.headers.get('x-secret'), answer.headers.get('x-parley-script')]).toEqual([null, null])
    const callId = answer.headers.get('x-parley-call')
    expect(await answer.text()).toBe(whole)
    const [booked, ...more] = await bench.booked(1)
    expect(more).toEqual([])
    expect(booked).toMatchObject({
      status: 'booked',
      source: 'proxy',
      estimated: false,
      callId,
      jobId: bench.jobId,
      claim: 1,
      attempt: 1,
      channel: 'main',
      model: MODEL,
      tokens: TOKENS,
      costMicrousd: COST,
    })
    expect(upstream.requests).toMatchObject([
      { method: 'POST', headers: { authorization: `Bearer ${UPSTREAM_KEY}` }, body: sent },
    ])
    expect(upstream.requests[0]?.path).toBe(bench.path)
  })

  test('an answer that is no stream passes as it is and is booked', async () => {
    await using bench = await ModelBench.open({ wire })
    const document = { id: 'x', usage, text: 'ü'.repeat(200_000) }
    bench.upstream.answer = json(200, document)
    const answer = await bench.ask({ stream: false })
    // Not compared by the matcher: it would print all of it.
    expect((await answer.text()) === JSON.stringify(document)).toBe(true)
    expect(await bench.booked(1)).toMatchObject([{ tokens: TOKENS, costMicrousd: COST, estimated: false }])
    expect(bench.upstream.requests[0]?.body).not.toHaveProperty('stream_options')
  })

  test('what ends an answer is booked before the client sees it', async () => {
    await using bench = await ModelBench.open({ wire })
    bench.upstream.answer = (response) => stream(response).write(text(events))
    const reader = (await bench.ask()).body?.getReader()
    await reader?.read()
    // The upstream has not even closed the stream.
    expect(await bench.gw.store.usages.totalOf(bench.jobId)).toMatchObject({ ...TOKENS, calls: 1, cost_microusd: COST })
    await reader?.cancel()
  })

  test('the other wire is refused with the one to use', async () => {
    await using bench = await ModelBench.open({ wire })
    const path = wire === 'chat' ? '/v1/responses' : '/v1/chat/completions'
    const answer = await bench.ask({}, { path })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toEqual({
      error: {
        message: `this model is asked by POST ${bench.path}`,
        type: 'invalid_request_error',
        code: 'wrong_wire',
        param: null,
      },
    })
    expect(bench.upstream.requests).toEqual([])
  })
})

test('a key lists its one model, and nothing else is below /v1', async () => {
  await using bench = await ModelBench.open()
  const authorization = `Bearer ${bench.prepared.api_key}`
  const { url } = bench.gw.gateway
  const list = await fetch(`${url}/v1/models`, { headers: { authorization } })
  expect(await list.json()).toMatchObject({ object: 'list', data: [{ id: MODEL, object: 'model', owned_by: 'main' }] })
  for (const [method, path] of [
    ['GET', '/v1'],
    ['GET', '/v1/responses'],
    ['POST', '/v1/models'],
    ['GET', `/v1/models/${MODEL}`],
    ['POST', '/v1/responses/'],
    ['POST', '/v1/embeddings'],
    ['DELETE', '/v1/responses'],
  ] as const) {
    const answer = await fetch(`${url}${path}`, { method, headers: { authorization, accept: 'text/html' } })
    expect([method, path, answer.status, answer.headers.get('x-parley-call')]).toEqual([
      method,
      path,
      404,
      expect.stringMatching(/^call_/),
    ])
    expect(await answer.json()).toEqual({
      error: { message: expect.any(String), type: 'invalid_request_error', code: 'unknown_url', param: null },
    })
  }
})

test('only a key of an attempt is taken, and who has another is told which is needed', async () => {
  await using bench = await ModelBench.open()
  const { gw } = bench
  const cases: [string | undefined, string, RegExp][] = [
    [undefined, 'missing_api_key', /no Authorization header/],
    ['Basic abc', 'invalid_api_key', /not "Bearer <key>"/],
    [`Bearer ${gw.adminToken}`, 'invalid_api_key', /token for \/mcp.*judge\.prepare_generate/],
    [`Bearer jdg_${'a'.repeat(43)}`, 'invalid_api_key', /token for \/mcp.*judge\.prepare_generate/],
    [`Bearer ${UPSTREAM_KEY}`, 'invalid_api_key', /no key that was made here.*judge\.prepare_generate/],
    [`Bearer mdl_${'a'.repeat(43)}`, 'invalid_api_key', /not known here/],
  ]
  for (const [authorization, code, message] of cases) {
    const answer = await fetch(`${gw.gateway.url}/v1/responses`, {
      method: 'POST',
      headers: authorization === undefined ? {} : { authorization },
    })
    const { error } = (await answer.json()) as { error: Record<string, unknown> }
    expect([answer.status, error['code'], error['type'], error['param']]).toEqual([401, code, 'authentication_error', null])
    expect(error['message']).toMatch(message)
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="parley"/)
  }
  // The key of an attempt is good for nothing but models.
  const mcp = await fetch(gw.gateway.mcp, { method: 'POST', headers: { authorization: `Bearer ${bench.prepared.api_key}` } })
  expect(mcp.status).toBe(401)
})

const saying = (part: object): object => ({ input: [{ type: 'message', role: 'user', content: [part] }] })

test('a request is checked field by field before anything is reserved or sent', async () => {
  await using bench = await ModelBench.open()
  const cases: [object, number, string][] = [
    [{ model: 'other' }, 404, 'model'],
    [{ model: 7 }, 400, 'model'],
    [{ stream: 'yes' }, 400, 'stream'],
    [{ background: true }, 400, 'background'],
    [{ store: true }, 400, 'store'],
    [{ previous_response_id: 'resp_1' }, 400, 'previous_response_id'],
    [{ conversation: 'conv_1' }, 400, 'conversation'],
    [{ prompt: { id: 'pmpt_1' } }, 400, 'prompt'],
    [{ max_output_tokens: 0 }, 400, 'max_output_tokens'],
    [{ max_output_tokens: 1.5 }, 400, 'max_output_tokens'],
    [{ tools: {} }, 400, 'tools'],
    [{ tools: [{ type: 'function', name: 'a' }, { type: 'web_search' }] }, 400, 'tools[1].type'],
    [{ tools: [{ type: 'mcp', server_url: 'http://x' }] }, 400, 'tools[0].type'],
    [{ tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'code_interpreter' }] }] }, 400, 'tools[0].tools[0].type'],
    [{ service_tier: 'priority' }, 400, 'service_tier'],
    [{ modalities: ['text', 'audio'] }, 400, 'modalities'],
    [saying({ type: 'input_image', image_url: 'https://x.example/a.png' }), 400, 'input[0].content[0].image_url'],
    [saying({ type: 'input_image', image_url: { url: 'file:///etc/passwd' } }), 400, 'input[0].content[0].image_url'],
    [saying({ type: 'input_image', file_id: 'file_1' }), 400, 'input[0].content[0].file_id'],
    [saying({ type: 'input_file', file_url: 'https://x.example/a.pdf' }), 400, 'input[0].content[0].file_url'],
    [
      { input: [{ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_image', image_url: 'http://x' }] }] },
      400,
      'input[0].output[0].image_url',
    ],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 400, 'input[0].type'],
  ]
  for (const [more, status, param] of cases) {
    const answer = await bench.ask(more)
    const { error } = (await answer.json()) as { error: Record<string, unknown> }
    expect([answer.status, error['param'], error['type']]).toEqual([status, param, 'invalid_request_error'])
    expect(String(error['message'])).toContain(`${param}: `)
  }
  for (const body of ['', 'x', '[]', '"x"', '{"model"'])
    expect(await (await bench.ask({}, { body })).json()).toMatchObject({ error: { code: 'invalid_json' } })
  expect((await bench.ask({}, { headers: { 'content-type': 'text/plain' } })).status).toBe(415)
  expect(bench.upstream.requests).toEqual([])
  expect(await bench.gw.store.usages.spentOnJob(bench.jobId)).toEqual({ tokens: 0, microusd: 0 })
})

test('a body of more values than a conversation has is refused, and the provider hears nothing of it', async () => {
  await using bench = await ModelBench.open()
  const got = await bench.ask({}, { body: `{"model":"${MODEL}","input":[${'[],'.repeat(150_000)}[]]}` })
  expect(got.status).toBe(413)
  expect(await got.json()).toMatchObject({
    error: { code: 'request_too_large', message: 'a request holds at most 200000 values' },
  })
  expect(bench.upstream.requests).toEqual([])
})

test('fields that say nothing, and tools that the client runs itself, pass', async () => {
  await using bench = await ModelBench.open()
  bench.upstream.answer = (response) => stream(response).end(text(RESPONSES_EVENTS))
  const tools = [
    { type: 'function', name: 'a', parameters: {} },
    { type: 'custom', name: 'apply_patch' },
    { type: 'namespace', name: 'mcp__gw', tools: [{ name: 'echo' }, { type: 'function', name: 'add' }] },
  ]
  const more = { tools, background: false, store: null, previous_response_id: null, instructions: 'ü'.repeat(40) }
  expect((await bench.ask(more)).status).toBe(200)
  // Two parsers could read a doubled name in two ways: what goes on is what was checked.
  const doubled = `{"model":"other","model":"${MODEL}","store":true,"store":false,"input":"x"}`
  expect((await bench.ask({}, { body: doubled })).status).toBe(200)
  expect(bench.upstream.requests.map(({ body }) => body)).toEqual([
    { model: MODEL, stream: true, input: 'hello', tools, instructions: more.instructions, store: false },
    { model: MODEL, store: false, input: 'x' },
  ])
})

test('what nobody here knows does not go on, and neither does a tier', async () => {
  await using bench = await ModelBench.open()
  bench.upstream.answer = (response) => stream(response).end(text(RESPONSES_EVENTS))
  const unknown = { service_tier: 'auto', container: { file_ids: ['f'] }, callback_url: 'https://x.example', fast: true }
  expect((await bench.ask({ ...unknown, temperature: 0.5 })).status).toBe(200)
  expect(bench.upstream.requests.map(({ body }) => body)).toEqual([
    { model: MODEL, stream: true, input: 'hello', temperature: 0.5, store: false },
  ])
})

test('a body that is too large is refused, announced or not', async () => {
  await using bench = await ModelBench.open()
  const mebibyte = 1024 * 1024
  const { hostname, port } = new URL(bench.gw.gateway.url)
  const head = `POST ${bench.path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${bench.prepared.api_key}\r\n`
  /** What a plain socket hears that sends until it is told to stop. */
  const heard = async (headers: string, pieces: Iterable<Buffer | string>): Promise<string> => {
    const socket = connect(Number(port), hostname)
    // The rest of the body is never read: the connection may end as it pleases once the answer is there.
    socket.on('error', () => undefined)
    let text = ''
    socket.on('data', (piece: Buffer) => (text += piece.toString()))
    socket.write(`${head}content-type: application/json\r\n${headers}\r\n\r\n`)
    for (const piece of pieces) {
      if (text !== '') break
      await new Promise((resolve) => socket.write(piece, resolve))
    }
    await until(() => text.includes('\r\n\r\n') && text.endsWith('}'))
    socket.destroy()
    return text
  }
  const chunk = Buffer.concat([Buffer.from(`${mebibyte.toString(16)}\r\n`), Buffer.alloc(mebibyte, 'x'), Buffer.from('\r\n')])
  for (const text of [
    await heard(`content-length: ${33 * mebibyte}`, []),
    await heard(
      'transfer-encoding: chunked',
      Array.from({ length: 33 }, () => chunk),
    ),
  ]) {
    expect(text).toMatch(/^HTTP\/1\.1 413 /)
    expect(text.toLowerCase()).toContain('connection: close')
    expect(JSON.parse(text.slice(text.indexOf('{')))).toMatchObject({
      error: { code: 'request_too_large', type: 'invalid_request_error', param: null },
    })
  }
  expect(bench.upstream.requests).toEqual([])
})
