import type { CompareMode } from '@parley/protocol'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AnswerQuestion, compareAnswer } from './compare-answer.ts'
import { type AnswerVerdict, compareWhole } from './compare-whole.ts'
import { Comparers, TURN_BYTES } from './comparers.ts'
import type { ExpectedAnswer } from './comparison.ts'
import { PREVIEW_BYTES } from './preview.ts'

const NONE = { absolute: 0, relative: 0 }
const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1')
const compare = (mode: CompareMode, expected: string, actual: string, tolerance = { absolute: 1e-6, relative: 1e-6 }) =>
  compareWhole({ mode, tolerance, expected: bytes(expected), actual: bytes(actual) })
const verdict = (mode: CompareMode, expected: string, actual: string): string => compare(mode, expected, actual).verdict
const message = (mode: CompareMode, expected: string, actual: string): string => compare(mode, expected, actual).diff.message
const text = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8')
const place = { owner: 'ann', signal: new AbortController().signal, whileWaiting: <R>(wait: () => Promise<R>) => wait() }
const comparers = new Comparers()
const comparing = (question: AnswerQuestion): Promise<AnswerVerdict> => compareAnswer(question, comparers, place)

describe('what each mode takes for the same', () => {
  test.each<[CompareMode, string, string, string]>([
    ['tokens', '1 2\n3\n', '1\t2 3', 'AC'],
    ['tokens', '', ' \r\n', 'AC'],
    ['tokens', '1 2', '12', 'WA'],
    ['tokens', '1', '01', 'WA'],
    ['trim_ws', 'a  \r\nb\n\n\n', 'a\nb', 'AC'],
    ['trim_ws', 'a\n\nb', 'a\nb', 'PE'],
    ['trim_ws', 'a b', ' a b', 'PE'],
    ['trim_ws', 'a b', 'a c', 'WA'],
    ['exact', 'a\n', 'a\n', 'AC'],
    ['exact', 'a\n', 'a', 'PE'],
    ['exact', 'a\n', 'b\n', 'WA'],
    ['lines', 'a\r\nb\r\n', 'a\nb', 'AC'],
    ['lines', 'a\n', 'a\n\n', 'PE'],
    ['lines', 'a', 'a ', 'PE'],
    ['lines', 'a\r', 'a', 'PE'],
    ['lines', '', '\n', 'AC'],
    ['lines', 'a', 'b', 'WA'],
    ['unordered_lines', 'b\na\n', 'a  \r\nb\n\n', 'AC'],
    ['unordered_lines', 'a\na\nb', 'a\nb\nb', 'WA'],
    ['unordered_lines', 'a\nb', 'a', 'WA'],
    ['unordered_lines', 'a', 'a\na', 'WA'],
    ['floats', '1.0 x', '1.0000005\nx', 'AC'],
    ['floats', '1.0 x', '1.0 y', 'WA'],
    ['floats', '0.1', '0.100001', 'AC'],
    ['floats', '0.1', '0.100002', 'WA'],
    ['floats', '1000000', '1000001', 'AC'],
    ['floats', 'x', '1', 'WA'],
    ['floats', '1', 'x', 'WA'],
  ])('%s: %j and %j is %s', (mode, expected, actual, wanted) => {
    expect(verdict(mode, expected, actual)).toBe(wanted)
  })

  test.each<[string, string, string]>([
    ['nan', '-NaN', 'AC'],
    ['nan', '0', 'WA'],
    ['0', 'nan', 'WA'],
    ['inf', 'Infinity', 'AC'],
    ['inf', '-inf', 'WA'],
    ['inf', '1e308', 'WA'],
    ['1e308', 'inf', 'WA'],
    ['nanny', 'nan', 'WA'],
    ['1', '0x1', 'WA'],
    ['1', '1.', 'AC'],
    ['0.5', '.5', 'AC'],
    ['-0', '0', 'AC'],
    ['1', '.', 'WA'],
    ['1', '1e', 'WA'],
    ['12345678901234567890', '12345678901234567891', 'AC'],
  ])('floats: %s and %s is %s, however wide the tolerance', (expected, actual, wanted) => {
    expect(compare('floats', expected, actual, { absolute: 0.9, relative: 0.5 }).verdict).toBe(wanted)
  })

  test('no tolerance at all asks for the same number, in whatever spelling', () => {
    expect(compare('floats', '1.50', '1.5', NONE).verdict).toBe('AC')
    expect(compare('floats', '1', '1.0000000000000002', NONE).verdict).toBe('WA')
  })

  test('a null tolerance is one millionth', async () => {
    const near = (actual: string) =>
      comparing({ mode: 'floats', tolerance: null, expected: { kind: 'bytes', bytes: bytes('0') }, actual: bytes(actual) })
    expect([(await near('0.000001')).verdict, (await near('0.0000011')).verdict]).toEqual(['AC', 'WA'])
  })

  test('bytes that are no text are compared as they are', () => {
    const actual = Uint8Array.of(0xff, 0xfe, 0x00, 0x0a)
    const tokens = (expected: Uint8Array) => compareWhole({ mode: 'tokens', tolerance: NONE, expected, actual }).verdict
    expect(tokens(Uint8Array.of(0xff, 0xfe, 0x00))).toBe('AC')
    expect(tokens(Uint8Array.of(0xff, 0xfd, 0x00))).toBe('WA')
  })

  test('modes that a program decides are refused', () => {
    expect(() => verdict('checker', 'a', 'b')).toThrow(TypeError)
    expect(() => verdict('interactive', 'a', 'b')).toThrow(TypeError)
  })
})

