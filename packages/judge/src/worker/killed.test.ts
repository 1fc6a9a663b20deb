import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Answer, type Piece, byTurn, openModelServer } from '@parley/agent/testing/model-server'
import { Report } from '@parley/protocol'
import { expect, test } from 'vitest'
import { JobDesk } from '../fixture/job-desk.ts'
import { specOf } from '../fixture/open-bench.ts'

const MAIN = join(import.meta.dirname, '..', 'fixture', 'writing-judge-main.ts')
const FILES = Object.fromEntries(Array.from({ length: 4 }, (_, index) => [`${index + 1}.in`, 'x']))
const [WRONG, RIGHT] = ['print("off")', 'print("right")']
const manner = { pauseMs: 15, deltaCharacters: 12 }
const selfTest = (source: string): Piece => ({ call: 'realmoi-status_judge_self_test', arguments: { source } })
const says = (main: string): Answer => ({
  pieces: [{ reasoning: 'Let me think about it.' }, { text: JSON.stringify({ main }) }],
  manner,
})
const ANSWERS: readonly Answer[] = [
  { pieces: [selfTest(WRONG)], manner },
  says(WRONG),
  { pieces: [selfTest(RIGHT)], manner },
  says(RIGHT),
]
const KILLS = 6

test('judges that are killed at any moment of the work: others go on, the job ends once, and nothing said is asked for again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-killed-'))
  await using model = await openModelServer({ wire: 'responses', answers: byTurn('responses', ANSWERS) })
  const spec = { ...specOf({ language: 'python', code: '', files: FILES }, `job_${'0'.repeat(26)}`), model: 'loopback' }
  await using desk = new JobDesk(spec, FILES, model.url)
  const url = await desk.open()
  let calls = 0
  const children = new Set<ChildProcess>()
  try {
    // Each judge dies one step of the work later than the one before: at a call to the gateway, wherever that is.
    for (let kill = 0; kill <= KILLS && desk.released.length === 0; kill += 1) {
      const dies = Promise.withResolvers<void>()
      calls = 0
      desk.onCall = (tool) => {
        if (tool === 'judge.claim_next') return
        calls += 1
        if (kill < KILLS && calls >= 6 + kill * 4) dies.resolve()
      }
      const child = spawn(process.execPath, [MAIN, url, folder], { stdio: ['pipe', 'ignore', 'inherit'] })
      children.add(child)
      await Promise.race([dies.promise, desk.ended])
      child.kill('SIGKILL')
      await once(child, 'exit')
      children.delete(child)
      desk.expire()
    }
    expect(desk.released).toEqual(['done'])
    expect(desk.patches.filter(({ status }) => status === 'succeeded')).toHaveLength(1)
    expect(desk.patches.filter(({ status }) => status === 'failed')).toHaveLength(0)
    expect(Report.parse(desk.artifacts.get('report_json'))).toMatchObject({ status: 'succeeded', attempt: 2 })
    expect(desk.artifacts.get('files')).toEqual({ 'main.py': RIGHT })
    expect(model.violations).toEqual([])
    // Four answers, and at most one more for each death: that which was on its way.
    expect(model.requests.length).toBeLessThanOrEqual(ANSWERS.length + KILLS)
    const said = desk.text('transcript')
    for (const [source, times] of [
      [WRONG, 1],
      [RIGHT, 1],
    ] as const) {
      const answers = said.split('\n').filter((line) => line.includes('"type":"answer"') && line.includes(JSON.stringify(source)))
      expect(answers).toHaveLength(times)
    }
    for (const line of desk.lines('agent_status')) expect(line).toMatchObject({ job_id: spec.job_id })
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  }
}, 120_000)
