import { expect, test } from 'vitest'
import { readCheckerVerdict } from './testlib.ts'

const read = (exitCode: number | null, stderr: string) => readCheckerVerdict(exitCode, Buffer.from(stderr))

test.each<[number | null, string, string, number, string]>([
  [0, 'ok 3 numbers\n', 'AC', 1, 'ok 3 numbers'],
  [0, '', 'AC', 1, 'ok'],
  [1, 'wrong answer 1st numbers differ', 'WA', 0, 'wrong answer 1st numbers differ'],
  [2, 'wrong output format', 'PE', 0, 'wrong output format'],
  [3, 'FAIL answer file is empty', 'SE', 0, 'FAIL answer file is empty'],
  [4, '', 'PE', 0, 'more output than expected'],
  [8, 'unexpected eof token expected', 'WA', 0, 'unexpected eof token expected'],
  [7, 'points 0.25 half of the half', 'WA', 0.25, 'points 0.25 half of the half'],
  [7, 'points 1', 'AC', 1, 'points 1'],
  [7, 'points 40', 'WA', 0.4, 'points 40'],
  [7, 'points 250', 'AC', 1, 'points 250'],
  [7, 'points -3', 'WA', 0, 'points -3'],
  [5, '0.5', 'WA', 0.5, '0.5'],
  [1, 'no\u0007\u001b[2J\r\nway\tthere', 'WA', 0, 'no\uFFFD[2J\nway\tthere'],
  [7, 'points', 'SE', 0, 'the checker gave no number of points: points'],
  [7, '', 'SE', 0, 'the checker gave no number of points: '],
  [16, '', 'WA', 0, 'partly right'],
  [116, '', 'WA', 0.5, 'partly right'],
  [216, '', 'AC', 1, 'partly right'],
  [50, 'partially correct (50) halves', 'WA', 0.25, 'partially correct (50) halves'],
  [0, 'partially correct (0) nothing', 'WA', 0, 'partially correct (0) nothing'],
  [1, 'partially correct (1) little', 'WA', 0.005, 'partially correct (1) little'],
  [6, 'odd', 'SE', 0, 'the checker ended with code 6: odd'],
  [255, '', 'SE', 0, 'the checker ended with code 255: '],
  [null, '', 'SE', 0, 'the checker was killed'],
])('code %s with %j is %s, %s', (exitCode, stderr, verdict, score, message) => {
  expect(read(exitCode, stderr)).toEqual({ verdict, score, message })
})

test('a long message is cut', () => {
  expect(read(1, 'x'.repeat(100_000)).message.length).toBeLessThan(1_100)
})
