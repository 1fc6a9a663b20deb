import { type JobId, ToolError } from '@parley/protocol'
import { connectClient, httpTransport } from '@parley/rpc'
import { ONE_CASE_ZIP } from '@parley/store/testing'
import { expect, test } from 'vitest'
import { LocalGateway } from '../fixture/local-gateway.ts'
import { Scratch } from '../fixture/parley.ts'
import { codeFor } from '../fixture/scripted-tester.ts'
import { through } from '../fixture/through.ts'
import { type TestWorker, openTestWorker } from '../fixture/test-worker.ts'

const FOREVER = codeFor({ forever: true })
const SHORT = codeFor({})
const PATIENCE = { timeout: 30_000 }
/** So long that a test which had to wait for the end of it would fail. */
const CLAIM_WAIT_MS = 30_000

/** Hands in code as this person. */
async function personAt(gateway: LocalGateway, username: string): Promise<(code: string) => Promise<JobId>> {
  await gateway.call('user.add', { username })
  const { token } = await gateway.call('token.create', { role: 'user', username })
  return async (code) => {
    const client = await connectClient(httpTransport({ url: gateway.mcp, token }), { clientInfo: { name: 'test', version: '1' } })
    const { job_id } = await client.callTool('job.create', { current_code: code, tests_zip_b64: ONE_CASE_ZIP })
    await client.callTool('job.start', { job_id })
    await client.close()
    return job_id
  }
}

async function works(judge: TestWorker, jobs: number): Promise<void> {
  await expect.poll(() => judge.tester.running, PATIENCE).toBe(jobs)
}
const seen = ({ tester }: TestWorker): string[] => tester.seen.map(({ spec }) => spec.job_id)

test.each(['ws', 'mcp'] as const)(
  'over %s one person who fills every slot with long jobs keeps nobody else waiting, and gets no more places than there are slots',
  async (wire) => {
    await using scratch = new Scratch()
    await using gateway = await LocalGateway.open(scratch.data)
    const [ann, bob, cid, dan] = [
      await personAt(gateway, 'ann'),
      await personAt(gateway, 'bob'),
      await personAt(gateway, 'cid'),
      await personAt(gateway, 'dan'),
    ]
    await using judge = await openTestWorker(gateway, scratch.folder, {
      slots: 2,
      wire,
      limits: { claimWaitMs: CLAIM_WAIT_MS },
    })
    const anns = [await ann(FOREVER), await ann(FOREVER), await ann(FOREVER)]
    await works(judge, 2)
    // Bob's are done one after the other, beside hers.
    for (const id of [await bob(SHORT), await bob(SHORT), await bob(SHORT)])
      expect(await gateway.ended(id)).toMatchObject({ status: 'succeeded' })
    expect(judge.tester.running).toBe(2)
    // The places for guests are taken by two of different owners; a third waits until one of them has gone.
    const [bobs, cids] = [await bob(FOREVER), await cid(FOREVER)]
    await works(judge, 4)
    const dans = await dan(SHORT)
    const again = await bob(SHORT)
    expect(await gateway.state(dans)).toMatchObject({
      status: 'queued',
      waiting: { code: 'busy', message: 'every judge that could take it is at work (test: 2 of 2 and 2 guests)' },
    })
    await gateway.call('job.cancel', { job_id: cids })
    expect(await gateway.ended(dans)).toMatchObject({ status: 'succeeded' })
    expect(await gateway.state(again)).toMatchObject({ status: 'queued' })
    await gateway.call('job.cancel', { job_id: bobs })
    expect(await gateway.ended(again)).toMatchObject({ status: 'succeeded' })
    // Her third was not taken all the while, and is when a slot is free.
    expect(await gateway.state(anns[2] ?? dans)).toMatchObject({ status: 'queued', claims: 0 })
    await gateway.call('job.cancel', { job_id: anns[0] ?? dans })
    await expect.poll(() => seen(judge).at(-1), PATIENCE).toBe(anns[2])
    expect(judge.tester.most).toBe(4)
  },
  60_000,
)

test.each(['ws', 'mcp'] as const)(
  'over %s jobs of one person follow each other without a pause',
  async (wire) => {
    await using scratch = new Scratch()
    await using gateway = await LocalGateway.open(scratch.data)
    const ann = await personAt(gateway, 'ann')
    await using judge = await openTestWorker(gateway, scratch.folder, { wire, limits: { claimWaitMs: CLAIM_WAIT_MS } })
    // The judge waits for a guest while each is at work: it must not wait for the end of that.
    const ids = []
    for (let job = 0; job < 5; job += 1) ids.push(await ann(codeFor({ lines: 5, pauseMs: 10 })))
    for (const id of ids) expect(await gateway.ended(id)).toMatchObject({ status: 'succeeded', claims: 1 })
    expect(judge.tester.most).toBe(1)
  },
  60_000,
)

test('at a gateway that does not know of guests a judge fills its slots, and asks for no more', async () => {
  await using scratch = new Scratch()
  await using gateway = await LocalGateway.open(scratch.data)
  const [ann, bob] = [await personAt(gateway, 'ann'), await personAt(gateway, 'bob')]
  let refused = 0
  // As one from before there were guests: an argument that it does not know is an error.
  const connect = through(gateway, (call) => (name, args, options) => {
    if (!('holding' in args)) return call(name, args, options)
    refused += 1
    return Promise.reject(new ToolError('invalid_argument', 'holding: is not an argument'))
  })
  await using judge = await openTestWorker(gateway, scratch.folder, { connect })
  const anns = await ann(FOREVER)
  await works(judge, 1)
  await expect.poll(() => refused, PATIENCE).toBe(1)
  const bobs = await bob(SHORT)
  await gateway.call('job.cancel', { job_id: anns })
  expect(await gateway.ended(bobs)).toMatchObject({ status: 'succeeded' })
  expect(judge.tester.most).toBe(1)
  expect(judge.logged.filter((line) => line.startsWith('error'))).toEqual([])
})
