import { readFileSync, readdirSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { Report, TOOLS } from '@parley/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { zipOf } from './knapsack.ts'
import { type Judged, openJudged } from './open-judged.ts'
import { SeedState, SeedTests } from './seed-fields.ts'
import { type SeedUser, plainUser } from './seed-user.ts'

/** What broke in the first job bus and shows only with everything at work: a real gateway, a real judge, a plain client. */
const ENDS = ['succeeded', 'failed', 'cancelled']
const SLOW = { timeout: 240_000 }

let judged: Judged
beforeAll(async () => {
  judged = await openJudged(1)
}, 120_000)
afterAll(() => judged[Symbol.asyncDispose]())

test('cancelling a job at work ends its processes and its tests, and the judge takes the next one', SLOW, async () => {
  await using user = await plainUser(judged.ws, judged.jwt)
  const mark = `mark-${randomUUID()}`
  const files = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`${index + 1}.in`, '']))
  const code = `import subprocess\nsubprocess.Popen(["/bin/sh", "-c", "while :; do sleep 0.05; done # ${mark}"])\nwhile True: pass\n`
  const id = await submit(user, { code, files, timeMs: 60_000 })
  await expect.poll(() => running(mark), { timeout: 60_000 }).toBeGreaterThan(0)
  expect(await user.call('job.cancel', { job_id: id })).toMatchObject({ job_id: id, status: 'cancelled' })
  await expect.poll(() => running(mark)).toBe(0)
  const next = await submit(user, { code: 'print(1)', files: { '1.in': '', '1.out': '1\n' } })
  expect((await ended(user, next)).status).toBe('succeeded')
  // It stays as it was said, though the judge has reported since.
  const state = SeedState.parse(await user.call('job.get_state', { job_id: id }))
  expect(state).toMatchObject({ status: 'cancelled', error: { code: 'cancelled' } })
  expect(state.finished_at).not.toBeNull()
})

test('a gateway that is killed and comes back has the same judge, and the job it held goes on', SLOW, async () => {
  const { installation } = judged
  const [machine] = installation.judges
  const files = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`${index + 1}.in`, '']))
  const id = await (async () => {
    await using user = await plainUser(judged.ws, judged.jwt)
    const running = await submit(user, { code: 'import time\ntime.sleep(0.5)\nprint(1)', files })
    await expect
      .poll(async () => SeedState.parse(await user.call('job.get_state', { job_id: running })).status)
      .toBe('running_test')
    return running
  })()
  await installation.killGateway()
  await installation.startGateway()
  await using user = await plainUser(judged.ws, judged.jwt)
  expect(await ended(user, id)).toMatchObject({ status: 'succeeded', claims: 1, lost_claims: 0, judge: { machine_id: machine } })
  const next = await submit(user, { code: 'print(1)', files: { '1.in': '', '1.out': '1\n' } })
  expect(await ended(user, next)).toMatchObject({ status: 'succeeded', judge: { machine_id: machine } })
})

test('inputs and answers of megabytes in one file reach the program whole', SLOW, async () => {
  await using user = await plainUser(judged.ws, judged.jwt)
  const line = `${'7'.repeat(1_023)}\n`
  const big = line.repeat(3_000)
  const files = { '1.in': big, '1.out': big, '2.in': `${big}x`, '2.out': big }
  const id = await submit(user, { code: 'import sys\nsys.stdout.write(sys.stdin.read())\n', files })
  await ended(user, id)
  const report = await reportOf(user, id)
  expect(report.tests.map(({ verdict, stdout_truncated }) => [verdict, stdout_truncated])).toEqual([
    ['AC', true],
    ['WA', true],
  ])
})

test(
  'a program that never reads its input is ended by its limit like any other, and the cases after it are judged',
  SLOW,
  async () => {
    await using user = await plainUser(judged.ws, judged.jwt)
    const unread = '1\n'.repeat(1_000_000)
    const looping = await submit(user, { code: 'while True: pass', files: { '1.in': unread, '2.in': '1\n' }, timeMs: 300 })
    expect(await ended(user, looping)).toMatchObject({ status: 'failed', error: { code: 'tests_failed' } })
    const { tests } = await reportOf(user, looping)
    expect(tests.map(({ verdict }) => verdict)).toEqual(['TLE', 'TLE'])
    const leaving = await submit(user, { code: 'print(1)', files: { '1.in': unread, '1.out': '1\n' } })
    expect((await ended(user, leaving)).status).toBe('succeeded')
  },
)

