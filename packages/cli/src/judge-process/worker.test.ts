import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { AgentStatusItem, Report } from '@parley/protocol'
import { expect, test } from 'vitest'
import { LocalGateway } from '../fixture/local-gateway.ts'
import { Scratch } from '../fixture/parley.ts'
import { codeFor } from '../fixture/scripted-tester.ts'
import { openTestWorker } from '../fixture/test-worker.ts'

const countTo = (lines: number): string => Array.from({ length: lines }, (_, line) => `line ${line}\n`).join('')

test.each(['ws', 'mcp'] as const)(
  'a job over %s: claimed, tested, told in order, released, nothing left behind',
  async (wire) => {
    await using scratch = new Scratch()
    await using gateway = await LocalGateway.open(scratch.data)
    await using judge = await openTestWorker(gateway, scratch.folder, { wire })
    const id = await gateway.submit({ current_code: codeFor({ lines: 50 }) })
    expect(await gateway.ended(id)).toMatchObject({ status: 'succeeded', claims: 1, lost_claims: 0, attempt: 1, error: null })
    expect(await gateway.log(id, 'terminal')).toBe(countTo(50))
    const lines = (await gateway.log(id, 'agent_status'))
      .trimEnd()
      .split('\n')
      .map((line) => AgentStatusItem.parse(JSON.parse(line)))
    expect(lines.map(({ summary }) => summary)).toEqual(['claimed by test', 'at work', 'succeeded'])
    expect(new Set(lines.map(({ seq }) => seq)).size).toBe(lines.length)
    const { items } = await gateway.call('job.get_artifacts', { job_id: id, names: ['main.cpp', 'report.json'] })
    expect(items['main.cpp']).toBe(codeFor({ lines: 50 }))
    expect(Report.parse(items['report.json'])).toMatchObject({ status: 'succeeded', environment: { judge: 'test' } })
    await expect.poll(() => judge.worker.running).toBe(0)
    const [own = ''] = readdirSync(judge.workFolder).filter((name) => /^judge-\w+$/.test(name))
    expect(readdirSync(join(judge.workFolder, own, 'jobs'))).toEqual([])
    await judge.worker.stop(0)
    expect(readdirSync(judge.workFolder)).toEqual(['inputs'])
  },
)

test('slots run jobs side by side, and no more than there are', async () => {
  await using scratch = new Scratch()
  await using gateway = await LocalGateway.open(scratch.data)
  await using judge = await openTestWorker(gateway, scratch.folder, { slots: 3 })
  const code = codeFor({ lines: 20, pauseMs: 10 })
  const ids = await Promise.all(Array.from({ length: 8 }, () => gateway.submit({ current_code: code })))
  for (const id of ids) expect(await gateway.ended(id)).toMatchObject({ status: 'succeeded', claims: 1 })
  expect(judge.tester.most).toBe(3)
})

test('a gateway that goes away in the middle and comes back finds the same claim, and a log without a gap', async () => {
  await using scratch = new Scratch()
  await using gateway = await LocalGateway.open(scratch.data)
  await using judge = await openTestWorker(gateway, scratch.folder)
  const id = await gateway.submit({ current_code: codeFor({ lines: 300, pauseMs: 5 }) })
  for (let round = 0; round < 3; round += 1) {
    const before = (await gateway.log(id, 'terminal')).length
    await expect.poll(async () => (await gateway.log(id, 'terminal')).length).toBeGreaterThan(before)
    await gateway.stop()
    await gateway.start()
  }
  expect(await gateway.ended(id)).toMatchObject({ status: 'succeeded', claims: 1, lost_claims: 0 })
  expect(await gateway.log(id, 'terminal')).toBe(countTo(300))
  expect(judge.tester.seen).toHaveLength(1)
})

