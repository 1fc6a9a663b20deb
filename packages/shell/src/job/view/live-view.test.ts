import type { CaseItem, JobState, Verdict } from '@parley/protocol'
import { expect, test } from 'vitest'
import { screenAfter } from '../../testing/index.ts'
import { caseRow, caseRows } from './case-table.ts'
import { liveLines, liveView } from './live-view.ts'
import { bar, fit, plainText, widthOf } from '@parley/screen'
import { waitingText } from './waiting-text.ts'

const SCREEN = { columns: 80, rows: 12, isUnicode: false, hasColours: false }
const LIMITS = { time_limit_ms: 1_000, memory_limit_mb: 100 }

const caseOf = (name: string, verdict: Verdict, index: number, total: number): CaseItem => ({
  name,
  group: 'default',
  input_rel: '',
  expected_rel: null,
  expected_present: true,
  hidden: false,
  verdict,
  exit_code: 0,
  signal: null,
  timeout: false,
  output_limit_exceeded: false,
  time_ms: 500,
  wall_ms: 500,
  memory_kb: 10 * 1024,
  stdout_truncated: false,
  stderr_truncated: false,
  diff: null,
  message: verdict === 'WA' ? 'token 3: expected 7, got \u001b[31m8\u0007 and a lot more of it that does not fit' : null,
  points: 1,
  score: 1,
  reruns: 0,
  claim: 1,
  attempt: 1,
  index,
  total,
})

const STATE = { job_id: 'job_00000000000000000000000000', status: 'running_test', waiting: null, limits: LIMITS }
// The view looks at four fields of it.
const state = STATE as unknown as JobState

test('a frame holds header, status, progress and as many cases as the screen has room for', () => {
  const cases = Array.from({ length: 30 }, (_, index) => caseOf(`case-${index}`, index === 4 ? 'WA' : 'AC', index, 40))
  const lines = liveLines({ state, summary: 'test: running', cases, elapsedMs: 1_234 }, SCREEN)
  expect(lines[0]).toBe('job_00000000000000000000000000  running_test  1234 ms')
  expect(lines[2]).toBe('#######################....... 30/40')
  expect(lines.length).toBeLessThan(SCREEN.rows)
  expect(lines.at(-1)).toContain('case-29')
  for (const line of lines) expect(widthOf(line)).toBeLessThan(SCREEN.columns)
})

test('why a job waits is said in full, on as many lines as it takes', () => {
  const waiting = { code: 'no_language', message: 'no judge that is here has Go (tower: cpp, c, python; attic: java)' } as const
  const queued = { ...state, status: 'queued', waiting } as const
  const lines = liveLines({ state: queued, summary: '', cases: [], elapsedMs: 0 }, { ...SCREEN, columns: 50 })
  expect(lines.slice(1).join(' ').replaceAll(/ +/g, ' ')).toBe(waitingText(waiting))
  for (const line of lines) expect(widthOf(line)).toBeLessThan(50)
})

test.each([40, 60, 80, 120, 200])('a row fits into %d columns whatever its name', (columns) => {
  for (const name of ['1', 'a-very-long-name-that-goes-on-and-on-and-on-and-on', '测试用例测试用例测试用例测试用例测试用例'])
    for (const verdict of ['AC', 'WA', 'CANCELLED'] as const)
      for (const isUnicode of [true, false])
        expect(widthOf(caseRow(caseOf(name, verdict, 0, 1), LIMITS, { ...SCREEN, columns, isUnicode }))).toBeLessThanOrEqual(
          columns,
        )
})

test('of a case that was not run nothing is said to be measured', () => {
  const unrun = { ...caseOf('3', 'CANCELLED', 2, 4), time_ms: 0, wall_ms: 0, memory_kb: 0 }
  expect(caseRow(unrun, LIMITS, { ...SCREEN, columns: 60, isUnicode: true })).toMatch(/^ {2}3 +CANCELLED +– +–$/)
  expect(caseRow(unrun, LIMITS, { ...SCREEN, columns: 60 })).toMatch(/^ {2}3 +CANCELLED +- +-$/)
})

test('nothing that others wrote can move the cursor', () => {
  const row = caseRow(caseOf('evil\u001b[2J\nname', 'WA', 0, 1), LIMITS, { ...SCREEN, columns: 200 })
  expect(row).not.toMatch(/\p{Cc}/u)
  expect(row).toContain('expected 7')
  expect(plainText('a\u202eb\u0000c')).toBe('a b c')
})

test('bars', () => {
  expect([0, 0.001, 0.5, 1, 7, Number.NaN].map((share) => bar(share, 4, false))).toEqual([
    '....',
    '#...',
    '##..',
    '####',
    '####',
    '....',
  ])
  expect([0, 0.001, 0.5, 0.53, 1].map((share) => bar(share, 4, true))).toEqual(['····', '▏···', '██··', '██▏·', '████'])
  expect(fit('abcdef', 4)).toBe('abc.')
  expect(fit('ab', 4)).toBe('ab  ')
})

test('a word that comes while the picture is drawn stays above it, and nothing of the picture stays', async () => {
  let out = ''
  const write = (text: string): void => void (out += text.replaceAll('\n', '\r\n'))
  const view = liveView(write, { screen: () => SCREEN, now: () => 0, err: write })
  view.state(state)
  view.caseDone(caseOf('first', 'AC', 0, 2), 'attempt')
  await expect.poll(() => out).toContain('first')
  view.say('cancelling\n')
  expect(screenAfter(out, SCREEN.columns).lines.slice(0, 2)).toEqual(['cancelling', expect.stringContaining('running_test')])
  const ended = { ...STATE, status: 'cancelled', summary: null, error: { code: 'cancelled', message: 'somebody did it' } }
  view.end({ state: ended as unknown as JobState, report: null, usage: null })
  view.close()
  expect(screenAfter(out, SCREEN.columns).lines).toEqual(['cancelling', 'cancelled: somebody did it', ''])
})

test('a reason that does not fit beside its row goes below it', () => {
  const wrong = caseOf('a', 'WA', 0, 1)
  expect(caseRows(wrong, LIMITS, SCREEN, 8)).toEqual([
    expect.not.stringContaining('token'),
    expect.stringMatching(/^ {4}token 3: expected 7, got 8 {1,2}and a lot more of it/),
  ])
  expect(caseRows(wrong, LIMITS, { ...SCREEN, columns: 200 }, 8)).toHaveLength(1)
  expect(caseRows(caseOf('a', 'AC', 0, 1), LIMITS, { ...SCREEN, columns: 20 }, 8)).toHaveLength(1)
})
