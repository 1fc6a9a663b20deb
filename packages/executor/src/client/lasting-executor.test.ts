import { WireError } from '@parley/rpc'
import { expect, onTestFinished, test } from 'vitest'
import { openCuttableServer } from './fixture/cuttable-server.ts'
import { LastingExecutor } from './lasting-executor.ts'
import { openExecutor } from './open-executor.ts'

const sh = (script: string) => ({
  processId: 'p',
  argv: ['/bin/sh', '-c', script] as const,
  env: { PATH: '/usr/bin:/bin' },
  cwd: '/',
  tty: false,
  pipeStdin: true,
})

/** One that is forgotten by its server as soon as its connection is cut. */
async function forgetful() {
  const there = await openCuttableServer()
  onTestFinished(() => there[Symbol.asyncDispose]())
  const state = { opened: 0, logged: [] as string[] }
  const lasting = new LastingExecutor(() => {
    state.opened += 1
    return openExecutor({ dial: there.dial, clientName: 'test', detachMs: 1, log: (message) => void state.logged.push(message) })
  })
  onTestFinished(() => lasting.close())
  return { there, lasting, state }
}

test('after a session is lost for good the next who asks gets another; what ran in the first is not started again', async () => {
  const { there, lasting, state } = await forgetful()
  const first = await lasting.current()
  const process = await first.start(sh('exec sleep 1000'))
  expect(await lasting.current()).toBe(first)
  there.state.isRefusing = true
  there.cut()
  await expect.poll(() => there.processes.count()).toBe(0)
  there.state.isRefusing = false
  await process.ended
  expect(first.isLost).toBe(true)
  const [second, again] = await Promise.all([lasting.current(), lasting.current()])
  expect(again).toBe(second)
  expect(second).not.toBe(first)
  expect(state.opened).toBe(2)
  expect(there.processes.count()).toBe(0)
  // Each process id is free again: it is another session.
  const next = await second.start(sh('exit 3'))
  await next.ended
  expect(await next.read({})).toMatchObject({ exitCode: 3 })
})

test('that it is away is told once, and once that it is given up', async () => {
  const { there, lasting, state } = await forgetful()
  const process = await (await lasting.current()).start(sh('exec sleep 1000'))
  there.state.isRefusing = true
  there.cut()
  await expect.poll(() => there.state.refused, { timeout: 30_000 }).toBeGreaterThan(2)
  there.state.isRefusing = false
  await process.ended
  expect(state.logged).toEqual([
    expect.stringContaining('the executor is away, trying again: '),
    expect.stringContaining('the executor is given up: unknown session id'),
  ])
})

test('one that cannot be reached is told to who asks, and the next who asks tries again', async () => {
  await using there = await openCuttableServer()
  let dials = 0
  const dial = async () => {
    dials += 1
    if (dials < 3) throw new WireError('unreachable', 'nobody is there')
    return there.dial()
  }
  await using lasting = new LastingExecutor(() => openExecutor({ dial, clientName: 'test' }))
  // Two who ask at once make one try.
  const both = await Promise.allSettled([lasting.current(), lasting.current()])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(dials).toBe(1)
  await expect(lasting.current()).rejects.toThrow('nobody is there')
  expect((await lasting.current()).isLost).toBe(false)
  expect(dials).toBe(3)
})

test('once it is closed no other session is opened', async () => {
  const { lasting, state } = await forgetful()
  const executor = await lasting.current()
  await lasting.close()
  expect(executor.isLost).toBe(true)
  await expect(lasting.current()).rejects.toMatchObject({ code: 'executor_lost' })
  expect(state.opened).toBe(1)
})
