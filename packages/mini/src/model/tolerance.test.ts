import { isJsonObject } from '@parley/protocol'
import { expect, test } from 'vitest'
import { type Answer, type StatusReply, errorReply } from '@parley/agent/testing/model-server'
import type { ModelTool } from './model.ts'
import { openAsker } from './fixture/open-asker.ts'

const WIRES = ['responses', 'chat'] as const
const hello: Answer = { pieces: [{ text: 'Hello!' }] }
const CLOSED = { type: 'object', properties: {}, required: [], additionalProperties: false }
const good: ModelTool = { name: 'good', description: '', parameters: CLOSED, strict: true }
/** It says that it is strict and is not: the server refuses it as the real one does. */
const bad: ModelTool = { name: 'bad', description: '', parameters: { type: 'object', properties: { a: {} } }, strict: true }

function strictNames(body: unknown): readonly unknown[] {
  const tools = isJsonObject(body) && Array.isArray(body['tools']) ? body['tools'].filter(isJsonObject) : []
  const functions = tools.map((tool) => (isJsonObject(tool['function']) ? tool['function'] : tool))
  return functions.filter((one) => one['strict'] === true).map((one) => one['name'])
}

test.each(WIRES)(
  '%s: a schema that strict mode refuses makes that tool loose, that tool alone, and it is remembered',
  async (wire) => {
    await using asker = await openAsker(wire, () => hello)
    const { answer, exchanges } = await asker.ask({ tools: [good, bad] })
    expect(answer.kind).toBe('answered')
    expect(exchanges).toMatchObject([
      { status: 400, outcome: 'failed', error: expect.stringContaining('asked again the tool bad without strict') },
      { status: 200, outcome: 'answered', error: null },
    ])
    await asker.ask({ tools: [good, bad] })
    expect(asker.server.requests.map(({ body }) => strictNames(body))).toEqual([['good', 'bad'], ['good'], ['good']])
    expect(asker.waits).toEqual([])
  },
)

test.each(WIRES)('%s: two that learn at the same time both get through', async (wire) => {
  await using asker = await openAsker(wire, () => hello, { unsupported: ['prompt_cache_key'] })
  const asked = await Promise.all([1, 2, 3].map(() => asker.ask({ tools: [good, bad], cacheKey: 'k' })))
  expect(asked.map(({ answer }) => answer.kind)).toEqual(['answered', 'answered', 'answered'])
})

test.each(WIRES)('%s: a complaint about strictness that names nobody makes all loose', async (wire) => {
  const refusal = errorReply(400, null, 'strict mode is not supported by this model')
  await using asker = await openAsker(wire, [refusal, hello])
  expect((await asker.ask({ tools: [good] })).answer.kind).toBe('answered')
  expect(strictNames(asker.server.requests[1]?.body)).toEqual([])
})

test.each([
  ['responses', 'reasoning.summary'],
  ['responses', 'reasoning.effort'],
  ['responses', 'reasoning'],
  ['responses', 'include'],
  ['responses', 'text.format'],
  ['responses', 'prompt_cache_key'],
  ['responses', 'parallel_tool_calls'],
  ['responses', 'max_output_tokens'],
  ['chat', 'reasoning_effort'],
  ['chat', 'response_format'],
  ['chat', 'stream_options'],
  ['chat', 'prompt_cache_key'],
  ['chat', 'max_completion_tokens'],
] as const)('%s: %s is left out for a provider that does not know it, and the schema is said in words', async (wire, field) => {
  await using asker = await openAsker(wire, () => hello, { unsupported: [field] })
  const request = { tools: [good], effort: 'high', outputSchema: CLOSED, cacheKey: 'k', maxOutputTokens: 9 } as const
  const { answer, exchanges } = await asker.ask(request)
  expect(answer.kind).toBe('answered')
  expect(exchanges[0]?.error).toContain(`asked again without ${field}`)
  expect((await asker.ask(request)).exchanges).toHaveLength(1)
  const isFormat = field === 'text.format' || field === 'response_format'
  expect(JSON.stringify(asker.server.requests.at(-1)?.body).includes('It fits this JSON Schema')).toBe(isFormat)
  if (field === 'max_completion_tokens') expect(asker.server.requests.at(-1)?.body).toMatchObject({ max_tokens: 9 })
})

test.each<readonly [string, StatusReply]>([
  [
    'the words of pydantic',
    { status: 422, body: { detail: [{ loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }] } },
  ],
  ['plain words', { status: 400, body: 'Unrecognized request argument supplied: stream_options' }],
  ['another shape', { status: 400, body: { error: "Unknown name 'stream_options': cannot find field." } }],
])('a field is recognised in %s', async (_name, refusal) => {
  await using asker = await openAsker('chat', [refusal, hello])
  const { answer, exchanges } = await asker.ask()
  expect(answer.kind).toBe('answered')
  expect(exchanges[0]?.error).toContain('asked again without stream_options')
})

test('a sentence that merely uses a word means nothing', async () => {
  await using asker = await openAsker('responses', [
    errorReply(400, null, 'Invalid request: please include a reason, reasoning is strict.'),
  ])
  expect((await asker.ask()).answer).toMatchObject({ kind: 'failed', code: 'model_rejected' })
})

test('a provider that is never content is not asked for ever', async () => {
  const refusal = errorReply(400, null, "Unknown parameter: 'include'", { param: 'include' })
  await using asker = await openAsker('responses', () => refusal)
  expect((await asker.ask()).answer).toMatchObject({ kind: 'failed', code: 'model_rejected' })
  expect(asker.server.requests).toHaveLength(2)
})

test.each(WIRES)('%s: an output schema that strict mode refuses is asked for without it', async (wire) => {
  const field = wire === 'responses' ? 'text.format.schema' : 'response_format.json_schema'
  await using asker = await openAsker(wire, [
    errorReply(400, 'invalid_json_schema', "Invalid schema for response_format 'answer'", { param: field }),
    hello,
  ])
  expect((await asker.ask({ outputSchema: CLOSED })).answer.kind).toBe('answered')
  const [first, second] = asker.server.requests.map(({ body }) => JSON.stringify(body['text'] ?? body['response_format']))
  expect([first?.includes('"strict":true'), second?.includes('"strict":false')]).toEqual([true, true])
})

test('chat: a provider that wants its reasoning back gets it under its name, one that refuses it does not', async () => {
  const thought = (reasoning: string) => ({
    type: 'reasoning',
    summary: [],
    content: [{ type: 'reasoning_text', text: 'Hm' }],
    chat: { reasoning },
  })
  const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }
  const input = [thought('reasoning_content'), said]
  await using asker = await openAsker('chat', [errorReply(400, null, 'reasoning_content is not supported in input'), hello])
  expect((await asker.ask({ input })).answer.kind).toBe('answered')
  const sent = asker.server.requests.map(({ body }) => body['messages'])
  expect(sent).toEqual([
    [
      { role: 'system', content: 'Be brief.' },
      { role: 'assistant', content: 'Hi', reasoning_content: 'Hm' },
    ],
    [
      { role: 'system', content: 'Be brief.' },
      { role: 'assistant', content: 'Hi' },
    ],
  ])
})
