import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openBench } from '../fixture/open-bench.ts'

const MIB = 1024 * 1024
const CORES = 4
const JOBS = 3
const EXPECTED_BYTES = 24 * MIB
const ANSWER_BYTES = 4 * MIB
/** All of it right but the last line: what differs is found at the end of the answer alone. */
const code = `import sys
sys.stdout.write('7\\n' * (${ANSWER_BYTES} // 2 - 1) + '8\\n')
`

test('however many large answers wait to be compared, no more of them are in memory than there are cores', async () => {
  await using bench = await openBench({ cores: CORES })
  const expected = '7\n'.repeat(EXPECTED_BYTES / 2)
  const files = Object.fromEntries(
    Array.from({ length: CORES + 1 }, (_, index) => [
      [`${index}.in`, ''],
      [`${index}.out`, expected],
    ]).flat(),
  )
  const tests = { compare: { mode: 'floats', tolerance: null } } as const
  const before = process.memoryUsage().arrayBuffers
  const judging = Promise.all(
    Array.from({ length: JOBS }, (_, index) =>
      bench.verdicts({ language: 'python', code, owner: `owner ${index}`, files, timeMs: 20_000, tests }),
    ),
  )
  const over = judging.then(() => true)
  let mostBytes = 0
  for (let isOver = false; !isOver; isOver = await Promise.race([over, nextTurn(false)])) {
    mostBytes = Math.max(mostBytes, process.memoryUsage().arrayBuffers - before)
  }
  expect((await judging).flat()).toEqual(Array.from({ length: JOBS * (CORES + 1) }, () => 'WA'))
  // Each waiting with what it is compared with would be 420 MiB.
  const wholeBytes = JOBS * (CORES + 1) * (EXPECTED_BYTES + ANSWER_BYTES)
  expect(mostBytes).toBeLessThan(wholeBytes / 2)
})
