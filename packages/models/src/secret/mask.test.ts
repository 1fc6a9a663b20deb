import { describe, expect, test } from 'vitest'
import { quoted } from '../proxy/upstream-words.ts'
import { KEY_FORMS, readable } from '../testing/key-forms.ts'
import { Mask } from './mask.ts'

const SECRET = 'sk-live/Zq9+7XcVbN.mL2pW_4tY'
const FORMS = Object.entries(KEY_FORMS)

/** Any eight characters of the key. */
function expectNothingOf(secret: string, text: string): void {
  const seen = readable(text)
  for (let at = 0; at + 8 <= secret.length; at += 1) expect(seen).not.toContain(secret.slice(at, at + 8).toLowerCase())
}

function streamed(text: string, size: number): string {
  const mask = new Mask(SECRET)
  const bytes = Buffer.from(text)
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) parts.push(mask.push(bytes.subarray(at, at + size)))
  return Buffer.concat([...parts, mask.flush()]).toString()
}

describe.each(FORMS)('a key %s', (_name, form) => {
  test('is masked in words, in a refusal and in an event, wherever that is cut', () => {
    const said = `no “${form(SECRET)}” Grüße`
    expect(() => expectNothingOf(SECRET, said)).toThrow('not to contain')
    expectNothingOf(SECRET, new Mask(SECRET).words(said))
    // As one writes it that escapes no more than must be, all slashes, and everything.
    const bodies = [JSON.stringify({ error: { message: said } }), JSON.stringify({ error: said }).replaceAll('/', '\\/')]
    bodies.push(`{"error":{"message":"${said.replaceAll(/./g, (char) => `\\u${hex4(char)}`)}"}}`)
    for (const body of bodies) {
      const refusal = new Mask(SECRET).refusal(body)
      expectNothingOf(SECRET, refusal)
      expectNothingOf(SECRET, JSON.stringify(JSON.parse(refusal)))
      const events = `event: error\ndata: ${body}\n\ndata: {"delta":"Grüße\\n"}\n\n`
      for (const size of [1, 7, 64, events.length]) {
        const passed = streamed(events, size)
        expectNothingOf(SECRET, passed)
        expect(Buffer.byteLength(passed)).toBe(Buffer.byteLength(events))
        expect(passed).toMatch(/^event: error\ndata: \{"error":.*\}\n\ndata: \{"delta":"Grüße\\n"\}\n\n$/)
      }
    }
    // In what a model writes.
    const written = `data: ${JSON.stringify({ delta: `"${form(SECRET)}"` })}\n`
    expectNothingOf(SECRET, streamed(written, 5))
  })
})

const hex4 = (char: string): string => char.charCodeAt(0).toString(16).padStart(4, '0')

test('everything else passes unchanged, and a whole line at once', () => {
  const text = 'data: {"a":"sk-live/ 100% &amp; \\u00e9 Grüße","n":12345678901234567890}\r\n\r\n: sk-live\n\ndata: [DONE]\n\n'
  for (let size = 1; size <= text.length; size += 1) expect(streamed(text, size)).toBe(text)
  const mask = new Mask(SECRET)
  expect(mask.push(Buffer.from('data: {}\n\ndata: x')).toString()).toBe('data: {}\n\n')
  expect(mask.push(Buffer.from('y\n')).toString()).toBe('data: xy\n')
  for (const none of [null, '', 'short']) expect(new Mask(none).push(Buffer.from('short')).toString()).toBe('short')
})

test('a short run in common with the key is a word in what a model writes, and masked in what is said about a failure', () => {
  const key = 'sk-no-key-required'
  const event = '{"delta":"this is required"}\n'
  expect(new Mask(key).push(Buffer.from(event)).toString()).toBe(event)
  expect(new Mask(key).text('required')).toBe('required')
  expect(new Mask(key).words('a key is required')).toBe('a key is ********')
  const failed = '{"type":"response.failed","response":{"error":{"message":"required"}}}\n'
  expect(new Mask(key).push(Buffer.from(failed)).toString()).toBe(failed.replace('required', '********'))
})

test('JSON stays JSON, whatever the key is made of', () => {
  for (const key of ['"},{"error":{"', '","code":"x","', 'nnnnnnnnn', 'u0041u0041u0041', '\\\\\\\\\\\\\\\\\\', '1234567890']) {
    const said = { error: { message: `a ${key}\n${key.slice(1)}\u0001Z`, code: 'x', n: 1234567890 } }
    const masked = JSON.parse(new Mask(key).refusal(JSON.stringify(said))) as typeof said
    expect(masked.error).toMatchObject({ code: 'x', n: 1234567890 })
    expect(masked.error.message).not.toContain(key.slice(1))
  }
})

test('a line without end is masked in parts, and does not wait for ever', () => {
  const mask = new Mask(SECRET)
  const piece = Buffer.from(`"${'x'.repeat(99_990)}${SECRET}`)
  let [passed, most] = ['', 0]
  for (let count = 1; count <= 40; count += 1) {
    // Cut at another place of the key each time.
    passed += mask.push(piece.subarray(0, piece.length - (count % SECRET.length))).toString()
    passed += mask.push(piece.subarray(piece.length - (count % SECRET.length))).toString()
    most = Math.max(most, count * piece.length - passed.length)
  }
  passed += mask.flush().toString()
  expect(most).toBeLessThan(2 * 1024 * 1024)
  expect(passed === piece.toString().replace(SECRET, '*'.repeat(SECRET.length)).repeat(40)).toBe(true)
})

test('words of an upstream are quoted on one bounded line, without what is not seen, and a key that this divided is found', () => {
  const mask = new Mask(SECRET)
  expect(quoted('a\r\nb\u0000\u009b31mc\u2028d <b>e</b>\u202e f\u2066g\u200e', mask)).toBe('a b 31mc d e fg')
  expect(quoted(`x${SECRET.replaceAll(/./g, '$&\u200b')}y`, mask)).toBe(`x${'*'.repeat(SECRET.length)}y`)
  expect(quoted('z'.repeat(9_000), mask)).toBe(`${'z'.repeat(500)}…`)
  expect(quoted(`${'z'.repeat(490)}${SECRET}`, mask)).toBe(`${'z'.repeat(490)}${'*'.repeat(10)}…`)
})
