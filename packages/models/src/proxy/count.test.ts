import { describe, expect, test } from 'vitest'
import { CHAT_EVENTS, CHAT_USAGE, RESPONSES_EVENTS, event, text } from '../testing/model-upstream.ts'
import { BodyCount, type Count, StreamCount } from './count.ts'

const TOKENS = {
  input_tokens: 100,
  cached_input_tokens: 20,
  output_tokens: 10,
  cached_output_tokens: 0,
  reasoning_output_tokens: 4,
}
/** "Grüße, 世界" has 15 bytes. */
const WRITTEN = 4

function counted(count: Count, bytes: Buffer, size = bytes.length): Count {
  for (let at = 0; at < bytes.length; at += size) count.push(bytes.subarray(at, at + size))
  return count
}

describe.each([
  ['responses', RESPONSES_EVENTS],
  ['chat', CHAT_EVENTS],
] as const)('%s', (wire, events) => {
  test('a stream tells the same in pieces of every size, with every kind of line end', () => {
    for (const end of ['\n', '\r\n', '\r'])
      for (let size = 1; size < 70; size += 1)
        expect(counted(new StreamCount(wire), Buffer.from(text(events).replaceAll('\n', end)), size).passed).toEqual({
          tokens: TOKENS,
          final: true,
          writtenTokens: WRITTEN,
        })
  })

  test('one that broke off tells what was written, and that this is not all', () => {
    const cut = Buffer.from(text(events.slice(0, 2)))
    expect(counted(new StreamCount(wire), cut).passed).toEqual({ tokens: undefined, final: false, writtenTokens: WRITTEN })
  })

  test('junk between the events is passed over', () => {
    const junk =
      ': keep-alive\n\ndata: {not json\n\ndata: 7\n\ndata: null\n\nevent: x\ndata: {"usage":7,"choices":[7,{}],"type":[]}\n\n'
    const whole = junk + events.map((one) => event(one) + junk).join('')
    expect(counted(new StreamCount(wire), Buffer.from(whole)).passed).toMatchObject({ tokens: TOKENS, final: true })
  })

  test('from an event on that is too large to read, every byte counts as written', () => {
    const count = new StreamCount(wire)
    for (let sent = 0; sent < 16; sent += 1) count.push(Buffer.alloc(1024 * 1024, 'x'))
    counted(count, Buffer.from(`\n\n${text(events)}`))
    const { tokens, final, writtenTokens } = count.passed
    expect([tokens, final]).toEqual([undefined, false])
    // Four bytes are a token; up to a piece may be lost where reading ended.
    expect(writtenTokens).toBeGreaterThan(15 * 256 * 1024)
    expect(writtenTokens).toBeLessThan(17 * 256 * 1024)
  })
})

test('a chat that tells its usage as it goes is believed at its end', () => {
  const chunk = (usage: object) => event({ choices: [{ index: 0, delta: { content: 'abcd' } }], usage })
  const count = counted(new StreamCount('chat'), Buffer.from(chunk({ ...CHAT_USAGE, completion_tokens: 1 }) + chunk(CHAT_USAGE)))
  expect(count.passed).toEqual({ tokens: TOKENS, final: false, writtenTokens: 2 })
  count.end()
  expect(count.passed.final).toBe(true)
})

test('a last event without an empty line after it counts, when the stream ended well', () => {
  const count = counted(new StreamCount('responses'), Buffer.from(text(RESPONSES_EVENTS).trimEnd()))
  expect(count.passed.tokens).toBeUndefined()
  count.end()
  expect(count.passed.tokens).toEqual(TOKENS)
})

test('arguments of tool calls are text that the model wrote', () => {
  const delta = {
    tool_calls: [{ index: 0, id: 'call_12345678', type: 'function', function: { name: 'abcd', arguments: '{"a":1}!' } }],
  }
  expect(counted(new StreamCount('chat'), Buffer.from(event({ choices: [{ delta }] }))).passed.writtenTokens).toBe(3)
})

test('a document is read when it is whole', () => {
  const body = Buffer.from(JSON.stringify({ text: 'ü', usage: CHAT_USAGE }))
  const count = counted(new BodyCount('chat'), body, 1)
  expect(count.passed).toMatchObject({ tokens: undefined, final: false })
  count.end()
  expect(count.passed).toMatchObject({ tokens: TOKENS, final: true })
  const broken = counted(new BodyCount('chat'), Buffer.from('{"usage":'))
  broken.end()
  expect(broken.passed).toMatchObject({ tokens: undefined, final: true })
})
