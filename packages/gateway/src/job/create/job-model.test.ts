import type { JobId } from '@parley/protocol'
import { type TestUpstream, openTestUpstream } from '@parley/models/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addUser } from '../../fixture/test-job.ts'
import { type TestGateway, type ToolReply, callTool, openTestGateway } from '../../fixture/test-gateway.ts'

const PRICED = {
  model: 'gpt-b',
  upstream_channel: 'second',
  input_microusd_per_1m_tokens: 1,
  output_microusd_per_1m_tokens: 1,
  active: true,
}
let gw: TestGateway
let upstream: TestUpstream
let token: string

beforeAll(async () => {
  upstream = await openTestUpstream(['gpt-a', 'gpt-b'])
  gw = await openTestGateway()
  token = (await addUser(gw, 'ada')).token
  await gw.admin('channel.set', { name: 'first', base_url: upstream.url })
  await gw.admin('channel.set', { name: 'second', base_url: upstream.url })
  await gw.admin('pricing.set', PRICED)
  await gw.admin('pricing.set', { model: 'gpt-off', upstream_channel: 'second', active: false })
})
afterAll(async () => {
  await gw[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})

const call = (name: string, args: object) => callTool(gw.gateway.url, token, name, args)
const failure = (reply: ToolReply) => reply._meta?.['parley/error']
const create = async (args: object): Promise<JobId> => {
  const reply = await call('job.create', { statement_md: '# Sum', ...args })
  if (reply.structuredContent === undefined) throw new Error(JSON.stringify(reply))
  return (reply.structuredContent as { job_id: JobId }).job_id
}
const specOf = async (id: JobId) => (await gw.store.jobs.inputs(id))?.spec

test('a job keeps the model, the channel it was found at, and what bounds it', async () => {
  const priced = await create({
    model: 'gpt-b',
    engine: 'mini',
    max_attempts: 5,
    budget: { tokens: 10_000, microusd: 500 },
    upstream_channel: '',
  })
  expect(await specOf(priced)).toMatchObject({
    model: 'gpt-b',
    upstream_channel: 'second',
    engine: 'mini',
    max_attempts: 5,
    budget: { tokens: 10_000, microusd: 500 },
    seed: { current_code: '' },
  })
  const unpriced = await create({ model: 'gpt-a', budget: { tokens: 9 } })
  expect(await specOf(unpriced)).toMatchObject({
    model: 'gpt-a',
    upstream_channel: 'first',
    engine: null,
    max_attempts: 3,
    budget: { tokens: 9, microusd: null },
  })
  expect(await specOf(await create({ model: 'gpt-b', upstream_channel: 'first' }))).toMatchObject({ upstream_channel: 'first' })
})

test.each<[args: object, code: string, field: string]>([
  [{ model: 'gpt-x' }, 'not_found', 'model'],
  [{ model: 'gpt-off' }, 'not_found', 'model'],
  [{ model: 'gpt-b', upstream_channel: 'third' }, 'not_found', 'upstream_channel'],
  [{ model: 'gpt-a', budget: { microusd: 5 } }, 'invalid_argument', 'budget.microusd'],
  [{ model: 'gpt-a', budget: { tokens: 0 } }, 'invalid_argument', 'budget.tokens'],
  [{ model: 'gpt-a', max_attempts: 11 }, 'invalid_argument', 'max_attempts'],
  [{ current_code: 'x', budget: {} }, 'invalid_argument', 'budget'],
  [{ current_code: 'x', engine: 'codex' }, 'invalid_argument', 'engine'],
  [{ current_code: 'x', max_attempts: 1 }, 'invalid_argument', 'max_attempts'],
  [{ current_code: 'x', upstream_channel: 'first' }, 'invalid_argument', 'upstream_channel'],
])('%j is %s at %s', async (args, code, field) => {
  const error = failure(await call('job.create', { statement_md: '# Sum', ...args }))
  expect(error).toMatchObject({ code, field })
  const where = code === 'not_found' && field === 'upstream_channel' ? 'the channels there are: first, second' : 'models.list'
  if (code === 'not_found' || !('model' in args)) expect(error).toMatchObject({ hint: expect.stringContaining(where) })
})

test('a job whose model is gone is not tried again', async () => {
  const id = await create({ model: 'gpt-b' })
  await call('job.cancel', { job_id: id })
  expect((await call('job.retry', { job_id: id })).structuredContent).toMatchObject({ status: 'queued', retry_of: id })
  await gw.admin('pricing.set', { model: 'gpt-b', upstream_channel: 'second', active: false })
  expect(failure(await call('job.retry', { job_id: id }))).toMatchObject({ code: 'not_found', field: 'model' })
  await gw.admin('channel.set', { name: 'second', enabled: false })
  expect(failure(await call('job.retry', { job_id: id }))).toMatchObject({ code: 'not_found', field: 'upstream_channel' })
  // As it was, for whichever test comes next.
  await gw.admin('channel.set', { name: 'second', enabled: true })
  await gw.admin('pricing.set', PRICED)
})
