import {
  type Connect,
  type JobListener,
  PATIENCE,
  SYSTEM_CLOCK,
  type SteadyClient,
  followJob,
  openSteadyClient,
} from '@parley/client'
import { type Cut, openCuttingProxy } from '@parley/client/testing'
import type { JobId } from '@parley/protocol'
import { type Client, connectClient, httpTransport, webSocketTransport } from '@parley/rpc'
import { ONE_CASE_ZIP } from '@parley/store/testing'
import { expect, test } from 'vitest'
import { HandJudge } from './testing/hand-judge.ts'
import { PASSWORD, openHouse, tokenOf } from './testing/house.ts'

/** A job of a real gateway, followed by `@parley/client` on each of its wires. The test plays the judge. */
const WIRES = ['ws', 'http'] as const
const SLOW = { timeout: 300_000 }

async function handIn(client: Client): Promise<JobId> {
  const { job_id } = await client.callTool('job.create', { current_code: 'int main() {}', tests_zip_b64: ONE_CASE_ZIP })
  await client.callTool('job.start', { job_id })
  return job_id
}

function open(wire: (typeof WIRES)[number], port: number, token: string): Promise<SteadyClient> {
  const at = { url: `${wire}://127.0.0.1:${port}/${wire === 'ws' ? 'api/mcp/ws' : 'mcp'}`, token }
  const connect: Connect = (heard, signal) =>
    connectClient(wire === 'ws' ? webSocketTransport(at) : httpTransport(at), {
      clientInfo: { name: 'test', version: '1' },
      era: wire === 'ws' ? 'legacy' : 'auto',
      onNotification: heard,
      signal,
    })
  return openSteadyClient({
    connect,
    patience: PATIENCE.worker,
    clock: SYSTEM_CLOCK,
    random: Math.random,
    tell: () => {},
    limits: { reconnectMinMs: 1, reconnectMaxMs: 10 },
  })
}

/** What is heard of a job, log by log. */
function ear() {
  const heard = { states: new Array<string>(), statuses: new Array<string>(), cases: new Array<string>(), terminal: '', last: '' }
  const listener: JobListener = {
    state: ({ status }) => {
      heard.states.push(status)
      heard.last = 'state'
    },
    status: ({ summary }) => {
      heard.statuses.push(summary)
      heard.last = 'status'
    },
    caseDone: ({ name }, begins) => {
      heard.cases.push(`${name} ${begins}`)
      heard.last = 'case'
    },
    terminal: (bytes) => {
      heard.terminal += Buffer.from(bytes).toString('latin1')
      heard.last = 'terminal'
    },
    restarted: () => {
      throw new Error('nothing was taken back')
    },
  }
  return { heard, listener }
}

/** Every connection is cut a little later than the one before, in turn on the way there and on the way back. */
const cutOf = (index: number): Cut => ({ of: index % 2 === 0 ? 'server' : 'client', bytes: index * 90 })

const LINES = 30

test.each(WIRES)('over %s, cut at every stage: each thing once, in order, the end last', SLOW, async (wire) => {
  await using house = await openHouse(PASSWORD)
  const admin = await house.dial('admin')
  const id = await handIn(admin)
  const judge = await HandJudge.claim(await house.dial('judge'))
  await using proxy = await openCuttingProxy(Number(new URL(house.url).port), cutOf)
  const client = await open(wire, proxy.port, await tokenOf(house.url, 'admin', PASSWORD))
  const { heard, listener } = ear()
  const following = followJob(client, id, listener, { until: 'end', terminalBytes: 1024 * 1024 })
  await judge.patch({ status: 'running_test' })
  for (let line = 0; line < LINES; line += 1) {
    const before = proxy.count()
    await judge.status({ summary: `status ${line}` })
    await judge.case({ name: `case ${line}` })
    await judge.terminal(Buffer.from(`terminal ${line}\n`))
    // So that it is cut while it is followed, and not only while it begins.
    if (line % 3 === 0) await expect.poll(() => heard.statuses.length).toBeGreaterThan(line)
    if (line % 5 === 4) {
      proxy.cutAll()
      await expect.poll(() => proxy.count()).toBeGreaterThan(before)
    }
  }
  await judge.end({ status: 'failed', error: { code: 'tests_failed', message: 'as it is' } })
  expect(await following.ended).toMatchObject({ job_id: id, status: 'failed' })
  const all = Array.from({ length: LINES }, (_, line) => line)
  expect(heard).toEqual({
    states: expect.arrayContaining(['failed']),
    statuses: all.map((line) => `status ${line}`),
    cases: all.map((line) => `case ${line} ${line === 0 ? 'attempt' : 'nothing'}`),
    terminal: all.map((line) => `terminal ${line}\n`).join(''),
    last: 'state',
  })
  expect(heard.states.filter((status) => status === 'failed')).toHaveLength(1)
  expect(proxy.count()).toBeGreaterThan(20)
  await client.close()
})

test.each(WIRES)('over %s it is told when another claim begins the cases again', SLOW, async (wire) => {
  await using house = await openHouse(PASSWORD)
  const id = await handIn(await house.dial('admin'))
  const first = await HandJudge.claim(await house.dial('judge'))
  const client = await open(wire, Number(new URL(house.url).port), await tokenOf(house.url, 'admin', PASSWORD))
  const { heard, listener } = ear()
  const following = followJob(client, id, listener, { until: 'end' })
  await first.case({ name: 'one', seq: 'a-1' })
  await first.giveBack()
  const second = await HandJudge.claim(await house.dial('judge'))
  await second.case({ name: 'one', seq: 'b-1' })
  await second.case({ name: 'two', seq: 'b-2' })
  await second.patch({ status: 'running_test' })
  await second.end({ status: 'succeeded' })
  expect(await following.ended).toMatchObject({ status: 'succeeded' })
  expect(heard.cases).toEqual(['one attempt', 'one claim', 'two nothing'])
  await client.close()
})

test.each(WIRES)('over %s what a judge flushes after a cancellation is told before the end', SLOW, async (wire) => {
  await using house = await openHouse(PASSWORD)
  const admin = await house.dial('admin')
  const id = await handIn(admin)
  const judge = await HandJudge.claim(await house.dial('judge'))
  const client = await open(wire, Number(new URL(house.url).port), await tokenOf(house.url, 'admin', PASSWORD))
  const { heard, listener } = ear()
  const following = followJob(client, id, listener, { until: 'end' })
  await judge.status({ summary: 'at work' })
  await expect.poll(() => heard.statuses).toEqual(['at work'])
  await admin.callTool('job.cancel', { job_id: id })
  await judge.status({ summary: 'the last word' })
  await judge.giveBack()
  expect(await following.ended).toMatchObject({ status: 'cancelled' })
  expect(heard).toMatchObject({ statuses: ['at work', 'the last word'], last: 'state' })
  await client.close()
})

test.each(WIRES)('over %s whoever waits for the end of a job that is deleted hears that it is gone', SLOW, async (wire) => {
  await using house = await openHouse(PASSWORD)
  const admin = await house.dial('admin')
  const { job_id } = await admin.callTool('job.create', { current_code: 'int main() {}', tests_zip_b64: ONE_CASE_ZIP })
  const client = await open(wire, Number(new URL(house.url).port), await tokenOf(house.url, 'admin', PASSWORD))
  const { heard, listener } = ear()
  const following = followJob(client, job_id, listener, { until: 'end' })
  await expect.poll(() => heard.states).toEqual(['created'])
  await admin.callTool('job.delete', { job_id })
  await expect(following.ended).rejects.toMatchObject({ code: 'not_found' })
  await client.close()
})