describe('what is said about a difference', () => {
  test.each<[CompareMode, string, string, string]>([
    ['tokens', '1 2 7', '1 2 8', 'token 3: expected 7, got 8'],
    ['tokens', '1 2 3 4 5 6', '1 2 3 4 5', 'answer ends after token 5, expected 6'],
    ['tokens', '1 2', '1 2 3', 'answer goes on after token 2 with 3'],
    ['tokens', '7', '\n', 'answer is empty, expected 7'],
    ['tokens', '', '7', 'expected nothing, got 7'],
    ['tokens', '7', '\u0001', String.raw`token 1: expected 7, got \u{1}`],
    ['trim_ws', 'a\nb\nc', 'a\nb\nd', 'line 3: expected "c", got "d"'],
    ['trim_ws', 'a\nb', 'a\n', 'answer ends after line 1, expected "b"'],
    ['lines', 'a\nb', 'a\n b', 'only white space differs: line 2: expected "b", got " b"'],
    ['lines', 'a', 'a\nb', 'answer goes on after line 1 with "b"'],
    ['exact', 'abc', 'abd', 'byte 3: expected "c", got "d"'],
    ['exact', 'abc', 'ab', 'answer ends after byte 2, 1 more expected'],
    ['exact', 'ab', 'abc', 'answer goes on after byte 2 with "c"'],
    ['unordered_lines', 'a\nb', 'b\nc', 'line 2: "c" is not expected, or not so often'],
    ['unordered_lines', 'a\nb', 'b', 'the expected line "a" is missing'],
    ['floats', '1 2.5', '1 2.6', 'token 2: expected 2.5, got 2.6'],
  ])('%s: %j and %j', (mode, expected, actual, wanted) => {
    expect(message(mode, expected, actual)).toBe(wanted)
  })

  test('previews hold ten tokens on each side', () => {
    const numbers = Array.from({ length: 40 }, (_, index) => `${index}`)
    const { diff } = compare('tokens', numbers.join('\n'), numbers.map((number) => (number === '20' ? 'x' : number)).join(' '))
    expect(text(diff.expected_preview_b64)).toBe(numbers.slice(10, 31).join(' '))
    expect(text(diff.actual_preview_b64)).toBe([...numbers.slice(10, 20), 'x', ...numbers.slice(21, 31)].join(' '))
  })

  test.each<CompareMode>(['tokens', 'trim_ws', 'exact', 'lines', 'unordered_lines', 'floats'])(
    '%s: long pieces are cut',
    (mode) => {
      const { diff } = compare(mode, `${'a'.repeat(5_000)}b${'c'.repeat(5_000)}`, `${'a'.repeat(5_000)}x${'y'.repeat(5_000)}`)
      expect(diff.message.length).toBeLessThan(300)
      expect(Buffer.from(diff.expected_preview_b64, 'base64').length).toBeLessThanOrEqual(PREVIEW_BYTES)
      expect(Buffer.from(diff.actual_preview_b64, 'base64').length).toBeLessThanOrEqual(PREVIEW_BYTES)
    },
  )

  test('a late difference in a long line is shown, not its start', () => {
    const line = 'a'.repeat(500)
    expect(message('lines', `${line}1`, `${line}2`)).toBe('line 1: expected "…aaaaaaaaaa1", got "…aaaaaaaaaa2"')
  })
})

