import type { CompareMode } from '@parley/protocol'
import { expect, test } from 'vitest'
import { compareWhole } from './compare-whole.ts'

/** The modes again, as plainly as they can be said, over text. */
const REFERENCE: Readonly<Record<string, (expected: string, actual: string) => boolean>> = {
  tokens: (expected, actual) => same(tokensOf(expected), tokensOf(actual)),
  exact: (expected, actual) => expected === actual,
  trim_ws: (expected, actual) => same(trimmed(expected), trimmed(actual)),
  lines: (expected, actual) => same(whole(expected), whole(actual)),
  unordered_lines: (expected, actual) => same(trimmed(expected).sort(), trimmed(actual).sort()),
  floats: (expected, actual) => {
    const [wanted, got] = [tokensOf(expected), tokensOf(actual)]
    return wanted.length === got.length && wanted.every((token, index) => near(token, got[index] ?? ''))
  },
}

const same = (left: readonly string[], right: readonly string[]): boolean => JSON.stringify(left) === JSON.stringify(right)
const tokensOf = (text: string): string[] => text.split(/[ \t\n\v\f\r]+/).filter((token) => token !== '')
const trimmed = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.replace(/[ \t\v\f\r]+$/, ''))
    .join('\n')
    .replace(/\n+$/, '')
    .split('\n')
const whole = (text: string): string[] => text.replaceAll('\r\n', '\n').replace(/\n$/, '').split('\n')

function near(wanted: string, got: string): boolean {
  if (wanted === got) return true
  const [left, right] = [wanted, got].map((token) => (/^-?(\d+\.?\d*|\.\d+)(e-?\d+)?$/.test(token) ? Number(token) : undefined))
  if (left === right) return left !== undefined
  if (Math.abs(left ?? 0) === Infinity || Math.abs(right ?? 0) === Infinity) return false
  return left !== undefined && right !== undefined && Math.abs(left - right) <= Math.max(0.01, Math.abs(left) * 0.01) + 1e-12
}

/** A small generator of numbers that gives the same ones every time. */
function randomFrom(seed: number): (bound: number) => number {
  let state = seed
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}

const PIECES = [
  '1',
  '2',
  '1.005',
  '1.02',
  '-3',
  '.5',
  '1e2',
  '100',
  'a',
  'ab',
  ' ',
  ' ',
  '\n',
  '\n',
  '\r\n',
  '\t',
  '\r',
  '\v',
  '\u00e9',
  '\u0000',
]
const ROUNDS = 20_000

test.each(Object.entries(REFERENCE))('%s agrees with its plain form', (name, reference) => {
  const random = randomFrom(name.length * 7_919)
  const piece = (): string => PIECES[random(PIECES.length)] ?? ''
  const seen = { AC: 0, WA: 0, PE: 0 }
  for (let round = 0; round < ROUNDS; round += 1) {
    const expected = Array.from({ length: random(9) }, piece)
    const actual = change(expected, random, piece)
    const [left, right] = [expected.join(''), actual.join('')]
    const { verdict, diff } = compareWhole({
      mode: name as CompareMode,
      tolerance: { absolute: 0.01, relative: 0.01 },
      expected: Buffer.from(left, 'latin1'),
      actual: Buffer.from(right, 'latin1'),
    })
    const layout = ['exact', 'lines', 'trim_ws'].includes(name) && REFERENCE['tokens']?.(left, right)
    const wanted = reference(left, right) ? 'AC' : layout ? 'PE' : 'WA'
    expect({ left, right, verdict, ok: diff.ok }).toEqual({ left, right, verdict: wanted, ok: wanted === 'AC' })
    seen[verdict] += 1
  }
  // The random pairs are worth something only if both outcomes are common.
  expect(Math.min(seen.AC, seen.WA + seen.PE)).toBeGreaterThan(ROUNDS / 50)
})

/** Mostly the same again: some pieces replaced, dropped, doubled, or two of them swapped. */
function change(pieces: readonly string[], random: (bound: number) => number, piece: () => string): readonly string[] {
  const changed = [...pieces]
  for (let times = random(3); times > 0; times -= 1) {
    const at = random(changed.length + 1)
    const kind = random(4)
    if (kind === 0) changed.splice(at, 1, piece())
    if (kind === 1) changed.splice(at, 1)
    if (kind === 2) changed.splice(at, 0, piece())
    if (kind === 3) changed.splice(at, 2, ...changed.slice(at, at + 2).toReversed())
  }
  return changed
}