test('a judge that was cut off too long loses the job to another, stops, writes nothing more, and takes the next', async () => {
  await using scratch = new Scratch()
  await using gateway = await LocalGateway.open(scratch.data, { leaseMs: 600 })
  await using first = await openTestWorker(gateway, scratch.folder, { name: 'first' })
  const id = await gateway.submit({ current_code: codeFor({ lines: 200, pauseMs: 10 }) })
  await expect.poll(async () => (await gateway.log(id, 'terminal')).length).toBeGreaterThan(0)
  await first.cut()
  await using second = await openTestWorker(gateway, scratch.folder, { name: 'second' })
  await expect.poll(() => second.tester.running).toBe(1)
  first.mend()
  await expect.poll(() => first.tester.aborted).toBe(1)
  const end = await gateway.ended(id)
  expect(end).toMatchObject({ status: 'succeeded', claims: 2, lost_claims: 1, judge: { machine_id: 'second' } })
  // What the first wrote while it held the job stays; after that there is the second's alone, whole.
  expect(await gateway.log(id, 'terminal')).toMatch(new RegExp(`${countTo(200)}$`))
  const { items } = await gateway.call('job.get_artifacts', { job_id: id, names: ['report.json'] })
  expect(Report.parse(items['report.json'])).toMatchObject({ claim: 2, environment: { judge: 'second' } })
  await second.worker.stop(0)
  const next = await gateway.submit({ current_code: codeFor({}) })
  expect(await gateway.ended(next)).toMatchObject({ status: 'succeeded', judge: { machine_id: 'first' } })
})

test('quiet work keeps its lease by heartbeats', async () => {
  await using scratch = new Scratch()
  await using gateway = await LocalGateway.open(scratch.data, { leaseMs: 400 })
  await using judge = await openTestWorker(gateway, scratch.folder)
  const id = await gateway.submit({ current_code: codeFor({ lines: 1, pauseMs: 1_500 }) })
  expect(await gateway.ended(id)).toMatchObject({ status: 'succeeded', claims: 1, lost_claims: 0 })
  expect(judge.tester.seen).toHaveLength(1)
})

test.each(['ws', 'mcp'] as const)('a cancelled job is stopped over %s and stays cancelled, with its last line', async (wire) => {
  await using scratch = new Scratch()
  await using gateway = await LocalGateway.open(scratch.data)
  await using judge = await openTestWorker(gateway, scratch.folder, { wire })
  const id = await gateway.submit({ current_code: codeFor({ forever: true }) })
  await expect.poll(() => judge.tester.running).toBe(1)
  await gateway.call('job.cancel', { job_id: id })
  await expect.poll(() => judge.tester.aborted).toBe(1)
  await expect.poll(() => judge.worker.running).toBe(0)
  expect(await gateway.state(id)).toMatchObject({ status: 'cancelled', claims: 1 })
  expect(await gateway.log(id, 'agent_status')).toContain('"summary":"cancelled"')
  // One that waits is cancelled without any judge.
  await gateway.call('judge.drain', { machine_id: 'test' })
  const waiting = await gateway.submit({ current_code: codeFor({}) })
  await gateway.call('job.cancel', { job_id: waiting })
  await gateway.call('judge.drain', { machine_id: 'test', drain: false })
  const last = await gateway.submit({ current_code: codeFor({}) })
  await gateway.ended(last)
  expect(judge.tester.seen.map(({ spec }) => spec.job_id)).toEqual([id, last])
})

test('a judge that is stopped gives back what it cannot finish, and no claim is burnt', async () => {
  await using scratch = new Scratch()
  await using gateway = await LocalGateway.open(scratch.data)
  const first = await openTestWorker(gateway, scratch.folder, { name: 'first', slots: 2 })
  const quick = await gateway.submit({ current_code: codeFor({ lines: 30, pauseMs: 10 }) })
  const endless = await gateway.submit({ current_code: codeFor({ forever: true }) })
  await expect.poll(() => first.tester.running).toBe(2)
  await first.worker.stop(2_000)
  expect(await gateway.state(quick)).toMatchObject({ status: 'succeeded' })
  expect(await gateway.state(endless)).toMatchObject({ status: 'queued', claims: 0, lost_claims: 0 })
  expect(existsSync(join(scratch.folder, 'judge'))).toBe(true)
  await using second = await openTestWorker(gateway, scratch.folder, { name: 'second' })
  await expect.poll(() => second.tester.running).toBe(1)
  await gateway.call('job.cancel', { job_id: endless })
  await expect.poll(() => second.worker.running).toBe(0)
  const lines = (await gateway.log(endless, 'agent_status')).trimEnd().split('\n')
  const seqs = lines.map((line) => AgentStatusItem.parse(JSON.parse(line)).seq)
  expect(seqs.length).toBeGreaterThan(5)
  expect(new Set(seqs).size).toBe(seqs.length)
})

