import { type ModelScript, ModelScript as Script } from '@parley/protocol'
import { CHAT_EVENTS, RESPONSES_EVENTS, event } from '@parley/models/testing'
import { expect, test } from 'vitest'
import { until } from '../fixture/job-socket.ts'
import { ModelBench } from '../fixture/model-bench.ts'

const USAGE = { input_tokens: 7, output_tokens: 3 }
const said = (id: string, text: string, ...more: object[]) => ({
  events: [
    { type: 'response.created', response: { id } },
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { type: 'message', id: 'msg', role: 'assistant', content: text },
    },
    ...more,
    { type: 'response.completed', response: { id, usage: USAGE } },
  ],
})
const CALL = {
  type: 'response.output_item.done',
  output_index: 1,
  item: { type: 'function_call', id: 'fc', call_id: 'c1', name: 'shell', arguments: '{"id":"kept"}' },
}

const scriptOf = (answers: object[], more: object = {}): ModelScript =>
  Script.parse({
    schema_version: 'script.v1',
    model: 'script-test',
    display_name: 'A script',
    // Of an older kind: nobody pays for what is played.
    prices: { input_microusd_per_1m_tokens: 1_000_000, output_microusd_per_1m_tokens: 1_000_000 },
    answers,
    ...more,
  })

interface Item {
  readonly type: string
  readonly call_id?: string
}
/** The events of a stream, read as a client does. */
const eventsOf = (text: string): Record<string, unknown>[] =>
  text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => JSON.parse(block.split('data: ')[1] ?? '') as Record<string, unknown>)

test('the next answer follows from the conversation alone, is streamed as on the wire, and costs nothing', async () => {
  await using bench = await ModelBench.open({ script: scriptOf([said('r1', 'first', CALL), said('r2', 'second')]) })
  expect(bench.prepared).toMatchObject({ model: 'script-test', script: true, mock_mode: false, wire: 'responses' })
  const ask = async (input: unknown) => {
    const answer = await bench.ask({ input })
    return { answer, text: await answer.text() }
  }
  const user = { role: 'user', content: 'hello' }
  const { answer, text } = await ask([user])
  expect([answer.status, answer.headers.get('x-parley-script'), answer.headers.get('content-type')]).toEqual([
    200,
    '1',
    'text/event-stream; charset=utf-8',
  ])
  const events = eventsOf(text)
  expect(text).toBe(events.map((one) => event(one)).join(''))
  expect(events.map(({ type }) => type)).toEqual([
    'response.created',
    'response.output_item.done',
    'response.output_item.done',
    'response.completed',
  ])
  const items = events.flatMap(({ item }) => (item === undefined ? [] : [item as Item]))
  const { call_id: callId } = items[1] ?? {}
  expect(items[1]).toMatchObject({ arguments: '{"id":"kept"}', call_id: expect.stringMatching(/^c1_./) })
  // The same again, with other ids.
  const again = eventsOf((await ask([user])).text)
  expect(again.map(({ type }) => type)).toEqual(events.map(({ type }) => type))
  expect(again[0]?.['response']).not.toEqual(events[0]?.['response'])
  const history = [user, ...items, { type: 'function_call_output', call_id: callId, output: 'ok' }]
  expect((await ask(history)).text).toContain('second')
  const over = await ask([...history, { role: 'assistant', content: 'second' }, user])
  expect([over.answer.status, JSON.parse(over.text)]).toEqual([
    400,
    {
      error: {
        message: 'the script has no more answers: the conversation holds 2, the script 2',
        type: 'invalid_request_error',
        code: 'script_ended',
        param: null,
      },
    },
  ])
  await bench.settled()
  expect(await bench.gw.store.usages.totalOf(bench.jobId)).toMatchObject({
    calls: 3,
    input_tokens: 21,
    output_tokens: 9,
    cost_microusd: 0,
    unpriced_calls: 0,
  })
  expect((await bench.gw.store.usages.ofJob(bench.jobId)).map(({ source }) => source)).toEqual(['script', 'script', 'script'])
  expect(bench.upstream.requests).toEqual([])
})

