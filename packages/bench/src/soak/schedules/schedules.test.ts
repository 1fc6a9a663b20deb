import { expect, test } from 'vitest'
import { openHouse, runSchedule } from './run-schedule.ts'
import { runSchedules } from './run-schedules.ts'
import { unguardedStore } from './unguarded-store.ts'

const quiet = { log: () => {} }

test('whatever is late, lost or killed, an approval goes one way and has one effect at most', async () => {
  const { counts, problems } = (await runSchedules({ ...quiet, firstSeed: 1, schedules: 250 })).result()
  expect(problems).toEqual([])
  // Every end was reached, and everything that can go wrong did.
  const seen = ['returned', 'failed', 'denied', 'expired', 'withdrawn', 'unknown', 'heard result', 'heard lost']
  const faults = ['kill gateway', 'kill host', 'stop host', 'cut host', 'cut client', 'cancel', 'change policy']
  expect([...seen, ...faults].filter((name) => counts[name] === undefined)).toEqual([])
})

test('a seed does the same steps again, whatever ran before it', async () => {
  const house = await openHouse()
  await runSchedule(house, 7)
  const again = await runSchedule(house, 21)
  const alone = await runSchedule(await openHouse(), 21)
  expect(again).toEqual(alone)
})

test.each(['dispatch', 'decide'] as const)('a step %s that looks at nothing before it is taken is found', async (leftOut) => {
  const storeFor = unguardedStore(leftOut)
  const options = { ...quiet, storeFor, stopsEarly: true, firstSeed: 400, schedules: 600 }
  const { counts, problems } = (await runSchedules(options)).result()
  expect(problems).toHaveLength(1)
  expect(problems[0]).toMatch(/^seed \d+: [^]*\n {4}npm run soak schedules -- --seed \d+ --schedules 1$/)
  expect(counts['schedules']).toBeLessThan(600)
})
