import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { LATE_PARTS } from '../../fixture/late-parts.ts'
import { leaveLogs, nameOf, openWaiting } from '../../fixture/left-logs.ts'
import { openWorkFolder } from '../work-folder.ts'

const MAIN = join(import.meta.dirname, '..', '..', 'fixture', 'claims-and-dies-main.ts')
const STEPS_MAX = 200
const SLOW_MS = 240_000
const TEXT = '{"said":1}\n{"said":2}\n'

test(
  'a judge that dies between any two steps of taking over what another left: the next one has all of it once',
  { timeout: SLOW_MS },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-steps-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    let deaths = 0
    for (let step = 1; step <= STEPS_MAX; step += 1) {
      const here = join(folder, `${step}`)
      // A judge that is dead, and one that was kept before it.
      leaveLogs(join(here, 'judge-dead/jobs', nameOf(2), 'logs'), 2, { agent_status: { text: TEXT }, terminal: { text: 'b' } })
      leaveLogs(join(here, 'late', nameOf(1)), 1, { cases: { text: TEXT }, terminal: { text: 'a' } })
      const { signal, stdout, stderr } = spawnSync(process.execPath, [MAIN, here, '3', `${step}`], { encoding: 'utf8' })
      expect(stderr).toBe('')
      if (signal === 'SIGKILL') deaths += 1
      const work = await openWorkFolder(here, 'next', () => ({ release: () => {} }), LATE_PARTS)
      work.makeJob(nameOf(4))
      const { logs, ...waiting } = await openWaiting(work, 4)
      expect({ step, ...waiting }).toEqual({ step, terminal: 'ab', agent_status: TEXT, cases: TEXT })
      logs.close()
      await work.removeJob(nameOf(4))
      await work.close()
      expect(readdirSync(here)).toEqual([])
      if (stdout === 'done') break
    }
    // As many steps as there are at least: two folders taken, three files and their places, what they are about.
    expect(deaths).toBeGreaterThan(15)
    expect(deaths).toBeLessThan(STEPS_MAX)
  },
)
