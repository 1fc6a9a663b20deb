import { expect, test } from 'vitest'
import { PieceJoiner, piecesOf, piecesOfBytes } from './pieces.ts'

function joined(limitBytes: number, pieces: readonly Buffer[]) {
  const texts: string[] = []
  const faults: string[] = []
  const joiner = new PieceJoiner(limitBytes, { text: (text) => void texts.push(text), fault: (fault) => void faults.push(fault) })
  for (const piece of pieces) joiner.push(piece)
  return { texts, faults }
}

test('a text comes out of its pieces as it went in, however it was cut', () => {
  for (const text of ['', 'a', 'Grüße 👋', 'x'.repeat(1_000)])
    for (const size of [1, 2, 3, 7, 999, 1_000, 1_001, 5_000]) {
      const pieces = piecesOf(text, size)
      expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(size + 1)
      expect(joined(10_000, [...pieces, ...piecesOf('next', size)])).toEqual({ texts: [text, 'next'], faults: [] })
    }
})

test('a text that is too long is passed over whole and said to be, and the next one comes', () => {
  const { texts, faults } = joined(10, [...piecesOf('x'.repeat(11), 3), ...piecesOf('ok', 3)])
  expect({ texts, faults }).toEqual({ texts: ['ok'], faults: ['a text has more than 10 bytes'] })
})

test('bytes come out as bytes, beside texts, and are a fault where nobody takes them', () => {
  const seen: unknown[] = []
  const joiner = new PieceJoiner(100, {
    text: (text) => void seen.push(text),
    bytes: (bytes) => void seen.push([...bytes]),
    fault: (fault) => void seen.push(fault),
  })
  for (const piece of [...piecesOfBytes(Buffer.of(1, 2, 3, 0, 255), 2), ...piecesOf('text', 2)]) joiner.push(piece)
  expect(seen).toEqual([[1, 2, 3, 0, 255], 'text'])
  expect(joined(100, piecesOfBytes(Buffer.of(1), 2)).faults).toEqual(['a frame is not text'])
})

test('what is no piece is said to be none', () => {
  const { texts, faults } = joined(10, [Buffer.alloc(0), Buffer.of(9, 1), ...piecesOf('ok', 3)])
  expect(texts).toEqual(['ok'])
  expect(faults).toHaveLength(2)
})
