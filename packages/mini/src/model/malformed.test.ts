import { NO_TOKENS } from '@parley/protocol'
import { expect, test } from 'vitest'
import type { Answer, Manner } from '@parley/agent/testing/model-server'
import { openAsker, textTold, usagesTold } from './fixture/open-asker.ts'

const WIRES = ['responses', 'chat'] as const
const TEXT = 'Grüße an die Welt 🌍, in kleinen Stücken.'
const hello: Answer = { pieces: [{ text: TEXT }], usage: { input: 10, output: 5 } }

const HARMLESS: readonly (readonly [string, Manner])[] = [
  ['byte by byte', { writeBytes: 1 }],
  ['three bytes at a time, with CR LF', { writeBytes: 3, lineEnd: '\r\n' }],
  ['with keep-alives between events', { keepAlives: true }],
  ['with a comment and a field that nobody knows', { inserts: [{ before: 1, text: ': hello\n\nfoo: bar\n\n' }] }],
  ['with an event that has no data', { inserts: [{ before: 2, text: 'event: response.completed\n\n' }] }],
  ['with an empty event', { inserts: [{ before: 2, text: 'data:\n\n' }] }],
  ['with lines of garbage', { inserts: [{ before: 1, text: '<<<garbage>>>\n\n{"no":"prefix"}\n\n' }] }],
  ['with broken JSON in one event', { inserts: [{ before: 2, text: 'data: {"type":"response.output_text.delta","del\n\n' }] }],
  ['with JSON that is no object', { inserts: [{ before: 2, text: 'data: 7\n\ndata: [1,2]\n\ndata: null\n\n' }] }],
  ['with an event of a kind that is new', { inserts: [{ before: 2, text: 'data: {"type":"response.mood","choices":[]}\n\n' }] }],
]

test.each(WIRES.flatMap((wire) => HARMLESS.map(([name, manner]) => [wire, name, manner] as const)))(
  '%s: a stream %s is read whole',
  async (wire, _name, manner) => {
    await using asker = await openAsker(wire, [{ ...hello, manner: { deltaCharacters: 7, ...manner } }])
    const { answer, told, exchanges } = await asker.ask()
    expect(answer).toMatchObject({ kind: 'answered', items: [{ content: [{ text: TEXT }] }] })
    expect(textTold(told, 'message')).toBe(TEXT)
    expect(usagesTold(told)).toMatchObject([['usage', expect.any(String), { output_tokens: 5 }, false]])
    expect(exchanges).toHaveLength(1)
  },
)

test.each(WIRES)('%s: an answer that cannot be read is asked for again, and not for ever', async (wire) => {
  const broken: Answer = { ...hello, manner: { cutAfterEvents: 2, inserts: [{ before: 1, text: 'data: {"typ\n\n' }] } }
  await using asker = await openAsker(wire, [broken, hello])
  expect((await asker.ask()).answer.kind).toBe('answered')
  await using never = await openAsker(wire, () => broken)
  expect((await never.ask()).answer).toMatchObject({ kind: 'failed', code: 'model_malformed' })
  expect(never.server.requests).toHaveLength(3)
})

