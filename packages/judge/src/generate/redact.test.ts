import { expect, test } from 'vitest'
import { Redactor } from './redact.ts'

const KEY = 'sk-0123456789abcdef'
const LONGER = `${KEY}-and-more`
const UMLAUT = 'geheim-ß-schlüssel'

const pieces = (text: string, size: number): string[] =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, index) => text.slice(index * size, (index + 1) * size))

test.each([1, 2, 3, 5, 7, 18, 19, 20, 1_000])('a secret is found whole or cut into pieces of %i characters', (size) => {
  const stream = new Redactor([KEY, UMLAUT]).stream()
  const text = `a ${KEY} b sk-0123 ${KEY}${KEY} ${UMLAUT} sk-012345678`
  const clean =
    pieces(text, size)
      .map((piece) => stream.push(piece))
      .join('') + stream.end()
  expect(clean).toBe('a *** b sk-0123 ****** *** sk-012345678')
})

test.each([1, 2, 3, 4, 9, 1_000])('bytes in pieces of %i are cleaned without being whole characters', (size) => {
  const stream = new Redactor([UMLAUT]).byteStream()
  const bytes = Buffer.from(`äöü ${UMLAUT} 🎈 ${UMLAUT}`)
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) parts.push(stream.push(bytes.subarray(at, at + size)))
  parts.push(stream.end())
  expect(Buffer.concat(parts).toString()).toBe('äöü *** 🎈 ***')
})

test('no more is held back than can be the beginning of a secret', () => {
  const stream = new Redactor([KEY]).stream()
  expect(stream.push('nothing secret here')).toBe('nothing secret here')
  expect(stream.push('and s')).toBe('and ')
  expect(stream.push('o on')).toBe('so on')
  const almost = KEY.slice(0, -1)
  expect(stream.push(almost)).toBe('')
  expect(stream.push('!')).toBe(`${almost}!`)
  expect(stream.end()).toBe('')
})

test.each([1, 4, 19, 25, 100])('where one secret begins with another the longer one counts, in pieces of %i', (size) => {
  const stream = new Redactor([KEY, LONGER]).stream()
  const clean =
    pieces(`<${LONGER}> <${KEY}> <${KEY}-an`, size)
      .map((piece) => stream.push(piece))
      .join('') + stream.end()
  expect(clean).toBe('<***> <***> <***-an')
})

test('whole values: names and strings of JSON, lines, and what is too short to be a secret', () => {
  const redactor = new Redactor([KEY, 'short'])
  expect(redactor.json({ [KEY]: [`x${KEY}`, 1, null, { deep: KEY }] })).toEqual({ '***': ['x***', 1, null, { deep: '***' }] })
  const line = {
    stage: 'coding',
    level: 'info',
    summary: `key ${KEY}`,
    meta: { call: { key: KEY } },
    kind: 'x',
    delta: KEY,
  } as const
  expect(redactor.line(line)).toEqual({ ...line, summary: 'key ***', meta: { call: { key: '***' } }, delta: '***' })
  expect(redactor.text('a short text')).toBe('a short text')
  expect([redactor.isIn(`..${KEY}..`), redactor.isIn('short')]).toEqual([true, false])
  redactor.add('another-secret')
  expect(redactor.text('another-secret')).toBe('***')
})
