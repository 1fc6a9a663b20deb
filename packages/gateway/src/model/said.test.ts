import type { ModelWire } from '@parley/protocol'
import { json } from '@parley/models/testing'
import { describe, expect, test } from 'vitest'
import { ModelBench } from '../fixture/model-bench.ts'

const WIRES = ['responses', 'chat'] as const
const SECRET = 'http://169.254.169.254/latest/meta-data'
const PICTURE = 'data:image/png;base64,iVBORw0KGgo='
const DONE = {
  responses: { id: 'r', object: 'response', output: [], usage: { input_tokens: 5, output_tokens: 2 } },
  chat: { id: 'c', choices: [{ index: 0, message: { content: 'hi' } }], usage: { prompt_tokens: 5, completion_tokens: 2 } },
}

/** A request that says one part, and the place of that part. */
const saying = (wire: ModelWire, part: unknown): [body: object, at: string] =>
  wire === 'responses'
    ? [{ input: [{ type: 'message', role: 'user', content: [part] }] }, 'input[0].content[0]']
    : [{ messages: [{ role: 'user', content: [part] }] }, 'messages[0].content[0]']
/** The same in what a tool answered. */
const answering = (wire: ModelWire, part: unknown): [body: object, at: string] =>
  wire === 'responses'
    ? [{ input: [{ type: 'function_call_output', call_id: 'c', output: [part] }] }, 'input[0].output[0]']
    : [{ messages: [{ role: 'tool', tool_call_id: 'c', content: [part] }] }, 'messages[0].content[0]']

/** Parts that some provider would fetch, take from its own shelf, or that nobody here knows; and where they are refused. */
const REFUSED: readonly [part: unknown, field: string][] = [
  [{ type: 'video_url', video_url: { url: SECRET } }, '.video_url'],
  [{ type: 'audio_url', audio_url: { url: SECRET } }, '.audio_url'],
  [{ type: 'image_url', image_url: { url: SECRET } }, '.image_url'],
  [{ type: 'image_url', image_url: SECRET }, '.image_url'],
  [{ type: 'input_image', image_url: SECRET }, '.image_url'],
  [{ type: 'input_image', image_url: 'file:///etc/passwd' }, '.image_url'],
  [{ type: 'input_image', image_url: `data:text/html;base64,AAAA` }, '.image_url'],
  [{ type: 'input_image', image_url: `data:image/svg+xml;base64,AAAA` }, '.image_url'],
  [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA and more' } }, '.image_url'],
  [{ type: 'file', file: { filename: 'a.pdf', file_data: 'https://x.example/a.pdf' } }, '.file'],
  [{ type: 'input_file', filename: 'a.pdf', file_data: SECRET }, '.file_data'],
  [{ type: 'input_file', file_url: SECRET }, '.file_url'],
  [{ type: 'input_image', file_id: 'file_1' }, '.file_id'],
  [{ type: 'image', source: { type: 'url', url: SECRET } }, '.source'],
  [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }, '.input_audio'],
  [{ type: 'input_video', video: 'file:///etc/passwd' }, '.video'],
  [{ image: SECRET }, '.image'],
  [{ url: SECRET }, '.url'],
  [{ type: 'input_text', text: 'x', image_url: PICTURE, video_urls: [SECRET] }, '.image_url'],
  [{ type: 'text', text: 'x', videoUri: null, image_uri: SECRET }, '.image_uri'],
  [{ type: 'text', text: { url: SECRET } }, '.text'],
  [{ type: 'holo', hologram: SECRET }, '.type'],
  [{ text: 'x' }, '.type'],
  [{ type: '__proto__' }, '.type'],
  ['x', ''],
  [[{ type: 'text', text: 'x' }], ''],
]

describe.each(WIRES)('what was said, on the wire %s', (wire) => {
  test('goes on without anything that a provider would fetch: such a part, and every unknown one, is refused at its place', async () => {
    await using bench = await ModelBench.open({ wire })
    bench.upstream.answer = json(200, DONE[wire])
    for (const [part, field] of REFUSED)
      for (const place of [saying, answering]) {
        const [body, at] = place(wire, part)
        const answer = await bench.ask({ stream: false, ...body })
        const { error } = (await answer.json()) as { error: Record<string, unknown> }
        expect({ part, status: answer.status, param: error['param'] }).toEqual({ part, status: 400, param: `${at}${field}` })
        expect(String(error['message'])).toContain(`${String(error['param'])}: `)
      }
    expect(bench.upstream.requests).toEqual([])
    expect(await bench.gw.store.usages.spentOnJob(bench.jobId)).toEqual({ tokens: 0, microusd: 0 })
  })

  test('is known fields of known parts; others are left out', async () => {
    await using bench = await ModelBench.open({ wire })
    bench.upstream.answer = json(200, DONE[wire])
    const { sent, passed } = WHOLE[wire]
    expect((await bench.ask({ stream: false, ...sent })).status).toBe(200)
    expect(bench.upstream.requests[0]?.body).toMatchObject(passed)
    expect(JSON.stringify(bench.upstream.requests[0]?.body)).not.toContain('odd')
  })
})

