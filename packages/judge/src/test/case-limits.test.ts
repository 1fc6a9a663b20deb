import type { JobSpec } from '@parley/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Bench, openBench } from '../fixture/open-bench.ts'
import { isDoubtful, runLimits } from './case-limits.ts'

const LIMITS = { timeMs: 1_000, memoryMb: 64, memoryBytes: 64 * 1024 * 1024, outputBytes: 1024, processes: 8 }

describe('what a run beside others says', () => {
  test.each([
    ['ok', 999, false],
    ['ok', 1_000, false],
    ['ok', 1_001, true],
    ['nonzero', 1_200, true],
    ['signal', 1_200, true],
    ['memory-limit', 1_200, true],
    ['cpu-limit', 1_251, false],
    ['wall-limit', 10, false],
    ['wall-limit', 600, true],
  ])('%s after %d ms: run again %s', (status, cpuMs, again) => {
    expect(isDoubtful({ status, cpuMs }, LIMITS)).toBe(again)
  })

  test('the bounds are wider beside others than alone, and the clock is wider alone', () => {
    expect(runLimits(LIMITS, 'beside')).toMatchObject({ cpuMs: 1_250, wallMs: 3_000 })
    expect(runLimits(LIMITS, 'alone')).toMatchObject({ cpuMs: 1_000, wallMs: 6_000 })
    expect(runLimits({ ...LIMITS, timeMs: 100 }, 'beside')).toMatchObject({ cpuMs: 125, wallMs: 2_100 })
  })
})

describe('near the limit', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await openBench()
  })
  afterAll(() => bench[Symbol.asyncDispose]())

  const TIME_MS = 200
  /** Spins until its own processor time is what the input says. */
  const spin = `#include <stdio.h>
#include <time.h>
int main(void) {
  double part;
  struct timespec t;
  if (scanf("%lf", &part) != 1) return 1;
  do clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); while (t.tv_sec * 1e3 + t.tv_nsec / 1e6 < part * ${TIME_MS});
  puts("done");
}`
  const filesOf = (parts: readonly number[]): Record<string, string> =>
    Object.fromEntries(
      parts.flatMap((part, index) => [
        [`${index + 1}.in`, `${part}\n`],
        [`${index + 1}.out`, 'done\n'],
      ]),
    )
  const judge = async (parts: readonly number[]): Promise<readonly string[]> => {
    const { report } = await bench.judge({ language: 'c', code: spin, files: filesOf(parts), timeMs: TIME_MS })
    return report.tests.map(({ verdict, reruns }) => `${verdict} ${reruns}`)
  }

  test('a case just above its limit is run again alone before it is called TLE', async () => {
    expect(await judge([0.5, 1.12, 1.6])).toEqual(['AC 0', 'TLE 1', 'TLE 0'])
  })

  test('verdicts do not change while both cores are busy', async () => {
    const load = bench.judge({
      language: 'c',
      code: spin,
      files: filesOf(Array.from({ length: 20 }, () => 0.9)),
      timeMs: TIME_MS,
    })
    const [below, above] = await Promise.all([
      judge(Array.from({ length: 12 }, () => 0.78)),
      judge(Array.from({ length: 6 }, () => 1.35)),
    ])
    await load
    expect(new Set(below.map((found) => found.split(' ')[0]))).toEqual(new Set(['AC']))
    expect(new Set(above.map((found) => found.split(' ')[0]))).toEqual(new Set(['TLE']))
  })

  test('what the job says about limits is what a case gets', async () => {
    const outputBytes: JobSpec['limits']['max_output_bytes_per_test'] = 1_000
    const code = (bytes: number): string => `#include <stdio.h>\nint main(void){for(int i=0;i<${bytes};i++)putchar('x');}`
    const found = await Promise.all(
      [1_000, 1_001].map((bytes) => bench.verdicts({ language: 'c', code: code(bytes), files: { '1.in': '' }, outputBytes })),
    )
    expect(found.flat()).toEqual(['RUN', 'OLE'])
  })
})
