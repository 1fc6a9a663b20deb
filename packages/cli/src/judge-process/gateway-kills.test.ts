import { randomBytes, randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type JobId, type JobState, Report } from '@parley/protocol'
import { expect, test } from 'vitest'
import { gone } from '../fixture/gone.ts'
import { Scratch } from '../fixture/parley.ts'
import { codeFor } from '../fixture/scripted-tester.ts'
import { openTestWorker } from '../fixture/test-worker.ts'
import { openCommandClient } from '@parley/shell'
import { connectClient, httpTransport } from '@parley/rpc'
import { ONE_CASE_ZIP, ownLoopback } from '@parley/store/testing'
import { join } from 'node:path'

const JOBS = 8
const KILLS = 4
const LINES = 200
const SLOW_MS = 180_000

test(
  'a gateway that is killed again and again: every job ends once, with one report and a whole log',
  { timeout: SLOW_MS },
  async () => {
    await using scratch = new Scratch()
    const token = randomBytes(24).toString('hex')
    // While it is dead nobody else may take its port.
    const host = ownLoopback()
    const start = (port: string) =>
      scratch.start(['gateway', '--host', host, '--port', port, '--data', scratch.data, '--log', 'silent', '--json'], {
        env: { PARLEY_JUDGE_TOKEN: token },
      })
    let gateway = await start('0')
    const { port } = new URL(gateway.ready.url)
    const caller = await openCommandClient(
      () =>
        connectClient(httpTransport({ url: 'http://localhost/mcp', socketPath: join(scratch.data, 'admin.sock') }), {
          clientInfo: { name: 'test', version: '1' },
        }),
      { err: () => {}, random: randomBytes },
    )
    const at = { ws: `ws://${host}:${port}/api/mcp/ws`, mcp: `http://${host}:${port}/mcp`, token }
    await using judge = await openTestWorker(at, scratch.folder, { slots: 3 })
    const ids: JobId[] = []
    for (let job = 0; job < JOBS; job += 1) {
      const { job_id } = await caller.call('job.create', {
        current_code: codeFor({ lines: LINES, pauseMs: 5, fails: job % 4 === 3 }),
        tests_zip_b64: ONE_CASE_ZIP,
      })
      await caller.call('job.start', { job_id })
      ids.push(job_id)
    }
    for (let kill = 0; kill < KILLS; kill += 1) {
      await sleep(randomInt(100, 900))
      process.kill(gateway.pid, 'SIGKILL')
      await gone(gateway.pid)
      gateway = await start(port)
    }
    for (const [index, job_id] of ids.entries()) {
      let state: JobState | undefined
      while (state === undefined) {
        const answer = await caller.call('job.wait', { job_id, wait_ms: 10_000 })
        if (answer.ended) state = answer.state
      }
      expect(state).toMatchObject({ status: index % 4 === 3 ? 'failed' : 'succeeded', lost_claims: 0 })
      const { chunk_b64 } = await caller.call('job.read_log', { job_id, stream: 'terminal', max_bytes: 1024 * 1024 })
      const lines = Buffer.from(chunk_b64, 'base64').toString('utf8').trimEnd().split('\n')
      expect(lines).toEqual(Array.from({ length: LINES }, (_, line) => `line ${line}`))
      const { items } = await caller.call('job.get_artifacts', { job_id, names: ['report.json'] })
      expect(Report.parse(items['report.json']).status).toBe(state.status)
    }
    expect(judge.tester.seen).toHaveLength(JOBS)
    await caller.close()
  },
)
