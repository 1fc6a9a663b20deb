import { describe, expect, test } from 'vitest'
import { cutText, headOf } from './cut.ts'
import { seeded } from '../fixture/random.ts'
import { HeadAndTail } from './head-and-tail.ts'

test('what fits stays as it is', () => {
  expect(cutText('größe', 7)).toBe('größe')
  expect(cutText('', 0)).toBe('')
})

test('what does not fit keeps its head and its tail, and says what is missing', () => {
  const text = `${'a'.repeat(500)}${'b'.repeat(500)}`
  const cut = cutText(text, 100)
  const [, head, count, tail] = /^(a+)\n… (\d+) bytes left out …\n(b+)$/.exec(cut) ?? []
  expect((head ?? '').length + Number(count) + (tail ?? '').length).toBe(1_000)
  expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(100)
})

const LETTERS = ['a', 'ü', '漢', '😀', '\n', '👨‍👩‍👧', '\u0301']

describe('any text, any bound, any pieces', () => {
  const cases = Array.from({ length: 600 }, (_, seed) => seed)
  const text = (seed: number): string => {
    const random = seeded(seed)
    return Array.from({ length: random.below(300) }, () => random.pick(LETTERS)).join('')
  }

  test('the bound is kept and no character is parted', () => {
    for (const seed of cases) {
      const whole = text(seed)
      const limit = seeded(seed + 10_000).below(500)
      const cut = cutText(whole, limit)
      expect({ seed, fits: Buffer.byteLength(cut) <= limit }).toEqual({ seed, fits: true })
      expect({ seed, broken: cut.includes('\uFFFD') }).toEqual({ seed, broken: false })
      const [head = '', rest] = cut.split(/\n… \d+ bytes left out …\n/)
      expect({ seed, starts: whole.startsWith(head), ends: whole.endsWith(rest ?? '') }).toEqual({
        seed,
        starts: true,
        ends: true,
      })
      expect(whole.startsWith(headOf(whole, limit))).toBe(true)
    }
  })

  test('taken in pieces it is the same as taken whole', () => {
    for (const seed of cases) {
      const random = seeded(seed + 20_000)
      const bytes = Buffer.from(text(seed).repeat(3))
      const limit = 60 + random.below(400)
      const pieces = new HeadAndTail(limit)
      for (let at = 0; at < bytes.length;) {
        const size = 1 + random.below(90)
        pieces.add(bytes.subarray(at, at + size))
        at += size
      }
      const taken = pieces.text()
      expect({ seed, total: pieces.total, fits: Buffer.byteLength(taken) <= limit, broken: taken.includes('\uFFFD') }).toEqual({
        seed,
        total: bytes.length,
        fits: true,
        broken: false,
      })
      const [head = '', tail] = taken.split(/\n… \d+ bytes left out …\n/)
      expect(bytes.toString().startsWith(head) && bytes.toString().endsWith(tail ?? '')).toBe(true)
    }
  })

  test('a hundred megabytes take no more room than the bound', () => {
    const taken = new HeadAndTail(1_000)
    const piece = Buffer.alloc(1024 * 1024, 'x')
    for (let count = 0; count < 100; count++) taken.add(piece)
    expect([taken.total, taken.text().length <= 1_000]).toEqual([100 * 1024 * 1024, true])
  })
})
