import type { Verdict } from '@parley/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HostileBench, openHostileBench } from './fixture/hostile-bench.ts'
import { CLUMSY, GREEDY } from './fixture/programs-of-limits.ts'
import { BOMBS, SPIES } from './fixture/programs-of-spies.ts'

/** One of each kind: what holds these by cgroup or by namespace must be held by something else here. */
const TELLING = [
  'fork-bomb.c',
  'vfork-bomb.c',
  'unwaited-children.c',
  'small-children.c',
  'malloc-touch.c',
  'socket-hog.c',
  'daemon-spins.c',
  'feigns-a-limit.c',
  'endless-stdout.c',
  'reads-files.c',
  'watches-others.c',
  'host-paths.c',
  'connects-unix.c',
  'sends-datagrams.c',
  'kills-everyone.c',
  'shell-out.js.txt',
]
/** On a real disk: too much in the box ends as too much output, or by the signal of a file too large; and all of it takes its time. */
const ALSO_RIGHT: Readonly<Record<string, Readonly<Record<string, readonly Verdict[]>>>> = {
  'user-namespaces': {},
  landlock: {
    'fills-box.c': ['OLE', 'RE'],
    'fills-tmp.c': ['OLE', 'RE'],
    'many-files.c': ['OLE'],
    'deep-folders.c': ['OLE', 'TLE'],
  },
}
// By hand, once in a while: HOSTILE=all vitest run packages/judge/src/hostile/weaker-tiers.test.ts
const everything = process.env['HOSTILE'] === 'all'
const PROGRAMS = [...GREEDY, ...CLUMSY, ...SPIES, ...BOMBS].filter(({ file }) => everything || TELLING.includes(file))

test('the selection names programs that there are', () => {
  if (!everything) expect(PROGRAMS.map(({ file }) => file).sort()).toEqual([...TELLING].sort())
})

for (const tier of ['user-namespaces', 'landlock'] as const)
  describe(`with no more than ${tier}`, { shuffle: false }, () => {
    let bench: HostileBench

    beforeAll(async () => {
      bench = await openHostileBench({ driver: 'cage', tier })
    })
    afterAll(() => bench?.close())

    test('leaks would be seen', () => bench.expectLeaksAreSeen())

    test.each(PROGRAMS.filter(({ idle }) => idle !== true))('$file: $tries', async (program) => {
      await bench.run({ ...program, verdicts: [...program.verdicts, ...(ALSO_RIGHT[tier]?.[program.file] ?? [])] })
      await bench.expectUnharmed()
    })

    test.runIf(everything)('idle ones, side by side', async () => {
      await Promise.all(PROGRAMS.filter(({ idle }) => idle === true).map((program) => bench.run(program)))
      await bench.expectUnharmed()
    })

    test('nothing is left', () => bench.expectNothingLeft())
  })
