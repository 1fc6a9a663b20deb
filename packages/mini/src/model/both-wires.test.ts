import { expect, test } from 'vitest'
import { type Answer, FAILURES } from '@parley/agent/testing/model-server'
import type { ModelItem, ModelTool } from './model.ts'
import { KEY, openAsker, textTold, usagesTold } from './fixture/open-asker.ts'

/** What both wires must do alike. */
const WIRES = ['responses', 'chat'] as const

const SHELL: ModelTool = {
  name: 'shell',
  description: 'Runs a command.',
  parameters: { type: 'object', properties: { argv: { type: 'array', items: { type: 'string' } } } },
  strict: false,
}
const hello: Answer = { pieces: [{ text: 'Hello, wörld 🌍!' }], usage: { input: 10, output: 5, cached: 4, reasoning: 2 } }

test.each(WIRES)('%s: text comes as deltas and as an item, and tokens are told once', async (wire) => {
  await using asker = await openAsker(wire, [{ ...hello, manner: { deltaCharacters: 3 } }])
  const { answer, told, exchanges } = await asker.ask()
  expect(answer).toMatchObject({
    kind: 'answered',
    refusal: null,
    items: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello, wörld 🌍!' }] }],
  })
  expect(told.filter(([what]) => what === 'message').map(([, , delta]) => delta)).toEqual(['Hel', 'lo,', ' wö', 'rld', ' 🌍!'])
  const tokens = {
    input_tokens: 10,
    cached_input_tokens: 4,
    output_tokens: 5,
    cached_output_tokens: 0,
    reasoning_output_tokens: 2,
  }
  expect(usagesTold(told)).toEqual([['usage', expect.stringMatching(/^mc_/), tokens, false]])
  expect(exchanges).toMatchObject([{ attempt: 1, status: 200, outcome: 'answered', error: null }])
  expect(exchanges[0]?.firstTokenMs).not.toBeNull()
  expect(asker.server.requests[0]?.headers['authorization']).toBe(`Bearer ${KEY}`)
})

