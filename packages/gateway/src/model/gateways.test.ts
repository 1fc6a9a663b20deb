import { openStore } from '@parley/store'
import { startEngine } from '@parley/store/testing'
import { RESPONSES_EVENTS, event, stream } from '@parley/models/testing'
import { expect, test } from 'vitest'
import { until } from '../fixture/job-socket.ts'
import { ModelBench } from '../fixture/model-bench.ts'
import { optionsOf } from '../fixture/test-gateway.ts'
import { openGateway } from '../gateway.ts'

test('a key works on every gateway of a database: one budget, and one cancel for all streams', async () => {
  const postgres = await startEngine('postgres')
  try {
    const database = await postgres.migratedUrl()
    await using bench = await ModelBench.open({ database, budget: { tokens: 2_500, microusd: null } })
    const store = await openStore({ url: database })
    const other = await openGateway(optionsOf(store, [], bench.settings))
    const ask = (url: string): Promise<Response> =>
      fetch(`${url}${bench.path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${bench.prepared.api_key}` },
        body: JSON.stringify({ model: bench.prepared.model, stream: true, input: 'x', max_output_tokens: 1_000 }),
      })
    const [created = {}] = RESPONSES_EVENTS
    bench.upstream.answer = (response) => stream(response).write(event(created))
    const urls = [bench.gw.gateway.url, other.url]
    const streams = await Promise.all(urls.map(ask))
    expect(streams.map(({ status }) => status)).toEqual([200, 200])
    // The second gateway's start did not settle what the first has under way, and a third call does not fit beside the two.
    for (const url of urls) expect(await (await ask(url)).json()).toMatchObject({ error: { code: 'budget_exceeded' } })
    await bench.gw.store.jobs.cancel(bench.jobId)
    for (const answer of streams) await expect(answer.text()).rejects.toThrow('terminated')
    await until(() => bench.upstream.left === 2)
    await bench.settled()
    expect(await store.usages.totalOf(bench.jobId)).toMatchObject({ calls: 2, estimated_calls: 2 })
    await other.close(100)
    await store.close()
  } finally {
    await postgres.stop()
  }
})
