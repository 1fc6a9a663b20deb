import { setTimeout as wait } from 'node:timers/promises'
import { type Answer, FAILURES, openModelServer } from '@parley/agent/testing/model-server'
import type { JobId } from '@parley/protocol'
import type { Client } from '@parley/rpc'
import { Installation } from '../jobs/installation.ts'
import { sumTests } from '../jobs/problems.ts'

const MODEL = 'never-done'
const LEASE_MS = 30_000
const POLL_MS = 5
const SETTLE_MS = 200
const BEGIN_MS = 60_000
const SLEEPS = 'import time\ntime.sleep(600)\n'

/** What an engine can be doing when its job is cancelled, and the line of the log that says it does. */
const SITUATIONS: Readonly<Record<string, { readonly answer: Answer; readonly begun: RegExp }>> = {
  'silent model': { answer: { silent: true }, begun: /^asks /m },
  'stalled stream': { answer: { pieces: [{ text: 'Well, ' }], manner: { stallAfterEvents: 4 } }, begun: /^asks /m },
  'wait for the next try': { answer: FAILURES.rateLimited({ 'retry-after': '30' }), begun: /is asked again in/m },
  command: {
    answer: { pieces: [{ call: 'shell', arguments: { command: ['sleep', '600'], workdir: null, timeout_ms: null } }] },
    begun: /^runs sleep/m,
  },
  'self-test': {
    answer: { pieces: [{ call: 'realmoi-status_judge_self_test', arguments: { source: SLEEPS } }] },
    begun: /^tests itself/m,
  },
}

/** Milliseconds from `job.cancel` until the judge is free again: engine, commands and tests have ended, logs are flushed. */
export async function measureCancels(log: (line: string) => void): Promise<ReadonlyMap<string, number>> {
  await using model = await openModelServer({
    wire: 'responses',
    answers: ({ body }) => {
      const text = JSON.stringify(body)
      return Object.entries(SITUATIONS).find(([name]) => text.includes(`(${name})`))?.[1].answer ?? { silent: true }
    },
  })
  const env = { PARLEY_MODEL_BASE_URL: model.url, PARLEY_MODEL_API_KEY: 'sk-bench-0123456789', PARLEY_MODELS: MODEL }
  await using installation = await Installation.open({ leaseMs: LEASE_MS, env })
  const client = await installation.connect()
  const found = new Map<string, number>()
  // The first judge of an installation is told on its socket, the second one asks once a second.
  for (const wire of ['WebSocket', 'HTTP']) {
    const judge = await installation.startJudge(1)
    for (const [name, { begun }] of Object.entries(SITUATIONS)) {
      const ms = await cancelled(client, name, begun)
      found.set(`${name}, judge on ${wire}`, ms)
      log(`cancel, ${name}, judge on ${wire}: ${Math.round(ms)} ms`)
    }
    await installation.killJudge(judge)
  }
  await client.close()
  return found
}

async function cancelled(client: Client, situation: string, begun: RegExp): Promise<number> {
  const id = await started(client, situation)
  await until(async () => begun.test(await summariesOf(client, id)))
  // What the line announces has begun by then.
  await wait(SETTLE_MS)
  const began = performance.now()
  await client.callTool('job.cancel', { job_id: id })
  await until(async () => (await client.callTool('judge.list', {})).items.every(({ jobs }) => jobs.length === 0))
  return performance.now() - began
}

async function started(client: Client, situation: string): Promise<JobId> {
  const tests = await sumTests()
  const { job_id: id } = await client.callTool('job.create', {
    title: situation,
    statement_md: `Print the sum. (${situation})`,
    language: 'python',
    model: MODEL,
    tests_zip_b64: tests.toString('base64'),
    time_limit_ms: 15_000,
  })
  await client.callTool('job.start', { job_id: id })
  return id
}

/** All lines that were said, one below the other. */
async function summariesOf(client: Client, id: JobId): Promise<string> {
  const { chunk_b64: chunk } = await client.callTool('job.read_log', { job_id: id, stream: 'agent_status', offset: 0 })
  const lines = Buffer.from(chunk, 'base64').toString().split('\n')
  return lines.flatMap((line) => /"summary":"([^"]*)/.exec(line)?.[1] ?? []).join('\n')
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + BEGIN_MS
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error('it did not come to that in time')
    await wait(POLL_MS)
  }
}
