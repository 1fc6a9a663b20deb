import { expect, test } from 'vitest'
import type { ModelItem, ModelRequest } from './model.ts'
import { chatBody } from './chat/chat-body.ts'
import { chatMessages } from './chat/chat-messages.ts'
import { responsesBody } from './responses/responses-body.ts'
import { fitsStrict } from './strict-schema.ts'
import { Tolerance } from './tolerance.ts'

const CLOSED = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }
const user: ModelItem = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }
const full: ModelRequest = {
  model: 'm1',
  instructions: 'Be brief.',
  input: [user],
  tools: [{ name: 'f', description: 'Does f.', parameters: CLOSED, strict: true }],
  parallelToolCalls: true,
  effort: 'high',
  outputSchema: CLOSED,
  maxOutputTokens: 100,
  cacheKey: 'cnv_1',
}

test('the whole body of a Responses request', () => {
  expect(responsesBody(full, new Tolerance())).toEqual({
    model: 'm1',
    instructions: 'Be brief.',
    input: [user],
    tools: [{ type: 'function', name: 'f', description: 'Does f.', parameters: CLOSED, strict: true }],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    store: false,
    stream: true,
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'high', summary: 'auto' },
    text: { format: { type: 'json_schema', name: 'answer', schema: CLOSED, strict: true } },
    prompt_cache_key: 'cnv_1',
    max_output_tokens: 100,
  })
})

test('the whole body of a chat request', () => {
  expect(chatBody(full, new Tolerance())).toEqual({
    model: 'm1',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
    ],
    tools: [{ type: 'function', function: { name: 'f', description: 'Does f.', parameters: CLOSED, strict: true } }],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    stream: true,
    stream_options: { include_usage: true },
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: CLOSED, strict: true } },
    reasoning_effort: 'high',
    prompt_cache_key: 'cnv_1',
    max_completion_tokens: 100,
  })
})

test('what is not asked for is not sent', () => {
  const { model, instructions, input, parallelToolCalls } = full
  const bare: ModelRequest = { model, instructions, input, tools: [], parallelToolCalls }
  expect(Object.keys(responsesBody(bare, new Tolerance())).toSorted()).toEqual(
    ['include', 'input', 'instructions', 'model', 'reasoning', 'store', 'stream'].toSorted(),
  )
  expect(Object.keys(chatBody(bare, new Tolerance())).toSorted()).toEqual(['messages', 'model', 'stream', 'stream_options'])
})

test('a schema that does not fit strict mode is asked for without it', () => {
  const open = { type: 'object', properties: { a: { type: 'string' } } }
  const body = responsesBody({ ...full, outputSchema: open, tools: [] }, new Tolerance())
  expect(body['text']).toEqual({ format: { type: 'json_schema', name: 'answer', schema: open, strict: false } })
})

const call = (call_id: string, more: object = {}): ModelItem => ({
  type: 'function_call',
  call_id,
  name: 'f',
  arguments: '{}',
  ...more,
})
const output = (call_id: string, out: ModelItem['x'] = 'ok'): ModelItem => ({
  type: 'function_call_output',
  call_id,
  output: out,
})
const reasoning = (more: object): ModelItem => ({ type: 'reasoning', summary: [], ...more })
const said: ModelItem = { type: 'message', role: 'assistant', id: 'msg_1', content: [{ type: 'output_text', text: 'Hi' }] }

test('items go back to Responses as they came; what only the chat wire knows, and reasoning that led nowhere, does not', () => {
  const kept = reasoning({ id: 'rs_1', encrypted_content: 'e' })
  const input = [
    user,
    kept,
    said,
    reasoning({ content: [{ type: 'reasoning_text', text: 'Hm' }], chat: { reasoning: 'reasoning' } }),
    call('c1', { chat: { call: { x: 1 } } }),
    output('c1'),
    reasoning({ id: 'rs_2', encrypted_content: 'e' }),
    user,
    reasoning({ id: 'rs_3', encrypted_content: 'e' }),
  ]
  expect(responsesBody({ ...full, input }, new Tolerance())['input']).toEqual([user, kept, said, call('c1'), output('c1'), user])
})

const URL = 'data:image/png;base64,AA=='
test('one answer is one message; outputs follow it directly; images and what was said meanwhile come after them', () => {
  const thought = reasoning({ content: [{ type: 'reasoning_text', text: 'Hm' }], chat: { reasoning: 'reasoning_content' } })
  const image = { type: 'input_image', image_url: URL, detail: 'low' }
  const items = [
    user,
    thought,
    said,
    call('c1', { chat: { call: { extra_content: { sign: 's' } } } }),
    call('c2'),
    { ...user, content: 'Hurry' },
    output('c1', [{ type: 'input_text', text: 'One' }, image]),
    output('c2'),
    { type: 'web_search_call', id: 'ws_1' },
    { ...user, content: [{ type: 'input_text', text: 'See' }, image] },
    { type: 'message', role: 'developer', content: 'Mind this.' },
  ]
  const part = { type: 'image_url', image_url: { url: URL, detail: 'low' } }
  const called = { name: 'f', arguments: '{}' }
  expect(chatMessages('', items, true)).toEqual([
    { role: 'user', content: 'Hello' },
    {
      role: 'assistant',
      content: 'Hi',
      reasoning_content: 'Hm',
      tool_calls: [
        { id: 'c1', type: 'function', function: called, extra_content: { sign: 's' } },
        { id: 'c2', type: 'function', function: called },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'One\n(1 image below)' },
    { role: 'tool', tool_call_id: 'c2', content: 'ok' },
    { role: 'user', content: 'Hurry' },
    { role: 'user', content: [{ type: 'text', text: 'The images of c1:' }, part] },
    { role: 'user', content: [{ type: 'text', text: 'See' }, part] },
    { role: 'system', content: 'Mind this.' },
  ])
})

test('a message that was only reasoning is nothing, a call alone has no content, a refusal stays one', () => {
  const refused: ModelItem = { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }
  expect(chatMessages('', [reasoning({ id: 'rs' }), user, call('c'), output('c'), refused], true)).toEqual([
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'c', content: 'ok' },
    { role: 'assistant', content: null, refusal: 'No.' },
  ])
})

test.each([
  [true, CLOSED],
  [true, { ...CLOSED, properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } } }],
  [true, { ...CLOSED, properties: { a: { $ref: '#/$defs/x' } }, $defs: { x: CLOSED } }],
  [false, { ...CLOSED, additionalProperties: true }],
  [false, { ...CLOSED, required: [] }],
  [false, { ...CLOSED, properties: { a: { type: 'object' } } }],
  [false, { ...CLOSED, properties: { a: { type: 'array', items: { type: 'object', properties: {} } } } }],
  [false, { ...CLOSED, properties: { a: { oneOf: [{ type: 'string' }] } } }],
  [false, { ...CLOSED, properties: { a: true } }],
  [false, { type: 'array', items: { type: 'string' } }],
])('fits strict mode: %s', (expected, schema) => {
  expect(fitsStrict(schema)).toBe(expected)
})
