import { type JsonObject, isJsonObject, parseJson } from '@parley/protocol'
import { expect, test } from 'vitest'
import { openModelServer } from './model-server.ts'

async function post(url: string, body: JsonObject): Promise<{ status: number; text: string }> {
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) })
  return { status: answer.status, text: await answer.text() }
}

const user = { type: 'message', role: 'user', content: 'Hi' }
const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' }
const output = { type: 'function_call_output', call_id: 'c1', output: 'ok' }
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'e' }
const freeCall = { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: 'x' }
const tool = { type: 'function', name: 'f', parameters: { type: 'object' } }

test.each<readonly [string, JsonObject, string]>([
  ['a call without its output', { input: [user, call] }, 'No tool output found for function call c1.'],
  ['an output without its call', { input: [user, output] }, 'No tool call found for function call output with call_id c1.'],
  ['an output before its call', { input: [output, call] }, 'No tool call found'],
  ['two outputs of one call', { input: [call, output, output] }, 'No tool call found'],
  ['the same call twice', { input: [call, output, call, output] }, 'Duplicate function call'],
  ['reasoning at the end', { input: [user, reasoning] }, 'without its required following item'],
  ['reasoning before somebody else', { input: [reasoning, user] }, 'without its required following item'],
  ['a name that no tool may have', { input: [user], tools: [{ ...tool, name: 'a.b' }] }, "Invalid 'tools[0].name'"],
  ['a name that is too long', { input: [user], tools: [{ ...tool, name: 'x'.repeat(65) }] }, "Invalid 'tools[0].name'"],
  ['one name twice', { input: [user], tools: [tool, tool] }, 'unique'],
  ['a strict schema that is none', { input: [user], tools: [{ ...tool, strict: true }] }, "Invalid schema for function 'f'"],
  ['something that is kept elsewhere', { input: [user], previous_response_id: 'resp_1' }, 'previous_response_id'],
  ['a call of free text without its output', { input: [user, freeCall] }, 'No tool output found for function call c2.'],
  ['nothing at all', { input: [] }, "Missing required parameter: 'input'"],
])('responses: %s is refused', async (_name, body, words) => {
  await using server = await openModelServer({ wire: 'responses', answers: [{ pieces: [{ text: 'no' }] }] })
  const reply = await post(`${server.url}/responses`, { model: 'm', stream: true, store: false, ...body })
  expect(reply).toEqual({ status: 400, text: expect.stringContaining(words) })
  expect(server.violations).toHaveLength(1)
})

test('a call of free text and a call in a namespace go out, and come back with their outputs', async () => {
  const pieces = [
    { custom: 'patch', input: 'a long text', id: 'c2' },
    { call: 'f', arguments: {}, id: 'c1', extra: { namespace: 'space' } },
  ]
  await using server = await openModelServer({ wire: 'responses', answers: [{ pieces }, { pieces: [{ text: 'ok' }] }] })
  const rest = { model: 'm', stream: true, store: false, tools: [{ type: 'custom', name: 'patch' }, tool] }
  const { text } = await post(`${server.url}/responses`, { ...rest, input: [user] })
  const events = text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [parseJson(line.slice(6))] : []))
  const items = events.filter(isJsonObject).filter(({ type }) => type === 'response.output_item.done')
  expect(items.map(({ item }) => item)).toEqual([
    expect.objectContaining({ type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: 'a long text' }),
    expect.objectContaining({ type: 'function_call', call_id: 'c1', name: 'f', namespace: 'space', arguments: '{}' }),
  ])
  const outputs = [freeCall, call, { type: 'custom_tool_call_output', call_id: 'c2', output: 'done' }, output]
  expect((await post(`${server.url}/responses`, { ...rest, input: [user, ...outputs] })).status).toBe(200)
  expect(server.violations).toEqual([])
})

const chatCall = { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f' } }] }
const chatOutput = { role: 'tool', tool_call_id: 'c1', content: 'ok' }
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }
test.each<readonly [string, JsonObject, string]>([
  ['a call without its output', { messages: [chatCall] }, 'did not have response messages: c1'],
  ['a message between call and output', { messages: [chatCall, user, chatOutput] }, 'did not have response messages: c1'],
  ['an output without its call', { messages: [chatOutput] }, "must be a response to a preceeding message with 'tool_calls'"],
  ['an image from a tool', { messages: [chatCall, { ...chatOutput, content: [image] }] }, "Invalid content type 'image_url'"],
  ['an empty answer', { messages: [{ role: 'assistant', content: null }] }, "Invalid value for 'content'"],
])('chat: %s is refused', async (_name, body, words) => {
  await using server = await openModelServer({ wire: 'chat', answers: [{ pieces: [{ text: 'no' }] }] })
  const reply = await post(`${server.url}/chat/completions`, { model: 'm', stream: true, ...body })
  expect(reply).toEqual({ status: 400, text: expect.stringContaining(words) })
})

test('what it gave out must come back as it was, with the reasoning that led to it', async () => {
  const pieces = [
    { reasoning: 'Hm', encrypted: 'e1' },
    { call: 'f', arguments: { a: 1 }, id: 'c1' },
  ]
  await using server = await openModelServer({ wire: 'responses', answers: () => ({ pieces, whole: true }) })
  const url = `${server.url}/responses`
  const base = { model: 'm', stream: true, store: false }
  const first: unknown = JSON.parse((await post(url, { ...base, input: [user] })).text)
  if (!isWithOutput(first)) throw new Error('no output')
  const [thought = {}, made = {}] = first.output
  const ask = async (...items: JsonObject[]) => (await post(url, { ...base, input: [user, ...items, output] })).text
  expect(await ask(made)).toContain(`without its required 'reasoning' item: 'rs_`)
  expect(await ask({ ...thought, encrypted_content: 'other' }, made)).toContain('Items are not persisted')
  expect(await ask(thought, { ...made, arguments: '{}' })).toContain('is not what was given')
  expect(await ask(thought, made)).toContain('"object":"response"')
})

const isWithOutput = (value: unknown): value is { output: JsonObject[] } =>
  typeof value === 'object' && value !== null && 'output' in value && Array.isArray(value.output)
