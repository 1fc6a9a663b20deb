import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openStore } from '../open-store.ts'
import { ENGINES, startEngine } from '../testing/engines.ts'
import { startPostgres } from '../testing/start-postgres.ts'
import { openSteppedClock } from '../fixture/stepped-clock.ts'

const HOUR_S = 3_600
const HOUR_MS = HOUR_S * 1_000
const TTL_MS = 60_000
const HOLDER = fileURLToPath(new URL('../fixture/lease-holder.ts', import.meta.url))

test.for(ENGINES)('on %s a machine whose clock is set costs no lease', async (engine) => {
  await using made = await startEngine(engine)
  const machine = { wall: Date.now, steady: () => performance.now(), uptime: () => performance.now() }
  let stepMs = 0
  const store = await openStore({ url: await made.freshUrl(), clocks: { ...machine, wall: () => machine.wall() + stepMs } })
  await store.leases.offer('jobs', 'one')
  const lease = await store.leases.claim('jobs', 'holder', { ttlMs: TTL_MS })
  if (lease === undefined) throw new Error('there was nothing to claim')
  for (stepMs of [HOUR_MS, -HOUR_MS]) {
    await store.ping()
    expect(await store.leases.claim('jobs', 'other', { ttlMs: TTL_MS })).toBeUndefined()
    await store.leases.check(lease)
  }
  await store.close()
})

test.for([
  ['forward', HOUR_S],
  ['back', -HOUR_S],
] as const)('a gateway on a file whose machine is set %s by an hour keeps its leases', async ([, seconds]) => {
  await using clock = await openSteppedClock()
  const folder = await mkdtemp(join(tmpdir(), 'parley-stepped-'))
  const child = spawn(process.execPath, [HOLDER, `sqlite:${join(folder, 'a.db')}`], {
    env: { ...process.env, ...clock.env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => JSON.parse(String((await lines.next()).value))
  expect(await next()).toEqual({ held: true })
  await clock.step(seconds)
  child.stdin.write('now\n')
  const { wallMs, storeMs, isHeld, isTaken } = await next()
  child.stdin.end()
  await ended
  await rm(folder, { recursive: true, force: true })
  expect(Math.abs(wallMs)).toBeGreaterThan(HOUR_MS / 2)
  expect(Math.abs(storeMs)).toBeLessThan(HOUR_MS / 2)
  expect({ isHeld, isTaken }).toEqual({ isHeld: true, isTaken: false })
})

test.for([
  ['forward', HOUR_S],
  ['back', -HOUR_S],
] as const)(
  'gateways on a server that is set %s by an hour keep their leases, and so does one that starts then',
  async ([, seconds]) => {
    await using clock = await openSteppedClock()
    await using server = await startPostgres({ env: clock.env })
    await using open = new AsyncDisposableStack()
    const opened = async () => {
      const store = await openStore({ url: server.url })
      open.defer(() => store.close())
      return store
    }
    const [here, there] = [await opened(), await opened()]
    await here.leases.offer('jobs', 'one')
    const lease = await here.leases.claim('jobs', 'holder', { ttlMs: TTL_MS })
    if (lease === undefined) throw new Error('there was nothing to claim')
    await clock.step(seconds)
    for (const store of [here, there]) await store.ping()
    const late = await opened()
    for (const store of [here, there, late]) {
      expect(await store.leases.claim('jobs', 'other', { ttlMs: TTL_MS })).toBeUndefined()
      await store.leases.check(lease)
      expect(Math.abs(store.now() - here.now())).toBeLessThan(TTL_MS / 2)
    }
    await here.leases.renew(lease, TTL_MS)
    await late.leases.check(lease)
  },
)
