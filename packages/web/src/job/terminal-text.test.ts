import { expect, test } from 'vitest'
import { TerminalText } from './terminal-text.ts'

const bytes = Buffer.from('grün \u001B[1;31mrot\u001B[0m\r\n\u001B]0;title\u0007🌍 \u001BM\u202Eend\n')

test('cut anywhere, the text is the same', () => {
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const text = new TerminalText(false)
    expect(text.push(bytes.subarray(0, cut)) + text.push(bytes.subarray(cut))).toBe('grün rot\n🌍 end\n')
  }
})

test('byte by byte too', () => {
  const text = new TerminalText(false)
  expect([...bytes].map((byte) => text.push(Uint8Array.of(byte))).join('')).toBe('grün rot\n🌍 end\n')
})

test('what begins inside a character begins with the next', () => {
  expect(new TerminalText(true).push(Buffer.from('🌍 x').subarray(2))).toBe(' x')
})

test('an escape sequence that never ends does not hold the rest back forever', () => {
  const text = new TerminalText(false)
  expect(text.push(Buffer.from(`\u001B[${'1'.repeat(300)}`))).toContain('111')
})
