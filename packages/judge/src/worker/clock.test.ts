import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@parley/rpc'
import { expect, test } from 'vitest'
import type { Tester } from '../tester.ts'
import { openWorker } from './worker.ts'

const HOUR_MS = 3_600_000
const CLAIM = {
  claimed: true,
  drain: false,
  job_id: 'job_00000000000000000000000000',
  claim_id: '0'.repeat(32),
  claim: 1,
  lease_ms: 300,
  offsets: { terminal: 0, agent_status: 0, cases: 0 },
}

test.each([-HOUR_MS, HOUR_MS])(
  'a clock that is set by %i ms neither stops heartbeats and asking nor loses a job',
  async (jumpMs) => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-clock-'))
    const enough = Promise.withResolvers<void>()
    let jumped = 0
    const calls: string[] = []
    const answer = async (name: string): Promise<object> => {
      calls.push(name)
      const count = (wanted: string): number => calls.filter((call) => call === wanted).length
      if (count('judge.heartbeat') >= 4 && count('judge.claim_next') >= 4) enough.resolve()
      if (name === 'judge.claim_next') {
        // While it is asked for the second time, with a job held, somebody sets the clock.
        if (count(name) === 2) jumped = jumpMs
        return count(name) === 1 ? CLAIM : { claimed: false, drain: false }
      }
      if (name === 'judge.input.list') return new Promise(() => undefined)
      if (name === 'judge.heartbeat') return { ok: true, action: 'continue', lease_expires_at: '' }
      return { ok: true, action: 'continue' }
    }
    const client = {
      kind: 'websocket',
      era: 'legacy',
      isClosed: false,
      closed: new Promise(() => undefined),
      close: async () => undefined,
      callTool: (name: string, _args: object, { signal }: { signal?: AbortSignal } = {}) =>
        Promise.race([
          answer(name),
          new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true })),
        ]),
    } as unknown as Client
    const tester: Tester = { languages: [], test: () => new Promise(() => undefined), close: async () => undefined }
    const worker = await openWorker({
      connect: () => Promise.resolve(client),
      tester,
      machineId: 'm1',
      facts: { version: '1', languages: [], sandbox: { driver: '', tier: '', enforced: {}, missing: [] }, slots: 2 },
      workFolder: folder,
      tryLock: () => ({ release: () => undefined }),
      log: () => undefined,
      now: () => Date.now() + jumped,
      random: randomBytes,
      limits: { claimPauseMs: 20, returnMs: 20 },
    })
    try {
      await enough.promise
      expect(worker.running).toBe(1)
    } finally {
      await worker.stop(0)
      await rm(folder, { recursive: true, force: true })
    }
  },
)
