import { ToolError } from '@parley/protocol'
import { type Client, WireError } from '@parley/rpc'
import { expect, test } from 'vitest'
import { type Clock, SYSTEM_CLOCK } from './clock.ts'
import { judgeControl } from './judge-control.ts'
import { logLine } from './link-word.ts'
import { PATIENCE } from './patience.ts'
import { SteadyClient, openSteadyClient } from './steady-client.ts'
import type { Cut } from './testing/cutting-proxy.ts'
import { JOB, openServer, quick, refusal } from './testing/test-server.ts'

const CANCELLED = { job_id: JOB, status: 'cancelled' }
/** More than connecting and one call take, in either direction. */
const WHOLE_BYTES = 3_000
const STEP_BYTES = 60
const stages = Array.from({ length: WHOLE_BYTES / STEP_BYTES }, (_, step) => step * STEP_BYTES)

const kinds = (told: readonly { readonly kind: string }[]): string[] => told.map(({ kind }) => kind)

test.each([
  ['ws', 'client'],
  ['ws', 'server'],
  ['http', 'client'],
  ['http', 'server'],
] as const)('over %s, cut after ever more bytes of the %s: the call is answered in the end', async (wire, of) => {
  await using server = await openServer(
    () => CANCELLED,
    (index): Cut | undefined => (stages[index] === undefined ? undefined : { of, bytes: stages[index] }),
  )
  const options = quick(server.connect(wire))
  const client = new SteadyClient(options)
  let connections = 0
  client.follow({ connected: () => void (connections += 1) })
  // One answer is not the end of it: each stage is to be met.
  while (server.proxy.count() < stages.length) expect(await client.call('job.cancel', { job_id: JOB })).toEqual(CANCELLED)
  const live = options.told.filter(({ kind }) => kind === 'live').length
  expect(connections).toBe(live)
  expect(options.told.filter((word) => word.kind === 'lost' && !word.wasLive).length).toBeGreaterThan(0)
  expect(options.told.filter((word) => word.kind === 'lost' && word.wasLive).length).toBeGreaterThan(0)
  await client.close()
})

test.each(['ws', 'http'] as const)('over %s what must happen once is never sent twice, wherever it is cut', async (wire) => {
  const cuts: Cut[] = []
  await using server = await openServer(
    () => CANCELLED,
    () => cuts.shift(),
  )
  const client = new SteadyClient(quick(server.connect(wire)))
  const ends = new Set<string>()
  for (const bytes of stages) {
    await client.call('job.cancel', { job_id: JOB })
    const lost = new Promise<void>((resolve) => client.follow({ lost: resolve }))
    cuts.push({ of: 'server', bytes })
    server.proxy.cutAll()
    // Over HTTP nobody hears of it before the next request.
    if (wire === 'ws') await lost
    const before = server.calls.length
    const end = await client.once('job.start', { job_id: JOB }).then(
      () => 'answered',
      (error: unknown) => (error instanceof WireError ? 'lost' : error),
    )
    ends.add(String(end))
    const arrived = server.calls.slice(before).filter((name) => name === 'job.start').length
    expect([end, arrived]).toEqual(end === 'answered' ? ['answered', 1] : ['lost', arrived === 1 ? 1 : 0])
  }
  expect(ends).toEqual(new Set(['answered', 'lost']))
  await client.close()
})

test('a gateway that cannot now is asked again on the same connection; one that fails by itself a few times', async () => {
  const codes = ['rate_limited', 'unavailable', 'internal', 'internal']
  await using server = await openServer((name) => {
    const code = name === 'job.cancel' ? codes.shift() : 'internal'
    return code === undefined ? CANCELLED : refusal(code)
  })
  const options = quick(server.connect('ws'))
  const client = await openSteadyClient(options)
  let retries = 0
  expect(await client.call('job.cancel', { job_id: JOB }, { onRetry: () => void (retries += 1) })).toEqual(CANCELLED)
  expect(retries).toBe(4)
  expect(server.calls).toHaveLength(5)
  await expect(client.call('job.start', { job_id: JOB })).rejects.toBeInstanceOf(ToolError)
  expect(server.calls.filter((name) => name === 'job.start')).toHaveLength(4)
  expect(server.proxy.count()).toBe(1)
  expect(kinds(options.told)).toEqual(['connecting', 'live', ...Array.from({ length: 7 }, () => 'asked-again')])
  await client.close()
})

test('what asked again would be the same is thrown at once', async () => {
  await using server = await openServer(() => refusal('not_found', { field: 'job_id' }))
  const client = await openSteadyClient(quick(server.connect('ws')))
  await expect(client.call('job.cancel', { job_id: JOB })).rejects.toMatchObject({ code: 'not_found', field: 'job_id' })
  expect(server.calls).toEqual(['job.cancel'])
  await client.close()
})

