import { TOOLS } from '@parley/protocol'
import { RESPONSES_EVENTS, json, stream, text } from '@parley/models/testing'
import { describe, expect, test } from 'vitest'
import { MODEL, ModelBench, UPSTREAM_KEY } from '../fixture/model-bench.ts'
import { callTool, mint } from '../fixture/test-gateway.ts'
import { addJob } from '../fixture/test-judge.ts'
import { dialledUrl } from '../http/dialled-url.ts'

const PREPARE = TOOLS['judge.prepare_generate']

test('an attempt gets all that an engine needs, and no secret but its own key', async () => {
  await using bench = await ModelBench.open({ budget: { tokens: 5_000, microusd: null } })
  const { prepared } = bench
  const baseUrl = `${bench.gw.gateway.url}/v1`
  expect(prepared).toEqual({
    base_url: baseUrl,
    api_key: expect.stringMatching(/^mdl_[A-Za-z0-9_-]{43}$/),
    model: MODEL,
    upstream_channel: 'main',
    wire: 'responses',
    expires_at: expect.any(String),
    budget: { requests: 200, tokens: 5_000, microusd: null, wall_ms: 1_200_000 },
    prices: {
      input_microusd_per_1m_tokens: 1_000_000,
      cached_input_microusd_per_1m_tokens: 500_000,
      output_microusd_per_1m_tokens: 2_000_000,
      cached_output_microusd_per_1m_tokens: null,
      reasoning_microusd_per_1m_tokens: null,
    },
    context_tokens: null,
    script: false,
    effective_config_toml: [
      `model = "${MODEL}"`,
      'model_provider = "parley"',
      'model_reasoning_effort = "medium"',
      '',
      '[model_providers.parley]',
      'name = "Parley"',
      `base_url = "${baseUrl}"`,
      'wire_api = "responses"',
      'env_key = "OPENAI_API_KEY"',
      '',
    ].join('\n'),
    auth_json_b64: expect.any(String),
    openai_base_url: baseUrl,
    mock_mode: false,
    action: 'continue',
  })
  expect(JSON.parse(Buffer.from(prepared.auth_json_b64, 'base64').toString())).toEqual({ OPENAI_API_KEY: prepared.api_key })
  expect(new Date(prepared.expires_at).getTime()).toBeGreaterThan(Date.now())
  expect(JSON.stringify(prepared)).not.toContain(UPSTREAM_KEY)
  // Neither key is in the log, and the database has the hash alone.
  expect(bench.gw.logged.join('')).not.toContain(prepared.api_key)
  expect(await bench.gw.store.modelKeys.find(prepared.api_key)).toBeUndefined()
})

test('the budget is what is left of the job’s and of its owner’s day', async () => {
  const quota = { tokensPerDay: 20_000, microusdPerDay: 300 }
  await using bench = await ModelBench.open({ budget: { tokens: 400, microusd: null }, gateway: { quota } })
  expect(bench.prepared.budget).toMatchObject({ tokens: 400, microusd: 300 })
  bench.upstream.answer = (response) => stream(response).end(text(RESPONSES_EVENTS))
  const ask = async () => (await bench.ask({ max_output_tokens: 20 })).text()
  await ask()
  expect((await bench.prepare(2)).budget).toMatchObject({ tokens: 290, microusd: 190 })
  await ask()
  expect((await bench.prepare(3)).budget).toMatchObject({ tokens: 180, microusd: 80 })
  await ask()
  const { judge, claim } = bench
  expect(await judge.refused('judge.prepare_generate', { ...claim, attempt: 4 })).toMatchObject({
    code: 'quota_exceeded',
    message: expect.stringMatching(/^microusd_per_day: 330 of 300 micro-USD .*resets_at \d{4}-\d\d-\d\dT00:00:00\.000Z$/),
  })
})

test('a job’s own budget that is used up says so', async () => {
  await using bench = await ModelBench.open({ budget: { tokens: 200, microusd: null } })
  bench.upstream.answer = (response) => stream(response).end(text(RESPONSES_EVENTS))
  await (await bench.ask({ max_output_tokens: 20 })).text()
  await bench.prepare(2)
  await (await bench.ask({ max_output_tokens: 20 })).text()
  expect(await bench.judge.refused('judge.prepare_generate', { ...bench.claim, attempt: 3 })).toMatchObject({
    code: 'quota_exceeded',
    message: 'budget.tokens: 220 of 200 tokens of the job are used or set aside',
  })
})

test('who has no model, or one that is gone, is told so', async () => {
  await using bench = await ModelBench.open()
  const { gw, judge } = bench
  await addJob(gw.store)
  expect(await judge.refused('judge.prepare_generate', await judge.claim())).toMatchObject({
    code: 'conflict',
    message: 'this job has no model: its code is judged as it is',
  })
  bench.upstream.answer = json(200, { object: 'list', data: [{ id: 'another' }] })
  await addJob(gw.store, { model: 'never-heard-of' })
  expect(await judge.refused('judge.prepare_generate', await judge.claim())).toMatchObject({ code: 'not_found', field: 'model' })
  // The key that is out already stops with its channel.
  await gw.admin('channel.delete', { name: 'main' })
  const answer = await bench.ask()
  expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: 'model_not_found', param: 'model' } }])
})

describe('the address of the proxy', () => {
  test('is below the one that the judge dialled, on both wires', async () => {
    await using bench = await ModelBench.open()
    const { gw, claim } = bench
    const { token } = await mint(gw, { role: 'judge', name: 'elsewhere' })
    const named = gw.gateway.url.replace('127.0.0.1', 'localhost')
    for (const url of [named, gw.gateway.url]) {
      const { structuredContent } = await callTool(url, token, 'judge.prepare_generate', claim)
      expect(PREPARE.output.parse(structuredContent).base_url).toBe(`${url}/v1`)
    }
  })

  test('is the known one where the names are the same, and never more than a host', () => {
    const proxied = { known: 'https://parley.example/base', secure: false }
    expect(dialledUrl(undefined, proxied)).toBe('https://parley.example/base')
    expect(dialledUrl('Parley.example', proxied)).toBe('https://parley.example/base')
    expect(dialledUrl('10.0.0.5:7400', proxied)).toBe('http://10.0.0.5:7400')
    expect(dialledUrl('10.0.0.5', { ...proxied, secure: true })).toBe('https://10.0.0.5')
    expect(dialledUrl('u:p@10.0.0.5/x?y#z', proxied)).toBe('http://10.0.0.5')
    expect(dialledUrl('%', proxied)).toBe('https://parley.example/base')
  })
})
