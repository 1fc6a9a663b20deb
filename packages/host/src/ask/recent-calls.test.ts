import { expect, test } from 'vitest'
import { type CountedThing, RecentCalls } from './recent-calls.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const ROOM = 2_000
const NOTHING = { counted: [], counted_from: 0 }
const ALL = { minutes: 1_440, isCounted: () => true }
const TRANSFER: CountedThing = { kind: 'tool', mount: 'm', name: 'transfer' }
const resource = (at: number): CountedThing => ({ kind: 'resource', mount: 'm', name: `file:///${at}` })
const times = (turn: number, hour = turn, day = hour) => ({ turn, hour, day })

function recent({ takesTurns = false } = {}) {
  const clock = { now: 20_000 * DAY_MS }
  return { clock, calls: new RecentCalls(() => clock.now, takesTurns) }
}

test('what no rule counts takes no room, however many names an agent thinks of', () => {
  const { calls } = recent()
  calls.begin({ minutes: 1_440, isCounted: ({ kind }) => kind === 'tool' }, NOTHING)
  for (let count = 0; count < 2; count += 1) calls.add(TRANSFER)
  for (let at = 0; at < 3 * ROOM; at += 1) calls.add(resource(at))
  expect(calls.of(TRANSFER)).toEqual(times(2))
  expect(calls.of(resource(1))).toEqual(times(0))
})

test('nothing that is counted is forgotten for something else: where there is no room, a new name is not known', () => {
  const { calls, clock } = recent()
  calls.begin(ALL, NOTHING)
  calls.add(TRANSFER)
  for (let at = 1; at < ROOM; at += 1) calls.add(resource(at))
  expect(calls.of(TRANSFER)).toEqual(times(1))
  expect(calls.of(resource(1))).toEqual(times(1))
  expect(calls.of(resource(ROOM))).toBeNull()
  // One that waited for a person meanwhile is counted all the same.
  calls.add(resource(ROOM))
  expect(calls.of(resource(ROOM))).toEqual(times(1))
  clock.now += HOUR_MS * 12
  expect(calls.of(resource(ROOM + 1))).toBeNull()
  clock.now += DAY_MS
  expect(calls.of(resource(ROOM + 1))).toEqual(times(0))
})

test('where rules look back for an hour, names make room after an hour; those of a turn that goes on stay', () => {
  const { calls, clock } = recent({ takesTurns: true })
  calls.begin({ ...ALL, minutes: 60 }, NOTHING)
  for (let at = 0; at < ROOM; at += 1) calls.add(resource(at))
  clock.now += 2 * HOUR_MS
  expect(calls.of(TRANSFER)).toBeNull()
  expect(calls.of(resource(0))).toEqual(times(1, 0, 1))
  calls.turnBegins()
  expect(calls.of(TRANSFER)).toEqual(times(0))
})

test('what the log does not reach back to is not known', () => {
  const { calls, clock } = recent()
  const minute = clock.now / 60_000
  calls.begin(ALL, { counted: [{ ...TRANSFER, minute, calls: 1 }], counted_from: minute - 100 })
  expect(calls.of(TRANSFER)).toBeNull()
  calls.begin({ ...ALL, minutes: 60 }, { counted: [{ ...TRANSFER, minute, calls: 1 }], counted_from: minute - 100 })
  expect(calls.of(TRANSFER)).toEqual(times(1))
  calls.begin(ALL, { counted: [], counted_from: minute - 100 })
  clock.now += DAY_MS
  expect(calls.of(TRANSFER)).toEqual(times(0, 0, 1))
})

test('other rules begin with the log, keep what was counted here, and let go of what nobody counts any more', () => {
  const { calls, clock } = recent()
  const minute = clock.now / 60_000
  calls.begin(ALL, NOTHING)
  for (let at = 0; at < ROOM; at += 1) calls.add(resource(at))
  for (let count = 0; count < 3; count += 1) calls.add({ ...TRANSFER, name: 'x'.repeat(5_000) })
  calls.begin(
    { minutes: 1_440, isCounted: ({ kind }) => kind === 'tool' },
    { counted: [{ ...TRANSFER, minute, calls: 4 }], counted_from: 0 },
  )
  expect(calls.of(TRANSFER)).toEqual(times(4))
  expect(calls.of({ ...TRANSFER, name: 'x'.repeat(5_000) })).toEqual(times(3))
  expect(calls.of({ ...TRANSFER, name: 'other' })).toEqual(times(0))
})