test.each([
  ['responses', { input: [{ type: 'web_search_call', id: 'w', action: { query: 'x' } }] }, 'input[0].type'],
  [
    'responses',
    { input: [{ type: 'computer_call_output', output: { type: 'computer_screenshot', image_url: SECRET } }] },
    'input[0].type',
  ],
  ['responses', { input: [{ role: 'user', content: 'x', images: [SECRET] }] }, 'input[0].images'],
  ['responses', { input: [{ id: 'x' }] }, 'input[0].type'],
  ['responses', { input: { url: SECRET } }, 'input'],
  ['responses', { input: [{ type: 'function_call_output', call_id: 'c', output: { image_url: SECRET } }] }, 'input[0].output'],
  [
    'responses',
    { input: [{ type: 'reasoning', summary: [{ type: 'input_image', image_url: SECRET }] }] },
    'input[0].summary[0].image_url',
  ],
  ['responses', { input: 'x', instructions: [{ type: 'input_image', image_url: SECRET }] }, 'instructions'],
  [
    'responses',
    { input: 'x', tools: [{ type: 'function', name: 'f', parameters: { $ref: SECRET } }] },
    'tools[0].parameters.$ref',
  ],
  [
    'responses',
    { input: 'x', text: { format: { type: 'json_schema', schema: { a: [{ $ref: SECRET }] } } } },
    'text.format.schema.a[0].$ref',
  ],
  ['chat', { messages: [{ role: 'user', content: 'x', images: [SECRET] }] }, 'messages[0].images'],
  ['chat', { messages: [{ role: 'assistant', audio: { id: 'audio_1' } }] }, 'messages[0].audio'],
  ['chat', { messages: [{ role: 'user', content: { url: SECRET } }] }, 'messages[0].content'],
  ['chat', { messages: { url: SECRET } }, 'messages'],
  [
    'chat',
    { messages: [{ role: 'assistant', tool_calls: [{ id: 'c', extra_content: { a: [{ video_url: SECRET }] } }] }] },
    'messages[0].tool_calls[0].extra_content.a[0].video_url',
  ],
  [
    'chat',
    { messages: [], response_format: { json_schema: { schema: { $ref: 'other.json' } } } },
    'response_format.json_schema.schema.$ref',
  ],
] as const)('elsewhere in a request of %s nothing is fetched either: %j', async (wire, body, param) => {
  await using bench = await ModelBench.open({ wire })
  const answer = await bench.ask({ stream: false, ...body })
  expect([answer.status, await answer.json()]).toMatchObject([400, { error: { param } }])
  expect(bench.upstream.requests).toEqual([])
})

/** Requests with all that engines say, and odd fields beside it. */
const WHOLE = {
  responses: {
    sent: {
      input: [
        { role: 'developer', content: 'short', odd: 1 },
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'look', odd: { a: 1 } },
            { type: 'input_image', image_url: PICTURE, detail: 'low', file_id: null },
          ],
        },
        { type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: 's' }], content: null, encrypted_content: 'e' },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'http://x.example', annotations: [{ odd: 'x' }] }],
        },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"image_url":"http://x.example"}' },
        { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_image', image_url: PICTURE }] },
        { type: 'custom_tool_call', call_id: 'd', name: 'p', input: 'x' },
        { type: 'custom_tool_call_output', call_id: 'd', output: 'done' },
      ],
      tools: [
        { type: 'function', name: 'f', parameters: { $schema: 'http://json-schema.org/draft-07/schema#', $ref: '#/$defs/a' } },
      ],
    },
    passed: {
      input: [
        { role: 'developer', content: 'short' },
        {
          content: [
            { type: 'input_text', text: 'look' },
            { type: 'input_image', image_url: PICTURE, detail: 'low' },
          ],
        },
        { type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: 's' }], content: null, encrypted_content: 'e' },
        { content: [{ type: 'output_text', text: 'http://x.example', annotations: [] }] },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"image_url":"http://x.example"}' },
        { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_image', image_url: PICTURE }] },
        { type: 'custom_tool_call', call_id: 'd', name: 'p', input: 'x' },
        { type: 'custom_tool_call_output', call_id: 'd', output: 'done' },
      ],
    },
  },
  chat: {
    sent: {
      messages: [
        { role: 'system', content: 'short', odd: 1 },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look', odd: 1 },
            { type: 'image_url', image_url: { url: PICTURE, detail: 'low', odd: 1 } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          reasoning_content: 'hm',
          tool_calls: [
            {
              id: 'c',
              type: 'function',
              function: { name: 'f', arguments: '{}' },
              extra_content: { google: { thought_signature: 's' } },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'c', content: 'http://x.example' },
      ],
    },
    passed: {
      messages: [
        { role: 'system', content: 'short' },
        {
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: PICTURE, detail: 'low' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          reasoning_content: 'hm',
          tool_calls: [
            {
              id: 'c',
              type: 'function',
              function: { name: 'f', arguments: '{}' },
              extra_content: { google: { thought_signature: 's' } },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'c', content: 'http://x.example' },
      ],
    },
  },
}
