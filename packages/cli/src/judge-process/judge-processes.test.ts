import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Report } from '@parley/protocol'
import { ONE_CASE_ZIP } from '@parley/store/testing'
import { expect, test } from 'vitest'
import { gone } from '../fixture/gone.ts'
import { LocalGateway } from '../fixture/local-gateway.ts'
import { Scratch } from '../fixture/parley.ts'
import { commandsHere } from '../fixture/run-here.ts'

const PYTHON = { language: 'python', time_limit_ms: 60_000, tests_zip_b64: ONE_CASE_ZIP } as const
/** Compilers, interpreters and a crowded machine. */
const SLOW_MS = 120_000
/** Works until it is killed, and has a child that does too; both can be told by the mark. */
const endless = (mark: string): string => `
import subprocess
subprocess.Popen(["/bin/sh", "-c", "while :; do sleep 0.05; done # ${mark}"])
while True: pass
`
const SUM = 'print(sum(map(int, input().split())))'

const startJudge = (scratch: Scratch, gateway: LocalGateway, name: string, ...more: string[]) =>
  scratch.start(['judge', '--url', gateway.ws, '--name', name, '--data', join(scratch.folder, name), ...more, '--json'], {
    env: { PARLEY_JUDGE_TOKEN: gateway.token },
  })

/** Processes whose command line holds the mark. */
const marked = (mark: string): number => {
  const all = execFileSync('ps', ['axww', '-o', 'pid=,args='], { encoding: 'utf8' })
  return all.split('\n').filter((line) => line.includes(mark)).length
}

test(
  'kill -9 of a judge in the middle: another finishes within the lease under a new claim, no process and no folder stays',
  { timeout: SLOW_MS },
  async () => {
    await using scratch = new Scratch()
    await using gateway = await LocalGateway.open(scratch.data, { leaseMs: 6_000 })
    const first = await startJudge(scratch, gateway, 'first')
    expect(first.ready).toMatchObject({
      machine_id: 'first',
      url: gateway.ws,
      slots: expect.any(Number),
      sandbox: { driver: expect.any(String) },
    })
    const mark = `mark-${process.pid}-kill`
    const id = await gateway.submit({ ...PYTHON, current_code: endless(mark) })
    await expect.poll(() => marked(mark)).toBeGreaterThan(0)
    const second = await startJudge(scratch, gateway, 'second')
    process.kill(first.pid, 'SIGKILL')
    await gone(first.pid)
    await expect.poll(async () => (await gateway.state(id)).judge?.machine_id).toBe('second')
    expect(await gateway.state(id)).toMatchObject({ claims: 2, lost_claims: 1 })
    await gateway.call('job.cancel', { job_id: id })
    await expect.poll(() => marked(mark)).toBe(0)
    second.kill('SIGTERM')
    expect(await second.exited).toEqual({ code: 0, signal: null })
    expect(readdirSync(join(scratch.folder, 'second/judge')).filter((name) => name.startsWith('judge-'))).toEqual([])
    // The next judge of the same folder clears what the dead one left.
    const heir = await startJudge(scratch, gateway, 'first')
    const folders = readdirSync(join(scratch.folder, 'first/judge')).filter((name) => /^judge-\w+$/.test(name))
    expect(folders).toHaveLength(1)
    heir.kill('SIGTERM')
    await heir.exited
  },
)

test(
  'SIGTERM finishes what is short; a second one gives back what is not, and no claim is burnt',
  { timeout: SLOW_MS },
  async () => {
    await using scratch = new Scratch()
    await using gateway = await LocalGateway.open(scratch.data)
    const judge = await startJudge(scratch, gateway, 'one', '--slots', '2')
    const mark = `mark-${process.pid}-term`
    const long = await gateway.submit({ ...PYTHON, current_code: endless(mark) })
    await expect.poll(() => marked(mark)).toBeGreaterThan(0)
    judge.kill('SIGTERM')
    await expect.poll(() => judge.err()).toContain('once more gives it back')
    const late = await gateway.submit({ ...PYTHON, current_code: SUM })
    judge.kill('SIGTERM')
    expect(await judge.exited).toEqual({ code: 0, signal: null })
    expect(await gateway.state(long)).toMatchObject({ status: 'queued', claims: 0, lost_claims: 0 })
    expect(await gateway.state(late)).toMatchObject({ status: 'queued', claims: 0 })
    await expect.poll(() => marked(mark)).toBe(0)
  },
)

test('a judge over plain HTTP judges too, and waits for a gateway that is not there yet', { timeout: SLOW_MS }, async () => {
  await using scratch = new Scratch()
  await using gateway = await LocalGateway.open(scratch.data)
  await gateway.stop()
  const starting = scratch.start(
    ['judge', '--url', new URL(gateway.mcp).origin, '--data', scratch.data, '--json', '--log', 'debug'],
    {
      env: { PARLEY_TOKEN: gateway.token },
    },
  )
  await gateway.start()
  const judge = await starting
  const id = await gateway.submit({ ...PYTHON, current_code: SUM })
  expect(await gateway.ended(id)).toMatchObject({ status: 'succeeded', summary: { total: 1, passed: 1 } })
  const { items } = await gateway.call('job.get_artifacts', { job_id: id, names: ['main.py', 'report.json'] })
  expect(items['main.py']).toBe(SUM)
  expect(Report.parse(items['report.json']).tests).toMatchObject([{ name: '1', verdict: 'AC' }])
  expect(judge.err()).not.toContain(gateway.token)
})

test.each([
  [['judge'], 2, 'usage', '--url'],
  [['judge', '--url', 'http://127.0.0.1:1'], 2, 'usage', 'token'],
  [['judge', '--url', 'ftp://x', '--token', 'x'], 2, 'usage', '--url'],
  [['judge', '--url', 'http://127.0.0.1:1', '--token', 'x', '--slots', '0'], 2, 'usage', '--slots'],
])('%j fails in one line and says what is wrong', async (args, exit, code, names) => {
  await using scratch = new Scratch()
  const { code: ended, err } = await commandsHere(scratch).run([...args, '--json'])
  expect(JSON.parse(err)).toMatchObject({ error: { code } })
  expect(err).toContain(names)
  expect(ended).toBe(exit)
})

test(
  'a token that the gateway does not know, or that is not for a judge, ends the judge with a word about it',
  { timeout: SLOW_MS },
  async () => {
    await using scratch = new Scratch()
    await using gateway = await LocalGateway.open(scratch.data)
    const { code, err } = await scratch.run(['judge', '--url', gateway.ws, '--data', scratch.data, '--json'], {
      env: { PARLEY_JUDGE_TOKEN: `jdg_${'x'.repeat(40)}` },
    })
    expect(code).toBe(1)
    expect(JSON.parse(err)).toMatchObject({ error: { code: 'unauthorized' } })
    const { token } = await gateway.call('token.create', { role: 'user', username: 'admin' })
    const asUser = await scratch.run(['judge', '--url', gateway.ws, '--data', scratch.data, '--json'], {
      env: { PARLEY_TOKEN: token },
    })
    expect(JSON.parse(asUser.err)).toMatchObject({
      error: { code: 'unauthorized', message: expect.stringContaining('--role judge') },
    })
  },
)
