import { expect, test } from 'vitest'
import { PasteReader } from './paste.ts'

const BEGIN = '\u001B[200~'
const END = '\u001B[201~'

function read(...chunks: readonly (Buffer | string)[]) {
  const reader = new PasteReader()
  return chunks.map((chunk) => reader.take(chunk))
}

test('what stands between the brackets is pasted, wherever it is cut, and the brackets are gone', () => {
  const pasted = `${BEGIN}one\r/a\rtwo${END}`
  for (let first = 0; first <= pasted.length; first += 1)
    for (let second = first; second <= pasted.length; second += 1) {
      const reader = new PasteReader()
      const pieces = [pasted.slice(0, first), pasted.slice(first, second), pasted.slice(second)].map((part) => reader.take(part))
      expect(pieces.map(({ text }) => text).join('')).toBe('one\r/a\rtwo')
      expect(pieces.filter(({ text, isPasted }) => text !== '' && !isPasted)).toEqual([])
      expect(reader.take('/a\r')).toEqual({ text: '/a\r', isPasted: false })
    }
})

test('one character at a time is the same', () => {
  const pieces = read(...`${BEGIN}a${END}b`.split('')).filter(({ text }) => text !== '')
  expect(pieces).toEqual([
    { text: 'a', isPasted: true },
    { text: 'b', isPasted: false },
  ])
})

test('a bracket marks all that came with it', () => {
  expect(read(`/${BEGIN}a`, `${END}\r`, 'x')).toEqual([
    { text: '/a', isPasted: true },
    { text: '\r', isPasted: true },
    { text: 'x', isPasted: false },
  ])
})

test('without brackets several lines at once are pasted, and one is typed', () => {
  expect(read('one\r/a', '\r', 'one\r\n', 'one\n\n', 'two').map(({ isPasted }) => isPasted)).toEqual([
    true,
    false,
    false,
    true,
    false,
  ])
})

test('other keys stay as they are: arrows also when they are cut, a lone Escape is dropped', () => {
  const texts = (...chunks: readonly string[]): string =>
    read(...chunks)
      .map(({ text }) => text)
      .join('')
  expect(texts('\u001B[A', '\u001B', '[', 'A', '\u001B[2', '~', '\u001B[201', 'x')).toBe('\u001B[A\u001B[A\u001B[2~\u001B[201x')
  expect(texts('\u001B', 'a', '\u001B', '\r', '\u001Bb')).toBe('a\r\u001Bb')
})

test('a character that is cut is put together', () => {
  const [first, second] = ['é'].map((text) => Buffer.from(text)).flatMap((bytes) => [bytes.subarray(0, 1), bytes.subarray(1)])
  expect(read(first ?? '', second ?? '').map(({ text }) => text)).toEqual(['', 'é'])
})
