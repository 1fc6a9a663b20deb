import { randomBytes } from 'node:crypto'
import type { GenerateRequest, Generator } from '@parley/judge'
import { JobId, makeId, Report } from '@parley/protocol'
import { jobHolder } from '@parley/store'
import { ONE_CASE_ZIP } from '@parley/store/testing'
import { expect, test } from 'vitest'
import { LocalGateway } from '../fixture/local-gateway.ts'
import { Scratch } from '../fixture/parley.ts'
import { codeFor } from '../fixture/scripted-tester.ts'
import { openTestWorker } from '../fixture/test-worker.ts'

/** A job for a model. No gateway takes one yet, so it is put where one would put it. */
async function submitForModel(gateway: LocalGateway): Promise<JobId> {
  const { job_id } = await gateway.call('job.create', {
    statement_md: 'add',
    current_code: codeFor({ fails: true }),
    tests_zip_b64: ONE_CASE_ZIP,
  })
  const inputs = await gateway.store.jobs.inputs(job_id)
  if (inputs === undefined) throw new Error('no inputs')
  const id = makeId(JobId, 'job', randomBytes)
  if (inputs.blob !== null) await gateway.store.blobs.hold(inputs.blob, jobHolder(id))
  await gateway.store.jobs.add({ id, ownerId: null, inputs: { ...inputs, spec: { ...inputs.spec, job_id: id, model: 'm' } } })
  await gateway.call('job.start', { job_id: id })
  return id
}

test('without an engine a job for a model fails with a code of its own and a report', async () => {
  await using scratch = new Scratch()
  await using gateway = await LocalGateway.open(scratch.data)
  await using judge = await openTestWorker(gateway, scratch.folder)
  const id = await submitForModel(gateway)
  expect(await gateway.ended(id)).toMatchObject({ status: 'failed', claims: 1, error: { code: 'engine_missing' } })
  const { items } = await gateway.call('job.get_artifacts', { job_id: id })
  expect(Report.parse(items['report.json'])).toMatchObject({ mode: 'none', error: { code: 'engine_missing' } })
  expect(await gateway.log(id, 'agent_status')).toContain('engine_missing')
  expect(judge.tester.seen).toEqual([])
})

test('an engine writes, is shown the report of what failed, and repairs', async () => {
  await using scratch = new Scratch()
  await using gateway = await LocalGateway.open(scratch.data)
  const asked: GenerateRequest[] = []
  const generator: Generator = {
    generate: async (request, listener) => {
      asked.push(request)
      listener.status({
        stage: request.attempt === 1 ? 'coding' : 'repair',
        level: 'info',
        summary: `attempt ${request.attempt}`,
      })
      const usage = { model: 'm', usage: { input_tokens: 10, output_tokens: 5 } }
      return { kind: 'code', code: codeFor({ fails: request.attempt < 3 }), calls: [{ id: 'one', usage }] }
    },
  }
  await using _judge = await openTestWorker(gateway, scratch.folder, { generator })
  const id = await submitForModel(gateway)
  expect(await gateway.ended(id)).toMatchObject({ status: 'succeeded', attempt: 3, claims: 1 })
  expect(asked.map(({ previous }) => previous?.report.status)).toEqual([undefined, 'failed', 'failed'])
  const { items } = await gateway.call('job.get_artifacts', { job_id: id, names: ['main.cpp', 'report.json', 'usage.json'] })
  expect(items['main.cpp']).toBe(codeFor({ fails: false }))
  expect(items['usage.json']).toMatchObject({ usage: { input_tokens: 30, output_tokens: 15 } })
  expect(Report.parse(items['report.json'])).toMatchObject({ attempt: 3, status: 'succeeded' })
})

test('an engine that fails says why, and the attempts end', async () => {
  await using scratch = new Scratch()
  await using gateway = await LocalGateway.open(scratch.data)
  const generator: Generator = {
    generate: async () => ({ kind: 'failed', error: { code: 'generate_failed', message: 'no' }, calls: [] }),
  }
  await using _judge = await openTestWorker(gateway, scratch.folder, { generator })
  const id = await submitForModel(gateway)
  expect(await gateway.ended(id)).toMatchObject({ status: 'failed', error: { code: 'generate_failed', message: 'no' } })
})
