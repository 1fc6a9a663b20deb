import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type JobId, type UsageEvent, Usage } from '@parley/protocol'
import type { Client } from '@parley/rpc'
import { startPostgres } from '@parley/store/testing'
import { type HandedIn, untilAnswered } from '../jobs/handed-in.ts'
import { Installation } from '../jobs/installation.ts'
import { jobFilesIn, processesOf } from '../jobs/leftovers.ts'
import { TOKENS } from '../jobs/model-answers.ts'
import { sumTests } from '../jobs/problems.ts'
import { verifyJob } from '../jobs/verify.ts'
import { type Program, freePort, startProgram } from '../measure/program.ts'
import { SeededRandom } from './random.ts'
import { type Soak, type SoakOptions, type SoakResult, Tally } from '../soak.ts'

const MODEL_MAIN = fileURLToPath(new URL('../jobs/model-main.ts', import.meta.url))
const KILLS = 30
const JUDGES = 2
/** Jobs that are always under way, so that every kill hits some. */
const JOBS_AT_ONCE = 4
const LEASE_MS = 4_000
const PEACE_MS = { least: 300, most: 2_500 }
const LONGEST_ABSENCE_MS = 800
const LAST_WAIT_MS = 180_000
const GONE_MS = 30_000
const PROBLEM = {
  name: 'sum by a model',
  language: 'c',
  code: '',
  status: 'succeeded',
  verdicts: ['AC', 'AC', 'AC', 'AC'],
} as const
const VICTIMS = ['judge', 'gateway', 'model'] as const

/** Jobs that a model writes, while the judge, the gateway and the model are killed: one end, one report, every token once. */
export const engineSoak: Soak = {
  name: 'engine',
  summary: 'jobs with a model while the judge, the gateway and the model server are killed at random, on both engines',
  needs: { programs: ['cc', 'python3'], peers: [] },
  run: async (options) => {
    const tally = new Tally()
    await onEngine(undefined, options, tally)
    await using postgres = await startPostgres()
    await onEngine(await postgres.createDatabase(), options, tally)
    return tally.result()
  },
}

/** The same on SQLite alone, for tests. */
export async function engineOnSqlite(options: SoakOptions): Promise<SoakResult> {
  const tally = new Tally()
  await onEngine(undefined, options, tally)
  return tally.result()
}

interface Place {
  readonly installation: Installation
  readonly model: { readonly port: number; readonly notes: string; program: Program | undefined }
  readonly killed: Set<string>
  readonly random: SeededRandom
  readonly tally: Tally
}

async function onEngine(database: string | undefined, options: SoakOptions, tally: Tally): Promise<void> {
  const port = await freePort()
  const env = {
    PARLEY_MODEL_BASE_URL: `http://127.0.0.1:${port}/v1`,
    PARLEY_MODEL_API_KEY: 'sk-upstream-key-that-no-judge-sees',
    PARLEY_MODELS: 'sum-writer',
  }
  await using installation = await Installation.open({ leaseMs: LEASE_MS, env, ...(database === undefined ? {} : { database }) })
  const notes = join(installation.folder, 'model-requests')
  appendFileSync(notes, '')
  const place: Place = {
    installation,
    model: { port, notes, program: undefined },
    killed: new Set(),
    random: new SeededRandom(options.seed),
    tally,
  }
  await startModel(place)
  for (let index = 0; index < JUDGES; index += 1) await installation.startJudge(2)
  const client = await installation.connect()
  const jobs = await underFire(client, place, options)
  await untilEnded(client, jobs, tally)
  for (const job of jobs) {
    await verifyJob(client, job, place.killed, tally)
    await verifyUsage(client, job.id, tally)
  }
  await compareRequests(client, place)
  await client.close()
  await installation.stop()
  await place.model.program?.stop()
  await nothingLeft(installation, tally)
}

/** Hands in as many jobs as keep the judges busy until all kills are done. */
async function underFire(client: Client, place: Place, options: SoakOptions): Promise<HandedIn[]> {
  const tests = await sumTests()
  const jobs: HandedIn[] = []
  const over = new AbortController()
  const handing = (async () => {
    while (!over.signal.aborted) {
      const running = await untilAnswered(
        client,
        'job.list',
        { status: ['queued', 'running_generate', 'running_test'] },
        place.tally,
      )
      if (running.items.length < JOBS_AT_ONCE) jobs.push(await handIn(client, tests, place.tally))
      else await wait(100)
    }
  })()
  const kills = Math.max(3, Math.round(KILLS * options.share))
  for (let index = 0; index < kills; index += 1) {
    await wait(place.random.between(PEACE_MS.least, PEACE_MS.most))
    // The first three hit each kind once, whatever the dice say.
    const victim = VICTIMS[index] ?? place.random.pick(VICTIMS)
    await kill(victim, place)
    options.log(`${index + 1}/${kills} ${victim} killed, ${jobs.length} jobs handed in`)
  }
  over.abort()
  await handing
  return jobs
}

