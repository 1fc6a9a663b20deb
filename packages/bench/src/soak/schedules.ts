import type { Soak } from '../soak.ts'
import { runSchedules } from './schedules/run-schedules.ts'

const SCHEDULES = 100_000

export const schedulesSoak: Soak = {
  name: 'schedules',
  summary: 'an approval’s life in 100,000 orders of steps, delays, losses and kills, on a clock of its own',
  needs: { programs: [], peers: [] },
  run: async ({ seed, share, schedules = Math.max(1, Math.round(SCHEDULES * share)), log }) =>
    (await runSchedules({ firstSeed: seed, schedules, log })).result(),
}