test('a command fails with its first connection, and with what the wire said; a worker tries on', async () => {
  const gone = { of: 'server', bytes: 0 } as const
  await using server = await openServer(
    () => CANCELLED,
    (index) => (index < 4 ? gone : undefined),
  )
  const command = openSteadyClient(quick(server.connect('ws'), { patience: PATIENCE.command }))
  await expect(command).rejects.toMatchObject({ name: 'WireError', code: 'unreachable' })
  expect(server.proxy.count()).toBe(1)
  const worker = await openSteadyClient(quick(server.connect('ws')))
  expect(server.proxy.count()).toBe(5)
  await worker.close()
})

test.each(['worker', 'page', 'command'] as const)('who has just begun and is refused is told so: a %s', async (who) => {
  await using server = await openServer(() => CANCELLED)
  server.refuse(true)
  const options = quick(server.connect('ws'), { patience: PATIENCE[who] })
  await expect(openSteadyClient(options)).rejects.toMatchObject({ code: 'unauthorized' })
  expect(kinds(options.told)).toEqual(['connecting', 'lost', 'ended'])
})

test('a worker that is refused later waits until it is let in again; a page is over', async () => {
  await using server = await openServer(() => CANCELLED)
  const [work, look] = [quick(server.connect('ws')), quick(server.connect('ws'), { patience: PATIENCE.page })]
  const [worker, page] = [await openSteadyClient(work), await openSteadyClient(look)]
  const over = Promise.withResolvers<Error>()
  page.follow({ ended: over.resolve })
  server.refuse(true)
  server.proxy.cutAll()
  expect(await over.promise).toMatchObject({ code: 'unauthorized' })
  await expect(page.call('job.cancel', { job_id: JOB })).rejects.toMatchObject({ code: 'unauthorized' })
  await expect.poll(() => work.told.filter((word) => word.kind === 'waiting' && word.isRefused).length).toBeGreaterThan(2)
  server.refuse(false)
  expect(await worker.call('job.cancel', { job_id: JOB })).toEqual(CANCELLED)
  // Who comes too late to hear of the end hears of it at once.
  expect(await new Promise((ended) => page.follow({ ended }))).toMatchObject({ code: 'unauthorized' })
  await Promise.all([worker.close(), page.close()])
})

test('a connection of a command is made again only for somebody who needs it', async () => {
  await using server = await openServer(() => CANCELLED)
  const options = quick(server.connect('ws'), { patience: PATIENCE.command })
  const client = await openSteadyClient(options)
  server.proxy.cutAll()
  await expect.poll(() => server.links.size).toBe(0)
  expect(await client.call('job.cancel', { job_id: JOB })).toEqual(CANCELLED)
  expect(kinds(options.told)).toEqual(['connecting', 'live', 'lost', 'waiting', 'connecting', 'live'])
  server.proxy.cutAll()
  await expect.poll(() => server.links.size).toBe(0)
  await client.close()
  expect(kinds(options.told).slice(6)).toEqual(['ended'])
})

test('whoever clicks hears at once that there is no connection', async () => {
  const client = new SteadyClient(quick(() => new Promise(() => {}), { patience: PATIENCE.page }))
  client.ready().catch(() => {})
  await expect(client.onceNow('job.cancel', { job_id: JOB })).rejects.toMatchObject({ code: 'closed' })
  await client.close()
})

/** A clock on which every wait is over at once, and has taken its time. */
function hastyClock(): Clock & { readonly slept: number[] } {
  let nowMs = 0
  const slept: number[] = []
  return {
    slept,
    now: () => nowMs,
    sleep: async (ms, signal) => {
      // The bound of a try is no wait: it counts only where the try is not done.
      if (ms >= 30_000) return SYSTEM_CLOCK.sleep(ms, signal)
      slept.push(ms)
      nowMs += ms
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

test('waits grow to the longest, and a command gives a gateway up that stays away', async () => {
  let isThere = true
  await using server = await openServer(() => CANCELLED)
  const clock = hastyClock()
  const connect = server.connect('ws')
  const options = quick((...args) => (isThere ? connect(...args) : Promise.reject(new WireError('unreachable', 'away'))), {
    patience: PATIENCE.command,
    clock,
    random: () => 1,
    limits: { reconnectMinMs: 200, reconnectMaxMs: 10_000 },
  })
  const client = await openSteadyClient(options)
  isThere = false
  server.proxy.cutAll()
  await expect.poll(() => server.links.size).toBe(0)
  await expect(client.call('job.cancel', { job_id: JOB })).rejects.toMatchObject({ code: 'unreachable' })
  expect(clock.slept.slice(0, 8)).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000])
  expect(clock.now()).toBeGreaterThan(10 * 60_000)
  expect(clock.now()).toBeLessThan(11 * 60_000)
  expect(options.told.at(-1)).toMatchObject({ kind: 'ended', why: { code: 'unreachable' } })
  await client.close()
})

test('a worker whose token is refused asks less and less often, and says so once', async () => {
  let isRefused = false
  await using server = await openServer(() => CANCELLED)
  const clock = hastyClock()
  const connect = server.connect('ws')
  const revoked = new WireError('unauthorized', 'revoked')
  const options = quick((...args) => (isRefused && clock.slept.length < 9 ? Promise.reject(revoked) : connect(...args)), {
    clock,
    random: () => 1,
    limits: { reconnectMinMs: 200, reconnectMaxMs: 500 },
  })
  const client = await openSteadyClient(options)
  isRefused = true
  server.proxy.cutAll()
  await expect.poll(() => options.told.at(-1)).toEqual({ kind: 'live', isFirst: false })
  expect(await client.call('job.cancel', { job_id: JOB })).toEqual(CANCELLED)
  // Thirty times as long as for a gateway that is away.
  expect(clock.slept.slice(0, 9)).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 12_800, 15_000, 15_000])
  const lines = options.told.flatMap((word) => logLine('judge', word)?.message ?? [])
  expect(lines.slice(1)).toEqual([
    expect.stringContaining('judge lost the gateway'),
    'judge does not reach the gateway: revoked; trying on',
    'judge is connected to the gateway again',
  ])
  await client.close()
})