test.each(WIRES)('%s: a web page is a wrong base URL, which nobody asks twice', async (wire) => {
  const page: Answer = { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<html>Sign in</html>' }
  await using asker = await openAsker(wire, [page, hello])
  const { answer, exchanges, told } = await asker.ask()
  expect(answer).toEqual({
    kind: 'failed',
    code: 'model_misconfigured',
    message: 'a web page answered instead of a model (HTTP 200, text/html): the base URL is wrong',
  })
  expect(exchanges).toHaveLength(1)
  expect(usagesTold(told)).toMatchObject([['usage', expect.any(String), NO_TOKENS, true]])
})

test.each(WIRES)('%s: a body that is no answer counts as unreadable', async (wire) => {
  const pages: Answer[] = [
    { status: 200, headers: { 'content-type': 'application/json' }, body: '[]' },
    { status: 200, headers: { 'content-type': 'application/json' }, body: '{"half' },
    { status: 200, body: { hello: 'there' } },
  ]
  await using asker = await openAsker(wire, pages)
  const { answer, exchanges } = await asker.ask()
  expect(exchanges).toHaveLength(3)
  expect(answer).toMatchObject({ kind: 'failed', code: 'model_malformed' })
})

test.each(WIRES)('%s: an event, an answer and a list of items have bounds', async (wire) => {
  const large: Answer = { pieces: [{ text: 'x'.repeat(50_000) }], manner: { deltaCharacters: 1_000 } }
  const many: Answer = { pieces: Array.from({ length: 30 }, (_, index) => ({ call: `f${index}`, arguments: {} })) }
  for (const [limits, words, answer] of [
    [{ eventBytes: 800 }, 'an event has more than 800 bytes', large],
    [{ answerBytes: 20_000 }, 'the answer has more than 20000 bytes', large],
    [{ answerItems: 20 }, 'the answer has more than 20 items', many],
    [{ answerBytes: 20_000 }, 'an answer has more than 20000 bytes', { ...large, whole: true }],
  ] as const) {
    await using asker = await openAsker(wire, [answer, hello], { limits })
    const asked = await asker.ask()
    expect(asked.answer).toEqual({ kind: 'failed', code: 'model_malformed', message: words })
    expect(usagesTold(asked.told)).toHaveLength(1)
  }
})

test.each(WIRES)('%s: a large answer within the bounds is read', async (wire) => {
  const text = 'öx'.repeat(1_000_000)
  await using asker = await openAsker(wire, [{ pieces: [{ text }], manner: { deltaCharacters: 5_000 } }])
  const { answer, told } = await asker.ask()
  expect(answer.kind).toBe('answered')
  expect(textTold(told, 'message')).toBe(text)
})

const rawStream = (events: readonly (object | string)[]): Answer => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body: events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join(''),
})
const message = (text: string): object => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] })
const added = (output_index: number): object => ({ type: 'response.output_item.added', output_index, item: { type: 'message' } })
const done = (output_index: number, text: string): object => ({
  type: 'response.output_item.done',
  output_index,
  item: message(text),
})

test('responses: what an unreadable event lost is taken from the last one', async () => {
  const completed = { type: 'response.completed', response: { output: [message('One'), message('Two')] } }
  await using asker = await openAsker('responses', [
    rawStream([added(0), done(0, 'One'), added(1), '{"type":"response.output_item.do', completed]),
  ])
  expect((await asker.ask()).answer).toEqual({ kind: 'answered', items: [message('One'), message('Two')], refusal: null })
})

test('responses: a lost item that stands nowhere else makes the answer unreadable', async () => {
  const broken = rawStream([added(0), added(1), done(1, 'Two'), 'x', { type: 'response.completed', response: { output: [] } }])
  const unusable = { type: 'response.output_item.done', output_index: 0, item: { type: 'function_call', call_id: 'c' } }
  await using asker = await openAsker('responses', [
    broken,
    rawStream([added(0), unusable, { type: 'response.completed', response: {} }]),
    rawStream([done(1, 'Two'), done(0, 'One'), { type: 'response.completed', response: { output: [] } }]),
  ])
  const { answer, exchanges } = await asker.ask()
  expect(exchanges.map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'answered'])
  expect(answer).toMatchObject({ items: [message('One'), message('Two')] })
})

test('an event at the very end counts without the empty line after it', async () => {
  const raw = rawStream([done(0, 'One'), { type: 'response.completed', response: {} }])
  const body = 'body' in raw && typeof raw.body === 'string' ? raw.body.trimEnd() : ''
  await using asker = await openAsker('responses', [{ ...raw, body }])
  expect((await asker.ask()).answer).toMatchObject({ kind: 'answered', items: [message('One')] })
})

test('responses: calls are put right where nothing else can be done with them', async () => {
  const calls = [
    { type: 'function_call', call_id: 'c1', name: 'f', arguments: { a: 1 } },
    { type: 'function_call', name: 'g', arguments: '{}' },
  ]
  await using asker = await openAsker('responses', [rawStream([{ type: 'response.completed', response: { output: calls } }])])
  expect((await asker.ask()).answer).toMatchObject({
    items: [
      { call_id: 'c1', arguments: '{"a":1}' },
      { call_id: expect.stringMatching(/^call_/), arguments: '{}' },
    ],
  })
})

