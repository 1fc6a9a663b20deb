import { expect, test } from 'vitest'
import { SYSTEM_CLOCK } from '../clock.ts'
import { PATIENCE } from '../patience.ts'
import { type SteadyClient, openSteadyClient } from '../steady-client.ts'
import { JOB, openServer, quick, refusal } from '../testing/test-server.ts'
import { ToldJob } from '../testing/told-job.ts'
import { type FollowOptions, followJob } from './follow-job.ts'
import type { JobListener } from './job-listener.ts'

/** Follows the job, and writes down what is heard of it. */
function listen(client: SteadyClient, options: FollowOptions) {
  const heard: string[] = []
  const say = (text: string): void => void heard.push(text)
  const listener: JobListener = {
    state: ({ status }) => say(`state ${status}`),
    status: ({ summary }) => say(`status ${summary}`),
    caseDone: ({ name }, begins) => say(`case ${name} begins ${begins}`),
    terminal: (bytes) => say(`terminal ${new TextDecoder().decode(bytes)}`),
    terminalFrom: (offset) => say(`terminal from ${offset}`),
    restarted: () => say('restarted'),
    trouble: (what) => say(what.kind === 'refused' ? `refused: ${what.message}` : what.kind),
  }
  const following = followJob(client, JOB, listener, options)
  return { heard, following }
}

/** A clock whose pauses before a refused question is asked again are short. */
const QUICK = { ...SYSTEM_CLOCK, sleep: (ms: number, signal: AbortSignal) => SYSTEM_CLOCK.sleep(ms === 2_000 ? 1 : ms, signal) }

const WIRES = ['ws', 'http'] as const

test.each(WIRES)('over %s the end is told last, and cases that another claim or attempt begins are marked', async (wire) => {
  const job = new ToldJob()
  await using server = await openServer(job.answer)
  const client = await openSteadyClient(quick(server.connect(wire), { patience: PATIENCE.command }))
  const { heard, following } = listen(client, { until: 'end' })
  await expect.poll(() => heard).toEqual(['state running_test'])
  job.case('a', 1)
  job.case('b', 1)
  job.case('a', 2)
  job.case('a', 2, 2)
  await expect.poll(() => heard.length).toBe(5)
  job.status('done')
  job.end()
  expect(await following.ended).toMatchObject({ status: 'succeeded' })
  expect(heard.filter((line) => line.startsWith('case'))).toEqual([
    'case a begins attempt',
    'case b begins nothing',
    'case a begins claim',
    'case a begins attempt',
  ])
  expect(heard.slice(-2)).toEqual(['status done', 'state succeeded'])
  expect(server.calls.includes('job.subscribe')).toBe(wire === 'ws')
  await client.close()
})

test.each(WIRES)('over %s what was told is not told again after a loss, and nothing is left out', async (wire) => {
  const job = new ToldJob()
  await using server = await openServer(job.answer)
  const client = await openSteadyClient(quick(server.connect(wire)))
  const { heard, following } = listen(client, { until: 'end', terminalBytes: 1_000 })
  for (let round = 0; round < 5; round += 1) {
    job.status(String(round))
    job.write('terminal', String(round))
    await expect.poll(() => heard.filter((line) => line.startsWith('status'))).toHaveLength(round + 1)
    server.proxy.cutAll()
  }
  job.end()
  await following.ended
  expect(heard.filter((line) => line.startsWith('status'))).toEqual([0, 1, 2, 3, 4].map((round) => `status ${round}`))
  const terminal = heard.flatMap((line) => /^terminal (\d+)$/.exec(line)?.[1] ?? [])
  expect(terminal.join('')).toBe('01234')
  await client.close()
})

test.each(WIRES)('over %s logs that are others than before are told from their beginning', async (wire) => {
  const job = new ToldJob()
  await using server = await openServer(job.answer)
  const client = await openSteadyClient(quick(server.connect(wire), { clock: QUICK }))
  const { heard, following } = listen(client, { until: 'closed', terminalBytes: 4 })
  job.status('before')
  job.write('terminal', 'long enough')
  await expect.poll(() => heard).toContain('status before')
  job.restore()
  server.proxy.cutAll()
  await expect.poll(() => heard).toContain('restarted')
  job.status('after')
  await expect.poll(() => heard.slice(heard.indexOf('restarted'))).toContain('status after')
  expect(heard.slice(heard.indexOf('restarted'))).toContain('terminal from 0')
  following.close()
  await client.close()
})

test('of a long terminal the end alone is told', async () => {
  const job = new ToldJob()
  job.write('terminal', 'x'.repeat(100))
  await using server = await openServer(job.answer)
  const client = await openSteadyClient(quick(server.connect('ws')))
  const { heard, following } = listen(client, { until: 'closed', terminalBytes: 3 })
  await expect.poll(() => heard).toContain('terminal xxx')
  expect(heard[0]).toBe('terminal from 97')
  following.close()
  await expect.poll(() => server.calls).toContain('job.unsubscribe')
  await expect(following.ended).rejects.toMatchObject({ code: 'aborted' })
  await client.close()
})