test('no bound on money stands in the way of a script, not even one of nothing', async () => {
  const prices = { output_microusd_per_1m_tokens: 1_000_000 }
  await using bench = await ModelBench.open({
    script: scriptOf([said('r1', 'first')], { prices }),
    budget: { tokens: null, microusd: 1 },
  })
  const answer = await bench.ask()
  expect([answer.status, (await answer.text()).includes('first')]).toEqual([200, true])
  const refused = await bench.gw.admin('pricing.set', {
    model: 'script-test',
    upstream_channel: 'main',
    input_microusd_per_1m_tokens: 5,
  })
  expect(refused.isError).toBe(true)
  expect(JSON.stringify(refused.content)).toContain('plays a script, which costs nothing')
})

test('without a stream the whole answer comes at once', async () => {
  await using bench = await ModelBench.open({ script: scriptOf([said('r1', 'first', CALL)]) })
  expect(await (await bench.ask({ stream: false })).json()).toMatchObject({
    object: 'response',
    usage: USAGE,
    output: [
      { type: 'message', content: 'first' },
      { type: 'function_call', name: 'shell' },
    ],
  })
  expect(await bench.booked(1)).toMatchObject([{ tokens: { input_tokens: 7, output_tokens: 3 }, estimated: false }])
})

test('a script of the chat wire ends with its mark, and its whole answer is put together', async () => {
  const call = (index: number, more: object) => ({ choices: [{ index: 0, delta: { tool_calls: [{ index, ...more }] } }] })
  const calls = [
    call(0, { id: 'a', type: 'function', function: { name: 'one', arguments: '{"x"' } }),
    call(1, { id: 'b', type: 'function', function: { name: 'two', arguments: '' } }),
    call(0, { function: { arguments: ':1}' } }),
    call(1, { function: { arguments: '{}' } }),
  ]
  const script = scriptOf([{ events: CHAT_EVENTS.slice(0, 3) }, { events: calls }], { wire: 'chat' })
  await using bench = await ModelBench.open({ wire: 'chat', script })
  const text = await (await bench.ask()).text()
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  expect(text).not.toContain('event:')
  expect(await (await bench.ask({ stream: false })).json()).toMatchObject({
    object: 'chat.completion',
    choices: [{ message: { role: 'assistant', content: 'Grüße, 世界' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 100 },
  })
  const messages = [{ role: 'user' }, { role: 'assistant', content: 'x' }, { role: 'user' }]
  expect(await (await bench.ask({ stream: false, messages })).json()).toMatchObject({
    choices: [
      {
        message: {
          tool_calls: [
            { id: expect.stringMatching(/^a_/), type: 'function', function: { name: 'one', arguments: '{"x":1}' } },
            { id: expect.stringMatching(/^b_/), function: { name: 'two', arguments: '{}' } },
          ],
        },
      },
    ],
  })
})

test('a script may answer with a failure, as often as it is asked', async () => {
  const failure = { status: 429, headers: { 'Retry-After': '3' }, body: { error: { message: 'slow', code: 'x' } } }
  await using bench = await ModelBench.open({ script: scriptOf([failure]) })
  for (let round = 0; round < 2; round += 1) {
    const answer = await bench.ask()
    expect([answer.status, answer.headers.get('retry-after'), answer.headers.get('x-parley-script')]).toEqual([429, '3', '1'])
    expect(await answer.json()).toEqual({ error: { message: 'slow', code: 'x' } })
  }
  await bench.settled()
  expect(await bench.gw.store.usages.totalOf(bench.jobId)).toMatchObject({ calls: 0 })
})

test('a script that pauses stops when nobody listens any more', async () => {
  const script = scriptOf([{ events: RESPONSES_EVENTS, pause_ms: 10_000 }])
  await using bench = await ModelBench.open({ script })
  const reader = (await bench.ask()).body?.getReader()
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain('response.created')
  await reader?.cancel()
  await bench.settled()
  expect(await bench.booked(1)).toMatchObject([{ estimated: true, tokens: { output_tokens: 0 } }])
  await until(async () => (await (await fetch(`${bench.gw.gateway.url}/metrics`)).text()).includes('parley_model_in_flight 0'))
})
