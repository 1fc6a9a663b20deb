import { expect, test } from 'vitest'
import { ByteLog } from './byte-log.ts'
import { LineLog } from './line-log.ts'

const bytes = new TextEncoder().encode('grün\n🌍\n\nend')

test('lines are told once they end, however they are cut', () => {
  for (let size = 1; size <= bytes.length; size += 1) {
    const log = new LineLog()
    const told: string[] = []
    for (let from = 0; from < bytes.length; from += size) log.push(bytes.subarray(from, from + size), (line) => told.push(line))
    expect(told).toEqual(['grün', '🌍', ''])
    expect([log.told, log.read]).toEqual([bytes.length - 3, bytes.length])
  }
})

test('a line without an end is let go, and the next one is told', () => {
  const log = new LineLog()
  const told: string[] = []
  log.push(new Uint8Array(2 * 1024 * 1024).fill(97), (line) => told.push(line))
  expect([log.told, log.read]).toEqual([2 * 1024 * 1024, 2 * 1024 * 1024])
  log.push(bytes, (line) => told.push(line))
  expect(told.slice(1)).toEqual(['🌍', ''])
})

test('what is pushed goes on behind what was read, and the other way around', () => {
  const log = new LineLog()
  log.push(bytes, () => {})
  expect([log.take(3), log.take(log.told), log.take(log.told + 20)]).toEqual([false, false, true])
  expect(log.read).toBe(log.told)
})

test('of bytes that overlap the new ones are told', () => {
  const log = new ByteLog()
  const piece = (from: number, to: number): number[] => [
    ...log.take(
      Uint8Array.from({ length: to - from }, (_, at) => from + at),
      to,
    ),
  ]
  expect([piece(0, 4), piece(2, 4), piece(2, 6), piece(6, 7)]).toEqual([[0, 1, 2, 3], [], [4, 5], [6]])
})