test.each(WIRES)('over %s a job that is not there is thrown, whoever follows', async (wire) => {
  await using server = await openServer(() => refusal('not_found', { field: 'job_id' }))
  const client = await openSteadyClient(quick(server.connect(wire)))
  for (const until of ['end', 'closed'] as const)
    await expect(listen(client, { until, terminalBytes: 1 }).following.ended).rejects.toMatchObject({ code: 'not_found' })
  await client.close()
})

test('another refusal is thrown to whoever waits for the end; a view that stays open says so and asks again', async () => {
  const job = new ToldJob()
  const full = refusal('quota_exceeded')
  job.refusals.set('job.subscribe', [full, full])
  await using server = await openServer(job.answer)
  const client = await openSteadyClient(quick(server.connect('ws'), { clock: QUICK }))
  await expect(listen(client, { until: 'end' }).following.ended).rejects.toMatchObject({ code: 'quota_exceeded' })
  const { heard, following } = listen(client, { until: 'closed' })
  await expect.poll(() => heard.toSorted()).toEqual(['none', 'refused: it says quota_exceeded', 'state running_test'])
  following.close()
  await client.close()
})

test('a view that has nothing to show yet is told that there is no connection; one that has is not', async () => {
  const job = new ToldJob()
  let isAway = false
  await using server = await openServer(job.answer, () => (isAway ? { of: 'server', bytes: 0 } : undefined))
  const client = await openSteadyClient(quick(server.connect('ws')))
  const before = listen(client, { until: 'closed' })
  await expect.poll(() => before.heard).toEqual(['state running_test'])
  isAway = true
  const lost = new Promise<void>((resolve) => client.follow({ lost: resolve }))
  server.proxy.cutAll()
  await lost
  const after = listen(client, { until: 'closed' })
  await expect.poll(() => after.heard).toContain('away')
  isAway = false
  await expect.poll(() => after.heard.slice(-2).toSorted()).toEqual(['none', 'state running_test'])
  // The state is told again with each connection, for whoever could not read what belongs to it.
  await expect.poll(() => before.heard).toEqual(['state running_test', 'state running_test'])
  await client.close()
})

test('the end of the way to the gateway is the end of following', async () => {
  const job = new ToldJob()
  await using server = await openServer(job.answer)
  const client = await openSteadyClient(quick(server.connect('ws'), { patience: PATIENCE.page }))
  const { heard, following } = listen(client, { until: 'end' })
  await expect.poll(() => heard).toEqual(['state running_test'])
  server.refuse(true)
  server.proxy.cutAll()
  await expect(following.ended).rejects.toMatchObject({ code: 'unauthorized' })
  await client.close()
})

test('a gateway that answers without waiting is not asked in a circle', async () => {
  const job = new ToldJob()
  job.isHasty = true
  await using server = await openServer(job.answer)
  const slept: number[] = []
  const clock = {
    now: () => 0,
    sleep: (ms: number, signal: AbortSignal) => {
      slept.push(ms)
      return SYSTEM_CLOCK.sleep(ms === 1_000 ? 1 : ms, signal)
    },
  }
  const client = await openSteadyClient(quick(server.connect('http'), { clock }))
  const { following } = listen(client, { until: 'end' })
  await expect.poll(() => server.calls.filter((name) => name === 'job.read_log').length).toBeGreaterThan(20)
  const asked = server.calls.filter((name) => name === 'job.read_log' || name === 'job.wait').length
  expect(slept.filter((ms) => ms === 1_000).length).toBeGreaterThanOrEqual(asked - 3)
  job.end()
  await following.ended
  await client.close()
})

test('a notification that makes no sense is passed over, and what follows is told', async () => {
  const job = new ToldJob()
  await using server = await openServer(job.answer)
  const client = await openSteadyClient(quick(server.connect('ws')))
  const { heard, following } = listen(client, { until: 'end' })
  await expect.poll(() => heard).toEqual(['state running_test'])
  for (const link of server.links) link.notify('terminal', { job_id: JOB, offset: 3, chunk_b64: '%%%' })
  job.status('after')
  await expect.poll(() => heard).toContain('status after')
  job.end()
  await following.ended
  await client.close()
})

test.each(WIRES)('over %s logs that stay too short from their beginning are given up', async (wire) => {
  const job = new ToldJob()
  const tooShort = refusal('invalid_argument', { field: wire === 'ws' ? 'cases_offset' : 'offset' })
  for (const name of ['job.subscribe', 'job.read_log'])
    job.refusals.set(
      name,
      Array.from({ length: 50 }, () => tooShort),
    )
  await using server = await openServer(job.answer)
  const client = await openSteadyClient(quick(server.connect(wire), { clock: QUICK }))
  const { heard, following } = listen(client, { until: 'end' })
  await expect(following.ended).rejects.toMatchObject({ code: 'invalid_argument' })
  expect(heard.filter((line) => line === 'restarted').length).toBeLessThanOrEqual(3)
  await client.close()
})
