import { expect, test } from 'vitest'
import { type SseEvent, SseParser } from './sse-parser.ts'

function parse(chunks: readonly (string | Buffer)[], limit = 1_000): { events: SseEvent[]; parser: SseParser } {
  const events: SseEvent[] = []
  const parser = new SseParser(limit, (event) => events.push(event))
  for (const chunk of chunks) parser.push(Buffer.from(chunk))
  return { events, parser }
}
const STREAM =
  ': hello\nretry: 250\nevent: ping\nid: 7\ndata: first\ndata:second\ndata\n\nid: 8\ndata: \n\nevent: message\ndata: {"grüße":"世界 🌍"}\n\n'
const EVENTS: SseEvent[] = [
  { type: 'ping', data: 'first\nsecond\n', id: '7' },
  { type: 'message', data: '', id: '8' },
  { type: 'message', data: '{"grüße":"世界 🌍"}', id: '8' },
]

test.each([
  ['LF', '\n'],
  ['CR LF', '\r\n'],
  ['CR', '\r'],
])('reads the same events with %s, whole and byte by byte', (_name, end) => {
  const bytes = Buffer.from(STREAM.replaceAll('\n', end))
  expect(parse([bytes]).events).toEqual(EVENTS)
  // A lone CR at the very end could still be half of a CR LF, but the event is over either way.
  expect(parse(Array.from(bytes, (byte) => Buffer.from([byte]))).events).toEqual(EVENTS)
})

test('keeps the last event id and the wait that was asked for', () => {
  const { parser } = parse([STREAM, 'id: 9\n\n'])
  expect([parser.lastEventId, parser.retryMs]).toEqual(['9', 250])
})

test('skips the byte order mark, ignores unknown fields, bad waits and ids with a null', () => {
  const { events, parser } = parse(['\uFEFFdata: a\nfoo: b\nretry: soon\nid: x\0y\n\n'])
  expect(events).toEqual([{ type: 'message', data: 'a', id: undefined }])
  expect(parser.retryMs).toBeUndefined()
})

test('skips a byte order mark that comes in pieces', () => {
  const bytes = Buffer.from('\uFEFFdata: a\n\n')
  expect(parse([bytes.subarray(0, 1), bytes.subarray(1)]).events).toEqual([{ type: 'message', data: 'a', id: undefined }])
})

test('an event that has not ended is not handed out', () => {
  expect(parse(['data: a\n']).events).toEqual([])
})

test.each([
  ['one long line', ['data: ' + 'x'.repeat(2_000) + '\n\n']],
  ['a line that never ends', ['data: ', 'x'.repeat(600), 'x'.repeat(600)]],
  ['many lines', Array.from({ length: 300 }, () => 'data: xxxx\n')],
])('refuses an event beyond the limit: %s', (_name, chunks) => {
  expect(() => parse(chunks)).toThrow(expect.objectContaining({ code: 'too_large' }))
})

test('a thousand events in a row do not count together', () => {
  expect(parse(Array.from({ length: 1_000 }, () => `data: ${'x'.repeat(500)}\n\n`)).events).toHaveLength(1_000)
})
