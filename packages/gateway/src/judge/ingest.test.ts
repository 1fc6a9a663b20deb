import { Usage } from '@parley/protocol'
import { RESPONSES_EVENTS, event, stream, text } from '@parley/models/testing'
import { expect, test } from 'vitest'
import { ModelBench } from '../fixture/model-bench.ts'

const TOLD = { input_tokens: 1_000, cached_input_tokens: 400, output_tokens: 50 }
const NONE = { calls: 0, unpriced_calls: 0, estimated_calls: 0, cost_microusd: 0 }

/** What is in `usage.json` now; `undefined` when there is none. */
async function usageJson({ gw, jobId }: ModelBench): Promise<Usage | undefined> {
  const artifact = (await gw.store.jobs.artifacts(jobId)).find(({ name }) => name === 'usage.json')
  const read = artifact === undefined ? undefined : await gw.store.blobs.read(artifact.sha256, 0, 100_000)
  return read === undefined ? undefined : Usage.parse(JSON.parse(Buffer.from(read.bytes).toString()))
}

test('what passed the proxy is not booked again, and another count is only logged', async () => {
  await using bench = await ModelBench.open()
  const { judge, claim } = bench
  bench.upstream.answer = (response) => stream(response).end(text(RESPONSES_EVENTS))
  const answer = await bench.ask()
  await answer.text()
  const call_id = answer.headers.get('x-parley-call')
  const total = { calls: 1, input_tokens: 100, cached_input_tokens: 20, output_tokens: 10, cost_microusd: 110 }
  const ingest = (usage: object, more: object = {}) => judge.ok('judge.usage.ingest', { ...claim, attempt: 1, usage, ...more })
  const same = { input_tokens: 100, cached_input_tokens: 20, output_tokens: 10, reasoning_output_tokens: 4 }
  expect(await ingest(same, { call_id })).toMatchObject({ booked: false, total })
  expect(bench.gw.logged.join('')).not.toContain('a judge counts otherwise')
  expect(await ingest(TOLD, { call_id })).toMatchObject({ booked: false, total })
  expect(bench.gw.logged.join('')).toContain('a judge counts otherwise')
  expect(await ingest(TOLD)).toMatchObject({ booked: false, total })
  expect(await usageJson(bench)).toMatchObject({
    schema_version: 'usage.v1',
    model: 'gpt-test',
    codex_thread_id: null,
    usage: { ...same, cached_output_tokens: 0 },
    cost_microusd: 110,
    calls: 1,
    unpriced_calls: 0,
    estimated_calls: 0,
  })
})

test('what did not pass it is booked once per call, at the price of its model', async () => {
  await using bench = await ModelBench.open()
  const { judge, claim } = bench
  const ingest = (more: object = {}) => judge.ok('judge.usage.ingest', { ...claim, attempt: 2, usage: TOLD, ...more })
  // 600 at 1, 400 at a half, 50 at 2.
  const total = { calls: 1, input_tokens: 1_000, output_tokens: 50, cost_microusd: 900, unpriced_calls: 0 }
  const answers = await Promise.all([ingest(), ingest(), ingest()])
  expect(answers.filter(({ booked }) => booked === true)).toHaveLength(1)
  expect(await ingest()).toMatchObject({ booked: false, total })
  expect(await ingest({ call_id: 'b', usage: { ...TOLD, model: 'its-own', codex_thread_id: 'thr_1' } })).toMatchObject({
    booked: true,
    total: { calls: 2, cost_microusd: 900, unpriced_calls: 1 },
  })
  expect(await usageJson(bench)).toMatchObject({
    model: 'its-own',
    codex_thread_id: 'thr_1',
    cost_microusd: 900,
    unpriced_calls: 1,
  })
  expect(await bench.booked(2)).toMatchObject([
    { source: 'judge', channel: 'main', model: 'gpt-test', claim: 1, attempt: 2, callId: 'attempt' },
    { source: 'judge', model: 'its-own', prices: null, costMicrousd: null, threadId: 'thr_1' },
  ])
})

test('a job without prices has no cost, which is not the same as none', async () => {
  await using bench = await ModelBench.open({ prices: {} })
  bench.upstream.answer = (response) => stream(response).end(text(RESPONSES_EVENTS))
  await (await bench.ask()).text()
  await bench.judge.ok('judge.usage.ingest', { ...bench.claim, attempt: 1, usage: TOLD })
  expect(await usageJson(bench)).toMatchObject({ cost_microusd: null, calls: 1, unpriced_calls: 1 })
})

test('usage.json is there when the end is, also if the judge never told anything and a call was cut a moment before', async () => {
  await using bench = await ModelBench.open()
  const { judge, claim } = bench
  expect(await usageJson(bench)).toBeUndefined()
  const [created = {}] = RESPONSES_EVENTS
  bench.upstream.answer = (response) => stream(response).write(event(created))
  const reader = (await bench.ask()).body?.getReader()
  await reader?.read()
  const cancelled = reader?.cancel()
  await judge.ok('judge.job.patch_state', { ...claim, patch: { status: 'failed', error: { code: 'x', message: 'x' } } })
  await cancelled
  expect(await usageJson(bench)).toMatchObject({ calls: 1, estimated_calls: 1, cost_microusd: expect.any(Number) })
})

test('a cancelled job gets its usage.json too, and one that asked no model says so', async () => {
  await using bench = await ModelBench.open()
  const { judge, claim, gw } = bench
  await gw.store.jobs.cancel(bench.jobId)
  await judge.ok('judge.job.patch_state', { ...claim, patch: { status: 'cancelled' } })
  const { cost_microusd: _, ...counts } = NONE
  expect(await usageJson(bench)).toMatchObject({ ...counts, cost_microusd: null })
})

test('a cancelled job whose judge only gives it back has a usage.json with the call that the cancel cut', async () => {
  await using bench = await ModelBench.open()
  const { judge, claim, gw } = bench
  const [created = {}] = RESPONSES_EVENTS
  bench.upstream.answer = (response) => stream(response).write(event(created))
  const reader = (await bench.ask()).body?.getReader()
  await reader?.read()
  await gw.store.jobs.cancel(bench.jobId)
  await judge.ok('judge.release_claim', { ...claim, reason: 'done' })
  expect(await usageJson(bench)).toMatchObject({ calls: 1, estimated_calls: 1, cost_microusd: expect.any(Number) })
})
