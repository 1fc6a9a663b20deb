import { startPostgres } from '@parley/store/testing'
import { expect, test } from 'vitest'
import { jobsOnEngine } from './jobs.ts'

/** Of 200 jobs and five minutes. */
const JOBS = { seed: 20_261_116, share: 0.05, log: (): void => undefined }
const JOBS_COUNT = 10
const LEAST_KILLS = 3
const KILLS = { timeout: 300_000 }

function expectEnds({ counts, problems }: Awaited<ReturnType<typeof jobsOnEngine>>): void {
  expect(problems).toEqual([])
  expect(counts['jobs handed in']).toBe(JOBS_COUNT)
  expect((counts['gateway kills'] ?? 0) + (counts['judge kills'] ?? 0)).toBeGreaterThanOrEqual(LEAST_KILLS)
}

// These mostly wait, for programs to start again and for leases to end.
test.concurrent('jobs end once and rightly while gateway and judges are killed, on SQLite', KILLS, async () => {
  expectEnds(await jobsOnEngine('sqlite', undefined, JOBS))
})

test.concurrent('jobs end once and rightly while gateway and judges are killed, on PostgreSQL', KILLS, async () => {
  await using postgres = await startPostgres()
  expectEnds(await jobsOnEngine('postgres', postgres.url, JOBS))
})
