import { WireError } from '@parley/rpc'
import { expect, onTestFinished, test } from 'vitest'
import { PATIENCE } from './patience.ts'
import { SteadyClient, openSteadyClient } from './steady-client.ts'
import { JOB, openServer, quick } from './testing/test-server.ts'

const NOBODY = () => Promise.reject(new WireError('unreachable', 'nobody is there'))

test('a call after it was closed fails for its caller, and nowhere else', async () => {
  const unheard: unknown[] = []
  const hear = (reason: unknown): void => void unheard.push(reason)
  process.on('unhandledRejection', hear)
  onTestFinished(() => void process.off('unhandledRejection', hear))
  const options = quick(NOBODY)
  const client = new SteadyClient(options)
  await client.close()
  await expect(client.call('job.cancel', { job_id: JOB })).rejects.toMatchObject({ code: 'aborted' })
  await expect(client.once('job.cancel', { job_id: JOB })).rejects.toMatchObject({ code: 'aborted' })
  // Node tells of unheard rejections after the microtasks of a turn.
  await new Promise((resolve) => setImmediate(resolve))
  expect(unheard).toEqual([])
  expect(options.told).toEqual([{ kind: 'ended', wasLive: false }])
})

test('whoever waits for a connection, for an answer or for another try is let go, and nothing is tried any more', async () => {
  await using server = await openServer(() => new Promise(() => {}))
  const live = await openSteadyClient(quick(server.connect('ws')))
  const asked = live.call('job.cancel', { job_id: JOB })
  await expect.poll(() => server.calls).toEqual(['job.cancel'])
  await Promise.all([expect(asked).rejects.toMatchObject({ code: 'aborted' }), live.close()])
  await expect.poll(() => server.links.size).toBe(0)

  const waiting = new SteadyClient(quick(NOBODY, { limits: { reconnectMinMs: 600_000, reconnectMaxMs: 600_000 } }))
  const ready = waiting.ready()
  await Promise.all([expect(ready).rejects.toMatchObject({ code: 'aborted' }), waiting.close()])

  const connecting = new SteadyClient(quick(() => new Promise(() => {})))
  const never = connecting.ready()
  await Promise.all([expect(never).rejects.toMatchObject({ code: 'aborted' }), connecting.close()])
})

test('a connection that comes about after it was closed is closed too', async () => {
  await using server = await openServer(() => ({}))
  const [tried, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const client = new SteadyClient(
    quick(async (heard) => {
      tried.resolve()
      await gate.promise
      return server.connect('ws')(heard, new AbortController().signal)
    }),
  )
  client.ready().catch(() => {})
  await tried.promise
  await client.close()
  gate.resolve()
  await expect.poll(() => server.proxy.count()).toBe(1)
  await expect.poll(() => server.links.size).toBe(0)
})

test('the signal of one caller ends its wait and nobody else’s', async () => {
  await using server = await openServer(() => ({ job_id: JOB, status: 'cancelled' }))
  const gate = Promise.withResolvers<void>()
  await using stack = new AsyncDisposableStack()
  const client = new SteadyClient(
    quick(
      async (...args) => {
        await gate.promise
        return server.connect('ws')(...args)
      },
      { patience: PATIENCE.page },
    ),
  )
  stack.defer(() => client.close())
  const impatient = new AbortController()
  const left = client.call('job.cancel', { job_id: JOB }, { signal: impatient.signal })
  const stays = client.call('job.cancel', { job_id: JOB })
  impatient.abort()
  await expect(left).rejects.toMatchObject({ code: 'aborted' })
  gate.resolve()
  expect(await stays).toEqual({ job_id: JOB, status: 'cancelled' })
})
