import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { skipAloud } from '@parley/sandbox/testing'
import { type TestContext, expect, onTestFinished, test } from 'vitest'
import { JobDesk } from '../../fixture/job-desk.ts'
import { specOf } from '../../fixture/open-bench.ts'
import { TalkingJudge } from '../../fixture/talking-judge.ts'

const FILES = { '1.in': 'x', '1.out': 'right' }
const WORDS = 200
const SLOW_MS = 120_000

/** A judge that has said two words in a folder, and more once something has happened to its disk. */
async function talkBeyond(folder: string, happens: (pid: number) => void): Promise<void> {
  const spec = specOf({ language: 'python', code: 'print("right")', files: FILES }, `job_${'0'.repeat(26)}`)
  await using desk = new JobDesk(spec, FILES, 'http://127.0.0.1:1')
  await using judge = new TalkingJudge(await desk.open(), folder, 'a')
  await judge.begun()
  await judge.say(2)
  happens(judge.pid)
  await judge.say(WORDS)
  await judge.end()
  await desk.ended
  const words = Array.from({ length: WORDS + 2 }, (_, index) => `a${index}`)
  expect(desk.text('terminal').trimEnd().split('\n')).toEqual(words)
  expect(desk.lines('cases').map(({ name }) => name)).toEqual(words)
  const summaries = desk.texts('agent_status', 'summary')
  expect(summaries.filter((summary) => /^a\d+$/.test(summary))).toEqual(words)
  expect(summaries.filter((summary) => summary.startsWith('the disk of this judge takes no more'))).toHaveLength(1)
  expect(desk.status).toBe('succeeded')
  await judge.stop()
  expect(readdirSync(folder)).toEqual(['inputs'])
}

test(
  'a disk that runs full does not end the job: it goes on from memory and says so once',
  { timeout: SLOW_MS },
  async (context) => {
    const disk = smallDisk(context)
    await talkBeyond(join(disk, 'work'), () => fill(join(disk, 'filler')))
  },
)

test('neither does one on which nothing can be written any more', { timeout: SLOW_MS }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-unwritable-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  await talkBeyond(join(folder, 'work'), (pid) => {
    // Every write to a file fails from now on, also one over what is there.
    execFileSync('prlimit', [`--pid=${pid}`, '--fsize=0'], { stdio: 'pipe' })
  })
})

/** A disk of its own. Only root can have one: others skip aloud. */
function smallDisk(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-full-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=700', 'tmpfs', folder], { stdio: 'pipe' })
  } catch (error) {
    skipAloud(context, 'a judge whose disk is full', `no disk can be mounted here: ${String(error)}`)
  }
  onTestFinished(() => void execFileSync('umount', ['-l', folder]))
  return folder
}

function fill(path: string): void {
  for (;;) {
    try {
      writeFileSync(path, Buffer.alloc(4_096), { flag: 'a' })
    } catch {
      return
    }
  }
}
