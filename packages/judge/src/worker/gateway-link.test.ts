import { JobId } from '@parley/protocol'
import { WireError } from '@parley/rpc'
import { expect, onTestFinished, test } from 'vitest'
import { GatewayLink } from './gateway-link.ts'
import { WORKER_LIMITS } from './worker-limits.ts'

const JOB = JobId.parse(`job_${'0'.repeat(26)}`)

test('a call after the link was closed fails for its caller, and nowhere else', async () => {
  const unheard: unknown[] = []
  const hear = (reason: unknown): void => void unheard.push(reason)
  process.on('unhandledRejection', hear)
  onTestFinished(() => void process.off('unhandledRejection', hear))
  const link = new GatewayLink({
    connect: () => Promise.reject(new WireError('unreachable', 'nobody is there')),
    limits: WORKER_LIMITS,
    log: () => {},
    random: () => 0,
    control: () => {},
    connected: () => {},
  })
  await link.close()
  const call = link.call('judge.heartbeat', { job_id: JOB, claim_id: 'c' }, { signal: new AbortController().signal })
  await expect(call).rejects.toMatchObject({ code: 'aborted' })
  // Node tells of unheard rejections after the microtasks of a turn.
  await new Promise((resolve) => setImmediate(resolve))
  expect(unheard).toEqual([])
})