const chunk = (delta: object, finish_reason: string | null = null): object => ({ choices: [{ index: 0, delta, finish_reason }] })
const part = (more: object): object => ({ tool_calls: [more] })

test.each<readonly [string, readonly (object | string)[], readonly object[]]>([
  [
    'all calls numbered 0',
    [
      chunk(part({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x":1}' } })),
      chunk(part({ index: 0, id: 'b', function: { name: 'g', arguments: '{}' } }), 'tool_calls'),
    ],
    [
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"x":1}' },
      { type: 'function_call', call_id: 'b', name: 'g', arguments: '{}' },
    ],
  ],
  [
    'calls without numbers, the name repeated, arguments as an object',
    [
      chunk(part({ id: 'a', function: { name: 'f' } })),
      chunk(part({ id: 'a', function: { name: 'f', arguments: { x: 1 } } }), 'stop'),
    ],
    [{ type: 'function_call', call_id: 'a', name: 'f', arguments: '{"x":1}' }],
  ],
  [
    'no id and no arguments',
    [chunk(part({ index: 0, function: { name: 'f', arguments: null } }), 'tool_calls'), '[DONE]'],
    [{ type: 'function_call', call_id: expect.stringMatching(/^call_/), name: 'f', arguments: '{}' }],
  ],
  [
    'what a provider puts beside a call',
    [chunk(part({ index: 0, id: 'a', extra_content: { sign: 's' }, function: { name: 'f', arguments: '{}' } }), 'tool_calls')],
    [{ type: 'function_call', call_id: 'a', name: 'f', arguments: '{}', chat: { call: { extra_content: { sign: 's' } } } }],
  ],
  [
    'whole messages as chunks, content as parts',
    [{ choices: [{ message: { content: [{ type: 'text', text: 'Hi' }] }, finish_reason: 'stop' }] }],
    [
      {
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
      },
    ],
  ],
  [
    'an end without a reason',
    [chunk({ content: null }), chunk({ content: 'Hi' }), '[DONE]'],
    [
      {
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
      },
    ],
  ],
  [
    'reasoning under its other name',
    [chunk({ reasoning: 'Hm', content: '' }), chunk({ content: 'Hi' }, 'stop')],
    [
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm' }], chat: { reasoning: 'reasoning' } },
      {
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
      },
    ],
  ],
])('chat: %s', async (_name, events, items) => {
  await using asker = await openAsker('chat', [rawStream(events)])
  expect((await asker.ask()).answer).toEqual({ kind: 'answered', items, refusal: null })
})

test('chat: half a call, a call without a name and an error as a reason are asked for again', async () => {
  await using asker = await openAsker(
    'chat',
    [
      rawStream([chunk(part({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } })), '[DONE]']),
      rawStream([chunk(part({ index: 0, id: 'a', function: { arguments: '{}' } }), 'tool_calls')]),
      rawStream([chunk({ content: 'Half' }, 'error')]),
      rawStream([{ error: { code: 502, message: 'Bad gateway behind us' } }]),
      hello,
    ],
    { limits: { malformedAttempts: 9 } },
  )
  const { answer, exchanges } = await asker.ask()
  expect(exchanges.map(({ outcome }) => outcome)).toEqual(['cut', 'failed', 'failed', 'failed', 'answered'])
  expect(answer.kind).toBe('answered')
})

test.each(WIRES)('%s: an answer that is not read to its end does not keep its connection', async (wire) => {
  const page: Answer = { status: 200, headers: { 'content-type': 'text/html', 'content-length': '1000' }, body: '<html>' }
  await using asker = await openAsker(wire, [page, hello], { connections: 1 })
  expect((await asker.ask()).answer.kind).toBe('failed')
  expect((await asker.ask()).answer.kind).toBe('answered')
  expect(asker.server.connections).toBe(2)
})
