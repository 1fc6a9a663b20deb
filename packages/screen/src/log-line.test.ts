import { expect, test } from 'vitest'
import { logLine } from './log-line.ts'

const AT = '2026-11-18T10:11:12.000Z'

test.each([
  [{ level: 'warn', time: AT, agent: 'agt_1', msg: 'it is gone' }, `${AT} gateway warn: it is gone (agent=agt_1)`],
  [{ level: 'info', time: AT, bytes: 3, msg: 'a\u001b[31mb\nc' }, `${AT} gateway info: ab c (bytes=3)`],
  [
    { level: 'error', time: AT, err: { type: 'Error', message: 'no way', stack: 'at x' }, msg: 'failed' },
    `${AT} gateway error: failed (err=no way)`,
  ],
])('%j is one line of plain text at a terminal', (entry, line) => {
  expect(logLine(`${JSON.stringify(entry)}\n`, 'gateway')).toBe(`${line}\n`)
})

test('what is no line of a structured log stays as it is', () => {
  expect(logLine('node: a warning\n', 'gateway')).toBe('node: a warning\n')
})