async function handIn(client: Client, tests: Buffer, tally: Tally): Promise<HandedIn> {
  for (;;) {
    try {
      const { job_id: id } = await client.callTool('job.create', {
        title: PROBLEM.name,
        statement_md: 'Read two numbers and print their sum.',
        language: PROBLEM.language,
        model: 'sum-writer',
        tests_zip_b64: tests.toString('base64'),
        time_limit_ms: 1_000,
        memory_limit_mb: 256,
      })
      await untilAnswered(client, 'job.start', { job_id: id }, tally)
      tally.count('jobs handed in')
      return { id, problem: PROBLEM }
    } catch {
      tally.count('hand-ins without an answer')
      await wait(100)
    }
  }
}

async function kill(victim: (typeof VICTIMS)[number], place: Place): Promise<void> {
  const { installation, random, tally } = place
  const absenceMs = random.between(0, LONGEST_ABSENCE_MS)
  tally.count(`${victim} kills`)
  if (victim === 'gateway') {
    await installation.killGateway()
    await wait(absenceMs)
    await installation.startGateway()
  } else if (victim === 'judge') {
    const name = random.pick(installation.judges)
    place.killed.add(name)
    await installation.killJudge(name)
    await wait(absenceMs)
    await installation.startJudge(2)
  } else {
    place.model.program?.kill('SIGKILL')
    await place.model.program?.ended()
    await wait(absenceMs)
    await startModel(place)
  }
}

async function startModel({ model }: Place): Promise<void> {
  const { port, notes } = model
  model.program = await startProgram([process.execPath, MODEL_MAIN, JSON.stringify({ port, notes })])
}

async function untilEnded(client: Client, jobs: readonly HandedIn[], tally: Tally): Promise<void> {
  for (const until = Date.now() + LAST_WAIT_MS; Date.now() < until; await wait(500)) {
    const left = await untilAnswered(client, 'job.list', { status: ['queued', 'running_generate', 'running_test'] }, tally)
    if (!left.items.some(({ job_id: id }) => jobs.some((job) => job.id === id))) return
  }
}

/** Every call is booked once, with the numbers that the model told or as an estimate, and the sum of the job is their sum. */
async function verifyUsage(client: Client, id: JobId, tally: Tally): Promise<void> {
  const calls = await callsOf(client, id, tally)
  const say = (text: string): void => tally.problem(`${id}: ${text}`)
  if (new Set(calls.map(({ call_id: call }) => call)).size !== calls.length) say('a call is booked twice')
  for (const { input_tokens: input, output_tokens: output, estimated } of calls) {
    tally.count(estimated ? 'calls booked as estimates' : 'calls booked')
    if (!estimated && !TOKENS.some((known) => known.input === input && known.output === output))
      say(`${input} and ${output} tokens are booked, which the model never told`)
  }
  const { items } = await untilAnswered(client, 'job.get_artifacts', { job_id: id, names: ['usage.json'] }, tally)
  const usage = Usage.safeParse(items['usage.json'])
  if (!usage.success) return say(`its usage does not fit: ${usage.error.message}`)
  const sum = calls.reduce((total, call) => total + call.input_tokens + call.output_tokens, 0)
  const told = usage.data.usage.input_tokens + usage.data.usage.output_tokens
  if (told !== sum) say(`usage.json has ${told} tokens, the calls have ${sum}`)
}

async function callsOf(client: Client, id: JobId, tally: Tally): Promise<UsageEvent[]> {
  const calls: UsageEvent[] = []
  for (let before: UsageEvent['id'] | undefined; ;) {
    const more = before === undefined ? {} : { before }
    const page = await untilAnswered(client, 'usage.events', { job_id: id, limit: 200, ...more }, tally)
    calls.push(...page.items)
    if (page.next === null) return calls
    before = page.next
  }
}

/** What the model saw against what is booked. A killed gateway takes what was under way with it: it is settled later. */
async function compareRequests(client: Client, { model, tally }: Place): Promise<void> {
  const lines = readFileSync(model.notes, 'utf8').split('\n').slice(0, -1)
  for (const line of lines) if (line !== 'request') tally.problem(line)
  const requests = lines.filter((line) => line === 'request').length
  const { total } = await untilAnswered(client, 'usage.summary', {}, tally)
  tally.count('requests at the model', requests)
  tally.count('calls in the books', total.calls)
}

async function nothingLeft({ folder, workFolder }: Installation, tally: Tally): Promise<void> {
  for (const until = Date.now() + GONE_MS; processesOf(folder).length > 0 && Date.now() < until;) await wait(100)
  for (const line of processesOf(folder)) tally.problem(`still runs: ${line}`)
  for (const file of await jobFilesIn(workFolder)) tally.problem(`still there: ${file}`)
}