describe('large answers', () => {
  const LINES = 1_500_000
  const numbers = Array.from({ length: LINES }, (_, index) => `${(index * 2_654_435_761) % 1_000_003}.25`)
  const unix = Buffer.from(`${numbers.join('\n')}\n`)
  const dos = Buffer.from(`${numbers.join('\r\n')}\r\n`)
  const shuffled = Buffer.from(numbers.toReversed().join('\n'))
  const rounded = Buffer.from(numbers.map((number) => number.replace(/5$/, '50000001')).join(' '))
  const broken = Buffer.concat([unix.subarray(0, -3), Buffer.from('9\n')])
  let folder = ''
  let none: Pick<AnswerQuestion, 'tolerance' | 'expected'>
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-compare-'))
    writeFileSync(join(folder, 'unix'), unix)
    none = { tolerance: null, expected: { kind: 'file', path: join(folder, 'unix'), sizeBytes: unix.length } }
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  test.each<[CompareMode, Buffer, string]>([
    ['tokens', dos, 'AC'],
    ['trim_ws', dos, 'AC'],
    ['lines', dos, 'AC'],
    ['exact', dos, 'PE'],
    ['unordered_lines', shuffled, 'AC'],
    ['floats', rounded, 'AC'],
    ['tokens', shuffled, 'WA'],
    ['unordered_lines', broken, 'WA'],
    ['lines', broken, 'WA'],
    ['exact', broken, 'WA'],
  ])('%s, and the event loop turns all the while', async (mode, actual, wanted) => {
    expect(unix.length).toBeGreaterThan(13_000_000)
    const { result, turns } = await turning(comparing({ mode, ...none, actual }))
    expect(result.verdict).toBe(wanted)
    expect(turns).toBeGreaterThan((unix.length + actual.length) / TURN_BYTES)
  })

  test('the last of very many tokens is named', async () => {
    const { diff } = await comparing({ mode: 'tokens', ...none, actual: broken })
    expect(diff.message).toMatch(`token ${LINES}: expected`)
  })

  test('an answer that is right to the byte does not hold the event loop either, and the caller keeps its bytes', async () => {
    const actual = Buffer.from(unix)
    const { result, turns } = await turning(comparing({ mode: 'unordered_lines', ...none, actual }))
    expect(result.verdict).toBe('AC')
    expect(turns).toBeGreaterThanOrEqual(Math.floor(unix.length / TURN_BYTES))
    await comparing({ mode: 'exact', ...none, actual: broken })
    expect([unix.length, broken.length]).toEqual([actual.length, actual.length - 1])
  })

  test('many at once all get their own answer', async () => {
    const last = (index: number): Buffer => Buffer.concat([unix, Buffer.from(`x${index}\n`)])
    const asked = Array.from({ length: 5 }, (_, index) => comparing({ mode: 'tokens', ...none, actual: last(index) }))
    const messages = (await Promise.all(asked)).map(({ diff }) => diff.message)
    expect(messages).toEqual([0, 1, 2, 3, 4].map((index) => `answer goes on after token ${LINES} with x${index}`))
  })

  test('a short answer to compare a long one with is given to the thread', async () => {
    const { diff } = await comparing({
      mode: 'tokens',
      tolerance: null,
      expected: { kind: 'bytes', bytes: bytes('x') },
      actual: unix,
    })
    expect(diff.message).toBe('token 1: expected x, got 0.25')
  })

  test.each(['with the same size', 'with another size'])(
    'a long one %s that cannot be read is nobody’s wrong answer',
    async (what) => {
      const sizeBytes = what === 'with the same size' ? unix.length : 1
      const expected: ExpectedAnswer = { kind: 'file', path: join(folder, 'gone'), sizeBytes }
      const asked = comparing({ mode: 'tokens', tolerance: null, expected, actual: unix })
      await expect(asked).rejects.toMatchObject({ code: 'expected_unreadable' })
    },
  )

  test('a failure in the thread is the caller’s', async () => {
    await expect(comparing({ mode: 'checker', ...none, actual: broken })).rejects.toThrow('a program decides')
  })
})

/** How often the event loop came round until the work was done. */
async function turning<Result>(work: Promise<Result>): Promise<{ readonly result: Result; readonly turns: number }> {
  let turns = 0
  const stop = new AbortController()
  const counting = (async () => {
    for (; !stop.signal.aborted; turns += 1) await nextTurn()
  })()
  try {
    const result = await work
    return { result, turns }
  } finally {
    stop.abort()
    await counting
  }
}
