import { JobId, NO_CASES } from '@parley/protocol'
import { ENGINES, startEngine } from '@parley/store/testing'
import { describe, expect, test } from 'vitest'
import { mint, openTestGateway } from '../fixture/test-gateway.ts'
import { type Claim, TestJudge, addJob } from '../fixture/test-judge.ts'

const UNANSWERED = { 'tests/1.in': '1\n', 'tests/2.in': '2\n' }
const HALF = { ...UNANSWERED, 'tests/1.out': '1\n' }
const counts = (told: object) => ({ ...NO_CASES, total: 2, ...told })

/** A gateway, its judge, and jobs that this judge has begun to test. */
async function openBench(url?: string) {
  const gw = await openTestGateway({}, url)
  const judge = await TestJudge.open(gw.gateway.ws, (await mint(gw, { role: 'judge', name: 'j1' })).token)
  return {
    gw,
    judge,
    async begin(files: Readonly<Record<string, string>>): Promise<Claim> {
      await addJob(gw.store, { files })
      const claim = await judge.claim()
      await judge.ok('judge.job.patch_state', { ...claim, patch: { status: 'running_test', attempt: 1 } })
      return claim
    },
    async [Symbol.asyncDispose]() {
      judge.close()
      await gw[Symbol.asyncDispose]()
    },
  }
}

const LIES: [string, object, string][] = [
  ['a count below zero', { judged: -1, passed: -1 }, 'judged'],
  ['more cases than the job has', { total: 3, judged: 1, passed: 1 }, 'total'],
  ['judged ones that neither passed nor failed', { judged: 1 }, 'judged'],
  ['parts that are more than all', { judged: 1, passed: 1, run_only: 2 }, 'total'],
  ['passed ones without an answer', { judged: 2, passed: 2 }, 'passed'],
  ['success with a failed case', { judged: 1, failed: 1 }, 'failed'],
]

test.each(LIES)('a judge that tells %s is refused, in the state and in the report', async (_, told, name) => {
  await using bench = await openBench()
  const { judge } = bench
  const claim = await bench.begin(HALF)
  const summary = counts(told)
  expect(await judge.refused('judge.job.patch_state', { ...claim, patch: { status: 'succeeded', summary } })).toMatchObject({
    code: 'invalid_argument',
    field: `patch.summary.${name}`,
  })
  const report_json = { status: 'succeeded', summary }
  expect(await judge.refused('judge.job.put_artifacts', { ...claim, report_json })).toMatchObject({
    code: 'invalid_argument',
    field: `report_json.summary.${name}`,
  })
  expect(await judge.ok('judge.job.get_state', claim)).toMatchObject({ status: 'running_test', summary: null })
})

test('a failed case that was told before does not go with success after', async () => {
  await using bench = await openBench()
  const claim = await bench.begin(HALF)
  await bench.judge.ok('judge.job.patch_state', { ...claim, patch: { summary: counts({ judged: 1, failed: 1 }) } })
  expect(await bench.judge.refused('judge.job.patch_state', { ...claim, patch: { status: 'succeeded' } })).toMatchObject({
    code: 'invalid_argument',
    field: 'patch.summary.failed',
  })
})

describe.each(ENGINES)('on %s', (engine) => {
  test('success without counts is a verdict where answers could be judged, and none where they could not', async () => {
    await using host = await startEngine(engine)
    await using bench = await openBench(await host.migratedUrl())
    const { judge, gw } = bench
    const report = { status: 'succeeded', unjudged: false }
    for (const [files, unjudged, words] of [
      [{}, true, { total: 0, run_only: 0 }],
      [UNANSWERED, true, { total: 2, judged: 0, run_only: 2 }],
      [HALF, false, null],
    ] as const) {
      const claim = await bench.begin(files)
      await judge.ok('judge.job.put_artifacts', { ...claim, report_json: report })
      await judge.ok('judge.job.patch_state', { ...claim, patch: { status: 'succeeded', summary: null } })
      const state = await judge.ok('judge.job.get_state', claim)
      expect(state).toMatchObject({ status: 'succeeded', unjudged })
      if (words === null) expect(state['summary']).toBeNull()
      else expect(state['summary']).toMatchObject(words)
      await judge.ok('judge.release_claim', claim)
      const { structuredContent } = await gw.admin('job.get_artifacts', { job_id: claim.job_id, names: ['report.json'] })
      expect(structuredContent).toMatchObject({ items: { 'report.json': { status: 'succeeded', unjudged } } })
    }
  })

  test('who cancelled a job is not for a judge to say', async () => {
    await using host = await startEngine(engine)
    await using bench = await openBench(await host.migratedUrl())
    const claim = await bench.begin({})
    const error = { code: 'cancelled', message: 'it ended', by: 'admin' }
    await bench.judge.ok('judge.job.patch_state', { ...claim, patch: { status: 'cancelled', error } })
    const job = await bench.gw.store.jobs.byId(JobId.parse(claim.job_id))
    expect(job?.error).toEqual({ code: 'cancelled', message: 'it ended' })
  })
})