test.each(WIRES)('%s: calls in parallel, with reasoning, come back complete and go back as they were', async (wire) => {
  const calls: Answer = {
    pieces: [
      { reasoning: 'First look.', encrypted: 'e1' },
      { text: 'I look around.' },
      { call: 'shell', arguments: { argv: ['ls', '-l'] } },
      { call: 'shell', arguments: { argv: ['pwd'] } },
    ],
    manner: { deltaCharacters: 4 },
  }
  await using asker = await openAsker(wire, [calls, hello])
  const first = await asker.ask({ tools: [SHELL] })
  if (first.answer.kind !== 'answered') throw new Error(JSON.stringify(first.answer))
  expect(first.answer.items.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call', 'function_call'])
  expect(first.answer.items.slice(2).map((item) => [item['name'], item['arguments']])).toEqual([
    ['shell', '{"argv":["ls","-l"]}'],
    ['shell', '{"argv":["pwd"]}'],
  ])
  expect(textTold(first.told, 'reasoning')).toBe('First look.')
  const outputs = first.answer.items
    .slice(2)
    .map(({ call_id }): ModelItem => ({ type: 'function_call_output', call_id, output: 'ok' }))
  const user: ModelItem = { type: 'message', role: 'user', content: 'go' }
  const second = await asker.ask({ tools: [SHELL], input: [user, ...first.answer.items, ...outputs] })
  expect(second.answer.kind).toBe('answered')
  expect(asker.server.violations).toEqual([])
  expect(JSON.stringify(asker.server.requests[1]?.body)).toContain(
    wire === 'responses' ? '"encrypted_content":"e1"' : '"reasoning_content":"First look."',
  )
})

test.each(WIRES)('%s: a call without its output is refused at once, in the words of the provider', async (wire) => {
  await using asker = await openAsker(wire, [hello])
  const call: ModelItem = { type: 'function_call', call_id: 'call_1', name: 'shell', arguments: '{}' }
  const { answer, told } = await asker.ask({ input: [call] })
  expect(answer).toMatchObject({ kind: 'failed', code: 'model_rejected' })
  expect(JSON.stringify(answer)).toContain('call_1')
  expect(told.filter(([what]) => what === 'retry')).toEqual([])
})

test.each(WIRES)('%s: a whole body instead of a stream is understood', async (wire) => {
  const pieces = [{ reasoning: 'Hm.' }, { text: 'Whole.' }, { call: 'shell', arguments: { argv: [] } }]
  await using asker = await openAsker(wire, [{ pieces, whole: true, usage: { input: 3, output: 4 } }])
  const { answer, told } = await asker.ask({ tools: [SHELL] })
  if (answer.kind !== 'answered') throw new Error(JSON.stringify(answer))
  expect(answer.items.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call'])
  expect(textTold(told, 'message')).toBe('Whole.')
  expect(usagesTold(told)).toMatchObject([['usage', expect.any(String), { input_tokens: 3, output_tokens: 4 }, false]])
})

test.each(WIRES)('%s: the model declines in its own words', async (wire) => {
  await using asker = await openAsker(wire, [{ pieces: [{ refusal: 'I would rather not.' }] }])
  const { answer, told } = await asker.ask()
  expect(answer).toMatchObject({ kind: 'answered', refusal: 'I would rather not.', items: [{ type: 'message' }] })
  expect(textTold(told, 'message')).toBe('')
})

test.each(WIRES)('%s: a filter is a refusal, and a bound on the length ends the turn', async (wire) => {
  await using asker = await openAsker(wire, [
    { pieces: [{ text: 'Part' }], end: 'content_filter' },
    { pieces: [{ text: 'Part' }], end: 'max_output_tokens', usage: { input: 1, output: 2 } },
  ])
  expect((await asker.ask()).answer).toMatchObject({ kind: 'answered', items: [], refusal: expect.stringContaining('filter') })
  const long = await asker.ask({ maxOutputTokens: 2 })
  expect(long.answer).toMatchObject({ kind: 'failed', code: 'model_length' })
  expect(usagesTold(long.told)).toMatchObject([['usage', expect.any(String), { output_tokens: 2 }, false]])
})

test.each(WIRES)('%s: images go in messages and in outputs of calls', async (wire) => {
  await using asker = await openAsker(wire, [hello])
  const url = 'data:image/png;base64,iVBORw0KGgo='
  const input: ModelItem[] = [
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'See' },
        { type: 'input_image', image_url: url },
      ],
    },
    { type: 'function_call', call_id: 'c1', name: 'shell', arguments: '{}' },
    { type: 'function_call', call_id: 'c2', name: 'shell', arguments: '{}' },
    {
      type: 'function_call_output',
      call_id: 'c1',
      output: [
        { type: 'input_text', text: 'One' },
        { type: 'input_image', image_url: url },
      ],
    },
    { type: 'function_call_output', call_id: 'c2', output: 'Two' },
  ]
  expect((await asker.ask({ input, tools: [SHELL] })).answer.kind).toBe('answered')
  const body = JSON.stringify(asker.server.requests[0]?.body)
  expect(body.split(url)).toHaveLength(3)
  expect(asker.server.violations).toEqual([])
})

test.each(WIRES)('%s: the id of the call is the one our own proxy gave it', async (wire) => {
  await using asker = await openAsker(wire, [{ ...hello, headers: { 'x-parley-call': 'usg_1', 'x-request-id': 'req_9' } }])
  const { told, exchanges } = await asker.ask()
  expect(usagesTold(told)[0]?.[1]).toBe('usg_1')
  expect(exchanges).toMatchObject([{ call: 'usg_1', requestId: 'req_9' }])
})

test.each(WIRES)('%s: more than the context holds', async (wire) => {
  const long = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens."
  await using asker = await openAsker(wire, [
    FAILURES.contextOverflow(),
    { status: 400, body: { message: long } },
    { pieces: [], end: { failed: { code: 'context_length_exceeded', message: 'Your input exceeds the context window.' } } },
  ])
  for (let round = 0; round < 3; round++) {
    const { answer, told } = await asker.ask()
    expect(answer).toMatchObject({ kind: 'failed', code: 'context_overflow' })
    for (const [, , tokens] of usagesTold(told)) expect(tokens).toMatchObject({ input_tokens: 0, output_tokens: 0 })
  }
  expect(asker.waits).toEqual([])
})

test.each(WIRES)('%s: connections are used again, also after errors', async (wire) => {
  const answers = [hello, FAILURES.serverError(), hello, { ...hello, whole: true }, FAILURES.contextOverflow(), hello]
  await using asker = await openAsker(wire, answers, { connections: 1 })
  for (let round = 0; round < 5; round++) await asker.ask()
  expect(asker.server.requests).toHaveLength(6)
  expect(asker.server.connections).toBe(1)
})
