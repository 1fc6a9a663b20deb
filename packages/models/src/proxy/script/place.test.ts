import { expect, test } from 'vitest'
import { answersIn } from './place.ts'

test('answers are counted by runs of what the model said', () => {
  const user = { role: 'user', content: 'x' }
  const reasoning = { type: 'reasoning', summary: [] }
  const call = { type: 'function_call', call_id: 'a' }
  const patch = { type: 'custom_tool_call', call_id: 'b' }
  const message = { type: 'message', role: 'assistant', content: [] }
  const output = { type: 'function_call_output', call_id: 'a' }
  const patched = { type: 'custom_tool_call_output', call_id: 'b' }
  const cases: [unknown, number][] = [
    ['hello', 0],
    [undefined, 0],
    [[], 0],
    [[user], 0],
    [[user, reasoning, message, call, patch, output, patched], 1],
    [[user, reasoning, call, output, message, user], 2],
    [[user, call, output, call, output, { role: 'developer' }, { role: 'assistant', content: 'x' }], 3],
    [[7, null, { type: 'message', role: 'user' }], 0],
  ]
  for (const [input, count] of cases) expect(answersIn(JSON.parse(JSON.stringify({ input })), 'responses')).toBe(count)
  expect(answersIn({ messages: [user, { role: 'assistant' }, { role: 'tool' }, { role: 'assistant' }, user] }, 'chat')).toBe(2)
})
