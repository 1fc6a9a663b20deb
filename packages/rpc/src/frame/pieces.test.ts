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
      expect(joined(1_000_000, [...pieces, ...piecesOf('next', size)])).toEqual({ texts: [text, 'next'], faults: [] })
    }
})

test('a text that is too long is passed over whole and said to be, and the next one comes', () => {
  const { texts, faults } = joined(1_000, [...piecesOf('x'.repeat(900), 30), ...piecesOf('ok', 3)])
  expect({ texts, faults }).toEqual({ texts: ['ok'], faults: ['a text has more than 1000 bytes'] })
})

test('bytes come out as bytes, beside texts, and are a fault where nobody takes them', () => {
  const seen: unknown[] = []
  const joiner = new PieceJoiner(1_000, {
    text: (text) => void seen.push(text),
    bytes: (parts) => void seen.push([...Buffer.concat(parts)]),
    fault: (fault) => void seen.push(fault),
  })
  for (const piece of [...piecesOfBytes([Buffer.of(1, 2), Buffer.of(3, 0, 255)], 2), ...piecesOf('text', 2)]) joiner.push(piece)
  expect(seen).toEqual([[1, 2, 3, 0, 255], 'text'])
  expect(joined(100, piecesOfBytes([Buffer.of(1)], 2)).faults).toEqual(['a frame is not text'])
})

test('pieces without end count by their number, whatever is in them', () => {
  const faults: string[] = []
  const joiner = new PieceJoiner(1024 * 1024, { text: () => undefined, fault: (fault) => void faults.push(fault) })
  for (let sent = 0; sent < 10_000; sent += 1) joiner.push(Buffer.of(1))
  joiner.push(Buffer.of(0))
  expect(faults).toEqual(['a text has more than 1048576 bytes'])
})

test('what is no piece is said to be none', () => {
  const { texts, faults } = joined(10, [Buffer.alloc(0), Buffer.of(9, 1), ...piecesOf('ok', 3)])
  expect(texts).toEqual(['ok'])
  expect(faults).toHaveLength(2)
})
