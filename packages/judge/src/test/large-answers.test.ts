import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
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

/** What nobody holds any more is no part of it, however late the engine would have noticed on a busy machine. */
function heldBytes(limitBytes: number): number {
  const { arrayBuffers } = process.memoryUsage()
  if (arrayBuffers < limitBytes) return arrayBuffers
  setFlagsFromString('--expose-gc')
  runInNewContext('gc()')
  return process.memoryUsage().arrayBuffers
}

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
  // Each waiting with what it is compared with would be 420 MiB.
  const wholeBytes = JOBS * (CORES + 1) * (EXPECTED_BYTES + ANSWER_BYTES)
  const limitBytes = process.memoryUsage().arrayBuffers + wholeBytes / 2
  const judging = Promise.all(
    Array.from({ length: JOBS }, (_, index) =>
      bench.verdicts({ language: 'python', code, owner: `owner ${index}`, files, timeMs: 20_000, tests }),
    ),
  )
  const over = judging.then(() => true)
  let mostBytes = 0
  for (let isOver = false; !isOver; isOver = await Promise.race([over, nextTurn(false)])) {
    mostBytes = Math.max(mostBytes, heldBytes(limitBytes))
  }
  expect((await judging).flat()).toEqual(Array.from({ length: JOBS * (CORES + 1) }, () => 'WA'))
  expect(mostBytes).toBeLessThan(limitBytes)
})
