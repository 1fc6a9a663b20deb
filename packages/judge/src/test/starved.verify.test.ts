import { keepBusy, lastProcessor } from '@parley/sandbox/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Bench, openBench } from '../fixture/open-bench.ts'

const TIME_MS = 400
/** With so many beside it a program has a sixteenth of a processor: alone too, its clock strikes before it has used its time. */
const BUSY = 15
const processor = lastProcessor()

/** Goes to the busy processor, and spins until its own processor time is what the input says; without a number it sleeps. */
const CODE = `#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
int main(void) {
  double ms;
  struct timespec t;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(${processor}, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) return 1;
  if (scanf("%lf", &ms) != 1) for (;;) pause();
  do clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); while (t.tv_sec * 1e3 + t.tv_nsec / 1e6 < ms);
  puts("done");
}`

describe('on a processor that many want', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await openBench()
  })
  afterAll(() => bench[Symbol.asyncDispose]())

  test('processor time decides, and only a program that sleeps is idle', async () => {
    const judge = (...inputs: readonly string[]): Promise<readonly string[]> => {
      const files = inputs.flatMap((input, index) => [
        [`${index + 1}.in`, `${input}\n`],
        [`${index + 1}.out`, 'done\n'],
      ])
      return bench.verdicts({ language: 'c', code: CODE, files: Object.fromEntries(files), timeMs: TIME_MS })
    }
    expect(await judge('1')).toEqual(['AC'])
    await using _busy = await keepBusy(processor, BUSY)
    expect(await judge('300', '100000', 'sleep')).toEqual(['AC', 'TLE', 'ILE'])
  })

  test('a program whose interactor gets no processor is not idle', async () => {
    const interactor = {
      language: 'c',
      source: CODE.replace('double ms;', 'double ms = 450; stdin = fopen("input.txt", "r");'),
    } as const
    const program = '#include <stdio.h>\nint main(void) { char line[9]; puts("here"); fgets(line, 9, stdin); }'
    const tests = { compare: { mode: 'interactive', tolerance: null }, interactor } as const
    const submission = { language: 'c', code: program, timeMs: TIME_MS, tests } as const
    expect(await bench.verdicts({ ...submission, files: { '1.in': '1\n' } })).toEqual(['AC'])
    await using _busy = await keepBusy(processor, BUSY)
    const { report } = await bench.judge({ ...submission, files: { '1.in': '450\n' } })
    const [result] = report.tests
    expect(result).toMatchObject({ verdict: 'SE', reruns: 1 })
    expect(result?.message).toMatch(
      /^it waited for the interactor, and that for a processor, for \d+ ms: this machine is too busy to tell$/,
    )
  })
})