test('a job that breaks the judge every time ends as failed with a report, and the judge lives on', async () => {
  await using scratch = new Scratch()
  await using gateway = await LocalGateway.open(scratch.data)
  await using judge = await openTestWorker(gateway, scratch.folder)
  const bad = await gateway.submit({ current_code: codeFor({ throws: 'no box can be had' }) })
  const good = await gateway.submit({ current_code: codeFor({}) })
  expect(await gateway.ended(good)).toMatchObject({ status: 'succeeded' })
  expect(await gateway.ended(bad)).toMatchObject({ status: 'failed', error: { code: 'poisoned' }, lost_claims: 3 })
  expect(await gateway.log(bad, 'agent_status')).toContain('this judge failed: no box can be had')
  expect(judge.tester.seen.filter(({ spec }) => spec.job_id === bad)).toHaveLength(3)
})

test('a failed test fails the job, and its report says why', async () => {
  await using scratch = new Scratch()
  await using gateway = await LocalGateway.open(scratch.data)
  await using _judge = await openTestWorker(gateway, scratch.folder)
  const id = await gateway.submit({ current_code: codeFor({ fails: true }) })
  expect(await gateway.ended(id)).toMatchObject({ status: 'failed', error: { code: 'tests_failed' }, summary: { failed: 1 } })
})

test('a job that outlasts what its limits explain is ended as timed out', async () => {
  await using scratch = new Scratch()
  await using gateway = await LocalGateway.open(scratch.data)
  await using judge = await openTestWorker(gateway, scratch.folder, { limits: { jobMs: 300 } })
  const id = await gateway.submit({ current_code: codeFor({ forever: true }) })
  expect(await gateway.ended(id)).toMatchObject({ status: 'failed', error: { code: 'job_timeout' } })
  expect(judge.tester.aborted).toBe(1)
})

test('a drained judge finishes, takes nothing, and takes again when the drain is lifted', async () => {
  await using scratch = new Scratch()
  await using gateway = await LocalGateway.open(scratch.data)
  await using judge = await openTestWorker(gateway, scratch.folder)
  const running = await gateway.submit({ current_code: codeFor({ lines: 30, pauseMs: 10 }) })
  await expect.poll(() => judge.tester.running).toBe(1)
  await gateway.call('judge.drain', { machine_id: 'test' })
  expect(await gateway.ended(running)).toMatchObject({ status: 'succeeded' })
  const waiting = await gateway.submit({ current_code: codeFor({}) })
  const { ended } = await gateway.call('job.wait', { job_id: waiting, wait_ms: 500 })
  expect(ended).toBe(false)
  await gateway.call('judge.drain', { machine_id: 'test', drain: false })
  expect(await gateway.ended(waiting)).toMatchObject({ status: 'succeeded' })
})

test('a wrong token is refused at once', async () => {
  await using scratch = new Scratch()
  await using gateway = await LocalGateway.open(scratch.data)
  const { connectWorker } = await import('../process/connect-worker.ts')
  const connect = connectWorker('judge', { url: gateway.ws, token: 'jdg_wrong' })
  await expect(openTestWorker(gateway, scratch.folder, { connect })).rejects.toMatchObject({ code: 'unauthorized' })
  expect(readdirSync(join(scratch.folder, 'judge'))).toEqual(['inputs'])
})
