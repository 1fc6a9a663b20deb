import { setTimeout as wait } from 'node:timers/promises'
import { startPostgres } from '@parley/store/testing'
import type { JobId } from '@parley/protocol'
import type { Client } from '@parley/rpc'
import { type HandedIn, handIn, untilAnswered } from '../jobs/handed-in.ts'
import { Installation } from '../jobs/installation.ts'
import { jobFilesIn, processesOf } from '../jobs/leftovers.ts'
import { PROBLEMS, sumTests } from '../jobs/problems.ts'
import { verifyJob } from '../jobs/verify.ts'
import { SeededRandom } from './random.ts'
import { type Soak, type SoakOptions, type SoakResult, Tally } from '../soak.ts'

const JOBS = 200
const JUDGES = 4
/** One on each wire. */
const LEAST_JUDGES = 2
const MINUTES = 5
const LEASE_MS = 10_000
const LONGEST_PEACE_MS = 4_000
const LONGEST_ABSENCE_MS = 800
/** Also on a machine where a restart takes most of the time. */
const LEAST_KILLS = 3
/** Of ten kills so many hit the gateway. */
const GATEWAY_SHARE = 3
/** After the last kill a job may need a lease for each of its lost judges and its place in the queue. */
const LAST_WAIT_MS = 240_000
const GONE_MS = 30_000

/** Jobs, judges and the gateway under `kill -9`: every job ends once, with the right verdict. */
export const jobsSoak: Soak = {
  name: 'jobs',
  summary: '200 jobs and 4 judges while the gateway and the judges are killed at random, on both engines',
  needs: { programs: ['cc', 'g++', 'python3'], peers: [] },
  run: async (options) => {
    const tally = new Tally()
    await onEngine('sqlite', undefined, options, tally)
    await using postgres = await startPostgres()
    await onEngine('postgres', await postgres.createDatabase(), options, tally)
    return tally.result()
  },
}

/** The same on one engine, for tests that take them one at a time. */
export async function jobsOnEngine(engine: string, database: string | undefined, options: SoakOptions): Promise<SoakResult> {
  const tally = new Tally()
  await onEngine(engine, database, options, tally)
  return tally.result()
}

async function onEngine(engine: string, database: string | undefined, options: SoakOptions, tally: Tally): Promise<void> {
  const random = new SeededRandom(options.seed)
  await using place = await Installation.open({ leaseMs: LEASE_MS, ...(database === undefined ? {} : { database }) })
  const judges = Math.max(LEAST_JUDGES, Math.ceil(JUDGES * options.share))
  for (let index = 0; index < judges; index += 1) await place.startJudge(1)
  const client = await place.connect()
  const killed = new Set<string>()
  const ends = new Map<JobId, string>()
  const until = Date.now() + MINUTES * 60_000 * options.share
  const [jobs] = await Promise.all([
    handInAll(client, random, Math.round(JOBS * options.share), until, tally),
    chaos(place, random, until, killed, tally, options),
    watchEnds(client, ends, until, tally),
  ])
  await untilEnded(client, jobs, ends, tally)
  options.log(`${engine}: ${jobs.length} jobs, ${killed.size} judges killed`)
  for (const job of jobs) await verifyJob(client, job, killed, tally)
  await client.close()
  await place.stop()
  await nothingLeft(place, tally)
}

/** Spread over the first two thirds of the time, so that kills hit jobs in every state. */
async function handInAll(client: Client, random: SeededRandom, count: number, until: number, tally: Tally): Promise<HandedIn[]> {
  const tests = await sumTests()
  const jobs: HandedIn[] = []
  const gapMs = ((until - Date.now()) * 2) / 3 / count
  for (let index = 0; index < count; index += 1) {
    jobs.push(await handIn(client, random.pick(PROBLEMS), tests, tally))
    await wait(gapMs * random.next() * 2)
  }
  return jobs
}

async function chaos(
  place: Installation,
  random: SeededRandom,
  until: number,
  killed: Set<string>,
  tally: Tally,
  options: SoakOptions,
) {
  for (let kills = 0; kills < LEAST_KILLS || Date.now() < until; kills += 1) {
    await wait(random.between(100, LONGEST_PEACE_MS))
    const absence = random.between(0, LONGEST_ABSENCE_MS)
    if (random.between(1, 10) <= GATEWAY_SHARE) {
      await place.killGateway()
      tally.count('gateway kills')
      await wait(absence)
      await place.startGateway()
    } else {
      const victim = random.pick(place.judges)
      killed.add(victim)
      await place.killJudge(victim)
      tally.count('judge kills')
      await wait(absence)
      await place.startJudge(1)
    }
    options.log(`${killed.size} judges killed`)
  }
}

/** Once a job has ended, nothing about its end changes any more. */
async function watchEnds(client: Client, ends: Map<JobId, string>, until: number, tally: Tally): Promise<void> {
  while (Date.now() < until) {
    await noteEnds(client, ends, tally)
    await wait(1_000)
  }
}

async function noteEnds(client: Client, ends: Map<JobId, string>, tally: Tally): Promise<void> {
  const status = ['succeeded', 'failed', 'cancelled'] as const
  for (let cursor: string | undefined; ;) {
    const page = await untilAnswered(
      client,
      'job.list',
      { status: [...status], limit: 200, ...(cursor === undefined ? {} : { cursor }) },
      tally,
    )
    for (const { job_id: id, status: end, finished_at: at } of page.items) {
      const now = `${end} at ${at}`
      const before = ends.get(id) ?? now
      tally.expect(before === now, `${id} ended twice: ${before}, then ${now}`)
      ends.set(id, now)
    }
    if (page.next_cursor === null) return
    cursor = page.next_cursor
  }
}

async function untilEnded(client: Client, jobs: readonly HandedIn[], ends: Map<JobId, string>, tally: Tally): Promise<void> {
  for (const until = Date.now() + LAST_WAIT_MS; Date.now() < until; await wait(500)) {
    await noteEnds(client, ends, tally)
    if (jobs.every((job) => ends.has(job.id))) return
  }
}

async function nothingLeft({ folder, workFolder }: Installation, tally: Tally): Promise<void> {
  for (const until = Date.now() + GONE_MS; processesOf(folder).length > 0 && Date.now() < until;) await wait(100)
  for (const line of processesOf(folder)) tally.problem(`still runs: ${line}`)
  for (const file of await jobFilesIn(workFolder)) tally.problem(`still there: ${file}`)
}