test('the cases that are listed are the cases that are judged, name by name, whatever the files are called', SLOW, async () => {
  await using user = await plainUser(judged.ws, judged.jwt)
  const names = ['10', '9', 'b/2', 'b/10', 'b/deep/2', 'größe', 'a b', 'x.y']
  const pairs = await submit(user, {
    code: 'print(1)',
    files: Object.fromEntries(
      names.flatMap((name) => [
        [`tests/${name}.in`, '1'],
        [`tests/${name}.ans`, '1'],
      ]),
    ),
  })
  const manifest = await submit(user, {
    code: 'print(1)',
    files: {
      'manifest.json': JSON.stringify({
        cases: [
          { name: 'z', in: 'data/1', out: 'data/1.a' },
          { name: 'a', group: 'g', in: 'data/2' },
        ],
      }),
      'data/1': '',
      'data/1.a': '1',
      'data/2': '',
      'not-a-case.in': '',
    },
  })
  for (const [id, count] of [
    [pairs, names.length],
    [manifest, 2],
  ] as const) {
    await ended(user, id)
    const listed = SeedTests.parse(await user.call('job.get_tests', { job_id: id }))
    const report = await reportOf(user, id)
    expect(listed.items.map(identity)).toEqual(report.tests.map(identity))
    expect([listed.total, report.summary.total]).toEqual([count, count])
    expect(new Set(listed.items.map(({ name }) => name)).size).toBe(count)
  }
})

test('a job id that is none reaches nothing: every tool that takes one names the field', async () => {
  await using user = await plainUser(judged.ws, judged.jwt)
  const takers = Object.values(TOOLS).filter(
    ({ name, roles }) => name.startsWith('job.') && roles.some((role) => role === 'user'),
  )
  const named = takers.filter(({ input }) => 'job_id' in input.shape)
  expect(named.length).toBeGreaterThan(10)
  for (const { name } of named)
    for (const job_id of ['../../etc', '..', '', 'job_/../x', 7, null])
      await expect(user.call(name, { job_id }), `${name} ${job_id}`).rejects.toMatchObject({
        body: { code: 'invalid_argument', field: 'job_id' },
      })
})

interface Submission {
  readonly code: string
  readonly files: Readonly<Record<string, string>>
  readonly timeMs?: number
}

async function submit(user: SeedUser, { code, files, timeMs = 10_000 }: Submission): Promise<string> {
  const tests_zip_b64 = (await zipOf(files)).toString('base64')
  const args = { language: 'python', current_code: code, tests_zip_b64, time_limit_ms: timeMs }
  const { job_id } = await user.call('job.create', args)
  await user.call('job.start', { job_id })
  return String(job_id)
}

async function ended(user: SeedUser, job_id: string): Promise<SeedState> {
  for (;;) {
    const { state } = await user.call('job.wait', { job_id, wait_ms: 5_000 })
    const parsed = SeedState.parse(state)
    if (ENDS.includes(parsed.status)) return parsed
  }
}

async function reportOf(user: SeedUser, job_id: string): Promise<Report> {
  const { items } = await user.call('job.get_artifacts', { job_id, names: ['report.json'] })
  return z.object({ 'report.json': Report }).parse(items)['report.json']
}

interface Case {
  readonly name: string
  readonly group: string
  readonly input_rel: string
  readonly expected_rel: string | null
  readonly expected_present: boolean
}
const identity = ({ name, group, input_rel, expected_rel, expected_present }: Case): Case => ({
  name,
  group,
  input_rel,
  expected_rel,
  expected_present,
})

/** Processes of this machine, in whatever namespace, whose command line holds the mark. */
function running(mark: string): number {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(mark)
    } catch {
      // It ended while we looked.
      return false
    }
  }).length
}
