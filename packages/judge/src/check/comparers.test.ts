import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SharedPlaces } from '../box/shared-places.ts'
import { WorkClock } from '../box/work-clock.ts'
import { Comparers } from './comparers.ts'
import type { Comparison } from './comparison.ts'

const HOUR_MS = 3_600_000
const LONG_NUMBERS = 1_200_000
const SHORT_NUMBERS = 60_000
const TOLERANCE = { absolute: 0, relative: 0 }
const never = new AbortController().signal
const atOnce = <Result>(wait: () => Promise<Result>): Promise<Result> => wait()
let folder = ''
let long: Comparison
let short: Comparison

/** Numbers that are the same only once they were read: nothing is skipped. */
function numbers(count: number): Comparison {
  const written = (ending: string): Buffer =>
    Buffer.from(Array.from({ length: count }, (_, index) => `${index}${ending}`).join('\n'))
  const path = join(folder, `${count}`)
  const expected = written('.0')
  writeFileSync(path, expected)
  const file = { kind: 'file', path, sizeBytes: expected.length } as const
  return { mode: 'floats', tolerance: TOLERANCE, expected: file, actual: written('.00') }
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-comparers-'))
  long = numbers(LONG_NUMBERS)
  short = numbers(SHORT_NUMBERS)
})
afterAll(() => rmSync(folder, { recursive: true }))

test('who is cancelled leaves the line at once, and a comparison under way is stopped', async () => {
  const comparers = new Comparers()
  const [cancelled, twins] = [new AbortController(), new AbortController()]
  const ask = (comparison: Comparison, signal: AbortSignal) =>
    comparers.compare(comparison, { owner: 'ann', signal, whileWaiting: atOnce })
  let isTwinDone = false
  const underWay = ask(long, cancelled.signal)
  const twin = ask(long, twins.signal).finally(() => (isTwinDone = true))
  const inLine = ask(long, cancelled.signal)
  const next = ask(short, never)
  cancelled.abort()
  await expect(inLine).rejects.toMatchObject({ code: 'no_place' })
  await expect(underWay).rejects.toMatchObject({ code: 'cancelled' })
  expect((await next).verdict).toBe('AC')
  expect(isTwinDone).toBe(false)
  twins.abort()
  await expect(twin).rejects.toMatchObject({ code: 'cancelled' })
  // Stopped threads are gone, and others come in their place.
  const verdicts = await Promise.all([short, short, short].map((comparison) => ask(comparison, never)))
  expect(verdicts.map(({ verdict }) => verdict)).toEqual(['AC', 'AC', 'AC'])
})

test('the threads are shared out among owners: who comes with one does not wait for all of another’s', async () => {
  const comparers = new Comparers()
  const enough = new AbortController()
  let done = 0
  const anns = Array.from({ length: 12 }, () =>
    comparers.compare(long, { owner: 'ann', signal: enough.signal, whileWaiting: atOnce }).then(() => (done += 1)),
  )
  const ended = Promise.allSettled(anns)
  expect((await comparers.compare(short, { owner: 'bob', signal: never, whileWaiting: atOnce })).verdict).toBe('AC')
  // Two were under way, and two more may have begun beside Bob's and be as quick.
  expect(done).toBeLessThanOrEqual(4)
  enough.abort()
  await ended
})

test('a job whose case keeps its core and waits for a thread that others have is not called slow for it', async () => {
  const comparers = new Comparers()
  const others = new AbortController()
  const busy = Promise.allSettled(
    [1, 2].map(() => comparers.compare(long, { owner: 'ann', signal: others.signal, whileWaiting: atOnce })),
  )
  const clock = new WorkClock(HOUR_MS, () => undefined)
  const core = await new SharedPlaces([{}]).one({ owner: 'bob', clock }, never)
  expect(clock.runs).toBe(true)
  const asked = comparers.compare(short, { owner: 'bob', signal: never, whileWaiting: core.whileWaiting })
  expect(clock.runs).toBe(false)
  others.abort()
  await busy
  expect((await asked).verdict).toBe('AC')
  expect(clock.runs).toBe(true)
  core.release()
  clock.stop()
})

test.each([
  ['large', 1],
  ['small', 2],
])('of comparisons that need a %s table, so many begin at once: %i', async (size, wanted) => {
  const comparers = new Comparers()
  const enough = new AbortController()
  let begun = 0
  const whileWaiting = async <Result>(wait: () => Promise<Result>): Promise<Result> => {
    const result = await wait()
    begun += 1
    return result
  }
  const lines: Comparison = { ...(size === 'large' ? long : short), mode: 'unordered_lines' }
  const asked = [1, 2, 3].map(() => comparers.compare(lines, { owner: 'ann', signal: enough.signal, whileWaiting }))
  const ended = Promise.allSettled(asked)
  await nextTurn()
  expect(begun).toBe(wanted)
  enough.abort()
  await ended
})
