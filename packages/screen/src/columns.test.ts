import { expect, test } from 'vitest'
import { widthOf } from './plain-text.ts'
import { columns, named, prose } from './columns.ts'

const screen = (width: number, isUnicode = true) => ({ columns: width, rows: 24, isUnicode, hasColours: false })
const ID = `job_${'a'.repeat(26)}`
const ROWS = [
  ['id', 'status', 'language', 'title'],
  [ID, 'succeeded', 'cpp', 'A title that is longer than what any terminal of this width has room for'],
  [ID, 'failed', 'cpp', '背包问题背包问题背包问题背包问题背包问题背包问题'],
  [ID, 'failed', 'cpp', 'e\u0301'.repeat(60)],
]

test('on a terminal every row fits, ids stay whole, and what is cut says so', () => {
  for (const width of [60, 80, 81, 100]) {
    const lines = columns(ROWS, screen(width), { mayGo: ['language'] }).split('\n')
    expect(lines.filter((line) => widthOf(line) > width)).toEqual([])
    for (const line of lines.slice(1)) expect(line).toMatch(new RegExp(`^${ID} .*…$`))
  }
  expect(columns(ROWS, screen(80, false))).toContain('A title that is longer tha.')
})

test('columns that may go are left out before the last one is cut to nothing', () => {
  expect(columns(ROWS, screen(100), { mayGo: ['language'] })).toContain('language')
  expect(columns(ROWS, screen(66), { mayGo: ['language'] })).not.toContain('language')
})

test('into a pipe nothing is cut', () => {
  expect(columns(ROWS)).toBe(columns(ROWS, undefined, { mayGo: ['language'] }))
  for (const row of ROWS) for (const cell of row) expect(columns(ROWS)).toContain(cell)
})

test('a last column that matters goes on below itself, and keeps words that are wider than everything', () => {
  const path = `/a/${'long-'.repeat(20)}path`
  const rows = [
    ['node', 'ok', '26'],
    ['codex', 'missing', `it is not on PATH, and nothing else was found → install it ${path}`],
  ]
  const lines = columns(rows, screen(60), { wraps: true }).split('\n')
  expect(lines[1]).toBe('codex  missing  it is not on PATH, and nothing else was')
  expect(lines[2]).toBe(`${' '.repeat(16)}found → install it`)
  expect(lines[3]).toBe(`${' '.repeat(16)}${path}`)
})

test('marks take no column of their own, and wide characters two', () => {
  expect([widthOf('e\u0301'), widthOf('한'), widthOf('\u1112\u1161\u11ab'), widthOf('✅'), widthOf('🇩🇪'), widthOf('a')]).toEqual([
    1, 2, 2, 2, 2, 1,
  ])
})

test('two cells that differ look different; what people wrote for people is plain', () => {
  const names = ['make', 'make\n', '\u001b[2Kmake', 'make ', 'ma\u200bke', 'make⟦U+000A⟧']
  const lines = columns(names.map((name) => [name, 'x'])).split('\n')
  expect(new Set(lines.map((line) => line.replace(/ +x$/, ''))).size).toBe(names.length)
  expect(lines[1]).toMatch(/^make⟦U\+000A⟧ +x$/)
  expect(columns([[named('m\u0430ke'), prose(' two\nlines \u200b')]])).toBe('m⟦U+0430⟧ke  two lines')
  expect(columns([['a', named('m\u0430ke'), 'c']], screen(18), { mayGo: ['c'] })).toContain('⟦U+0430⟧')
})