test('a gateway that falls at every call is asked less and less often, though it can be reached each time', async () => {
  await using server = await openServer(() => {
    server.proxy.cutAll()
    return new Promise(() => {})
  })
  const clock = hastyClock()
  const client = await openSteadyClient(quick(server.connect('ws'), { clock, random: () => 1, limits: { reconnectMaxMs: 64 } }))
  const leave = new AbortController()
  const asked = client.call('job.cancel', { job_id: JOB }, { signal: leave.signal })
  await expect.poll(() => clock.slept.length).toBeGreaterThan(8)
  leave.abort()
  await expect(asked).rejects.toMatchObject({ code: 'aborted' })
  expect(clock.slept.slice(0, 8)).toEqual([1, 2, 4, 8, 16, 32, 64, 64])
  await client.close()
})

test('a try that comes to nothing is given up, and what it comes to later is closed', async () => {
  const connectMs = 77_777
  await using server = await openServer(() => CANCELLED)
  const connect = server.connect('ws')
  const late = Promise.withResolvers<void>()
  let tries = 0
  let first: Client | undefined
  // The time of the first try is over at once; that of the second never.
  const clock: Clock = {
    now: () => 0,
    sleep: (ms, signal) => SYSTEM_CLOCK.sleep(ms === connectMs && tries === 0 ? 0 : ms, signal),
  }
  const options = quick(
    async (heard, signal) => {
      tries += 1
      if (tries > 1) return connect(heard, signal)
      await late.promise
      first = await connect(heard, new AbortController().signal)
      return first
    },
    { limits: { connectMs }, clock },
  )
  const client = await openSteadyClient(options)
  expect(options.told[1]).toMatchObject({ kind: 'lost', wasLive: false, why: { code: 'timeout' } })
  late.resolve()
  await expect.poll(() => first?.isClosed).toBe(true)
  expect(await client.call('job.cancel', { job_id: JOB })).toEqual(CANCELLED)
  await client.close()
})

test('a wire that carries nothing any more is found out where the client pings', async () => {
  await using server = await openServer(() => CANCELLED)
  const connect = server.connect('ws')
  await using other = await openServer(() => CANCELLED)
  let tries = 0
  const options = quick((...args) => (tries++ === 0 ? connect(...args) : other.connect('ws')(...args)), {
    ping: { everyMs: 5, limitMs: 1_000 },
  })
  const client = await openSteadyClient(options)
  server.proxy.stall()
  await expect.poll(() => options.told.filter(({ kind }) => kind === 'live').length, { timeout: 60_000 }).toBe(2)
  expect(await client.call('job.cancel', { job_id: JOB })).toEqual(CANCELLED)
  await client.close()
})

test('what the gateway says unasked is heard on the connection that there is, before and after a loss', async () => {
  await using server = await openServer(() => CANCELLED)
  const client = await openSteadyClient(quick(server.connect('ws')))
  const heard: unknown[] = []
  client.follow({ notified: (method, params) => void heard.push(judgeControl(method, params) ?? method) })
  const say = (method: 'judge_control' | 'terminal', params: Parameters<typeof judgeControl>[1]): void => {
    for (const link of server.links) link.notify(method, params)
  }
  const control = { job_id: JOB, claim_id: 'c', action: 'cancel' }
  say('judge_control', control)
  say('judge_control', { ...control, action: 'dance' })
  await expect.poll(() => heard).toEqual([{ jobId: JOB, claimId: 'c', action: 'cancel' }, 'judge_control'])
  expect(client.hasPush).toBe(true)
  server.proxy.cutAll()
  await expect.poll(() => server.proxy.count()).toBe(2)
  await client.call('job.cancel', { job_id: JOB })
  say('terminal', {})
  await expect.poll(() => heard.slice(2)).toEqual(['terminal'])
  await client.close()
})
