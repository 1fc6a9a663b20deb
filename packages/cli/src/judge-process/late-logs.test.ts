import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gone } from '../fixture/gone.ts'
import { LocalGateway } from '../fixture/local-gateway.ts'
import { Scratch } from '../fixture/parley.ts'
import { zipFolder } from '@parley/shell'

/** So many that a judge still has some to tell of when the gateway is gone, also on a crowded machine. */
const CASES = 60
const CODE = 'import time\nnumber = int(input())\nif number > 1: time.sleep(0.5)\nprint(number)\n'
const SLOW_MS = 240_000
const patiently = { timeout: 60_000 }
const STREAMS = { terminal: 'terminal.log', agent_status: 'agent_status.jsonl', cases: 'cases.jsonl' } as const

test(
  'kill -9 of a judge while the gateway is away: its next judge tells what it said, once and in order, then its own',
  { timeout: SLOW_MS },
  async () => {
    await using scratch = new Scratch()
    await using gateway = await LocalGateway.open(scratch.data, { leaseMs: 2_000 })
    const data = join(scratch.folder, 'judge-data')
    const startJudge = () =>
      scratch.start(['judge', '--url', gateway.ws, '--name', 'one', '--slots', '1', '--data', data, '--json'], {
        env: { PARLEY_JUDGE_TOKEN: gateway.token },
      })
    const first = await startJudge()
    const tests = join(scratch.folder, 'tests')
    mkdirSync(tests)
    for (let number = 1; number <= CASES; number += 1)
      for (const end of ['in', 'out']) writeFileSync(join(tests, `${number}.${end}`), `${number}\n`)
    const id = await gateway.submit({
      language: 'python',
      current_code: CODE,
      time_limit_ms: 60_000,
      tests_zip_b64: zipFolder(tests, 'tests').toString('base64'),
    })
    await expect.poll(() => gateway.log(id, 'cases'), patiently).not.toBe('')
    const work = join(data, 'judge')
    const [own = ''] = readdirSync(work).filter((name) => /^judge-\w+$/.test(name))
    const [job = ''] = readdirSync(join(work, own, 'jobs'))
    const said = (file: string): string => readFileSync(join(work, own, 'jobs', job, 'logs', file), 'utf8')
    await gateway.stop()
    const before = said(STREAMS.cases).length
    await expect.poll(() => said(STREAMS.cases).length, patiently).toBeGreaterThan(before)
    process.kill(first.pid, 'SIGKILL')
    await gone(first.pid)
    const left = { terminal: said(STREAMS.terminal), agent_status: said(STREAMS.agent_status), cases: said(STREAMS.cases) }
    await gateway.start()
    const heir = await startJudge()
    await expect.poll(async () => (await gateway.state(id)).claims, patiently).toBe(2)
    await expect.poll(async () => (await gateway.log(id, 'agent_status')).match(/claimed by one/g)?.length, patiently).toBe(2)
    await gateway.call('job.cancel', { job_id: id })
    await expect.poll(() => gateway.log(id, 'agent_status'), patiently).toContain('"summary":"cancelled')
    const logs = { terminal: '', agent_status: '', cases: '' }
    for (const stream of ['terminal', 'agent_status', 'cases'] as const) {
      logs[stream] = await gateway.log(id, stream)
      expect(logs[stream].slice(0, left[stream].length)).toBe(left[stream])
    }
    expect(logs.agent_status).not.toContain('not sent')
    const seqs = [...logs.cases.matchAll(/"seq":"([^"]+)"/g)].map(([, seq]) => seq)
    expect(new Set(seqs).size).toBe(seqs.length)
    heir.kill('SIGTERM')
    await heir.exited
    expect(readdirSync(work).filter((name) => name === 'late' || name.startsWith('judge-'))).toEqual([])
  },
)
