import { openModelServer } from '@parley/agent/testing/model-server'
import { Report } from '@parley/protocol'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBareGenerator } from '../fixture/bare-generator.ts'
import { openDeskWorker } from '../fixture/desk-worker.ts'
import { JobDesk } from '../fixture/job-desk.ts'
import { type Bench, openBench, specOf } from '../fixture/open-bench.ts'

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench[Symbol.asyncDispose]())

/** The first case ends at once, the others do not end by themselves. */
const CODE = 'import time\nif int(input()) > 1: time.sleep(1000)\nprint(1)\n'
const FILES = Object.fromEntries(
  Array.from({ length: 4 }, (_, index) => [
    [`${index + 1}.in`, `${index + 1}\n`],
    [`${index + 1}.out`, '1\n'],
  ]).flat(),
)

/** On a crowded machine it takes a while to give a job back. */
const RETURN_MS = 30_000

/** A desk with a job, and a judge that has told of its first case and works on the others. */
async function open() {
  const folder = await mkdtemp(join(tmpdir(), 'parley-stopped-'))
  const model = await openModelServer({ wire: 'responses', answers: [] })
  const spec = specOf({ language: 'python', code: CODE, files: FILES, timeMs: 60_000 }, `job_${'0'.repeat(26)}`)
  const desk = new JobDesk(spec, FILES, model.url)
  const url = await desk.open()
  const { generator, http } = openBareGenerator()
  const worker = await openDeskWorker(url, folder, { tester: bench.tester, generator, returnMs: RETURN_MS })
  await expect.poll(() => desk.lines('cases').length, { timeout: 30_000 }).toBe(1)
  return {
    desk,
    worker,
    summaries: () => desk.lines('agent_status').map(({ summary }) => (typeof summary === 'string' ? summary : '')),
    verdicts: () => desk.lines('cases').map(({ verdict }) => verdict),
    async [Symbol.asyncDispose]() {
      await worker.stop(0)
      await desk[Symbol.asyncDispose]()
      await http.close()
      await model.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

test('a job that is cancelled while it is tested says so once, with how many cases were run', async () => {
  await using job = await open()
  job.desk.isCancelled = true
  await job.desk.ended
  const last = job.desk.lines('agent_status').at(-1)
  expect(last).toMatchObject({
    level: 'info',
    summary: 'cancelled after 1 of 4 cases',
    meta: { phase: 'end', status: 'cancelled' },
  })
  expect(job.summaries().filter((summary) => /cancelled|4 of 4/.test(summary))).toHaveLength(1)
  expect(job.desk.text('terminal').match(/cancel.*/gi)).toEqual(['cancelled after 1 of 4 cases'])
  expect(job.verdicts()).toEqual(['AC', 'CANCELLED', 'CANCELLED', 'CANCELLED'])
  const error = { code: 'cancelled', message: 'cancelled after 1 of 4 cases' }
  expect(Report.parse(job.desk.artifacts.get('report_json'))).toMatchObject({ status: 'cancelled', error })
  // The state of the job says the same as its report.
  expect(job.desk.patches.at(-1)).toMatchObject({ summary: { total: 4, judged: 1, passed: 1, skipped: 3 } })
})

test('a job that is given back because its judge ends is not called cancelled', async () => {
  await using job = await open()
  await job.worker.stop(0)
  expect(job.desk.released).toEqual(['unfinished'])
  expect(job.summaries().at(-1)).toBe('given back: this judge ends; another goes on')
  expect(job.verdicts()).toEqual(['AC'])
  for (const log of ['terminal', 'agent_status', 'cases']) expect(job.desk.text(log)).not.toMatch(/cancel/i)
})

test('nothing more is told of a job whose claim is lost', async () => {
  await using job = await open()
  const before = ['terminal', 'agent_status', 'cases'].map((log) => job.desk.text(log))
  job.desk.onCall = (tool) => {
    if (tool === 'judge.claim_next') job.desk.isCancelled = true
  }
  job.desk.expire()
  await job.desk.ended
  const after = ['terminal', 'agent_status', 'cases'].map((log) => job.desk.text(log))
  expect(before.every((text, index) => after[index]?.startsWith(text))).toBe(true)
  expect(job.desk.lines('cases').filter(({ claim, verdict }) => claim === 1 && verdict === 'CANCELLED')).toEqual([])
})
