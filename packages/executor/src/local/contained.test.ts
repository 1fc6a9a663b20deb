import { once } from 'node:events'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, expect, test } from 'vitest'
import { skipAloud } from '@parley/sandbox/testing'
import { openProcesses } from './open-processes.ts'
import { ProcessError, type Processes, type RunningProcess } from './processes.ts'
import { startProgram } from './program.ts'

const env = { PATH: process.env['PATH'] ?? '' }

async function contained(context: TestContext, processes: Processes, script: string, more = {}): Promise<RunningProcess> {
  try {
    return await processes.start({ command: '/bin/sh', args: ['-c', script], env, contained: true, ...more })
  } catch (error) {
    if (error instanceof ProcessError && error.reason === 'EPERM')
      return skipAloud(context, 'processes that leave the group of a contained one', 'there is no PID namespace for us here')
    throw error
  }
}

/** Whether a process with this word among its arguments runs; the word is in no other's. */
function runs(word: string): boolean {
  return readdirSync('/proc').some((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').includes(word)
    } catch {
      return false
    }
  })
}

/** Leaves the group and the session of whoever starts it, says that it is there, and stays. */
const daemon = (seconds: string): string => `setsid sh -c "echo up; exec sleep ${seconds}" & wait`

test('what leaves its group ends with a contained process, by SIGKILL too', async (context) => {
  await using processes = await openProcesses()
  const child = await contained(context, processes, daemon('98761'))
  await once(child.stdout, 'data')
  await expect.poll(() => runs('98761')).toBe(true)
  await child.stop(0)
  await expect.poll(() => runs('98761')).toBe(false)
})

test('a contained process is not the first of its namespace: signals end it, and its exit code is its own', async (context) => {
  await using processes = await openProcesses()
  const child = await contained(context, processes, 'echo $$; exec sleep 1000')
  expect(String(await once(child.stdout, 'data'))).not.toBe('1\n')
  child.signal('SIGTERM')
  expect(await child.exited).toEqual({ code: 143, signal: null })
  const other = await contained(context, processes, 'exit 7')
  expect(await other.exited).toEqual({ code: 7, signal: null })
})

test('what a contained leader leaves may go on when it is told so, and ends with it otherwise', async (context) => {
  await using processes = await openProcesses()
  const script = '(sleep 0.2; echo late) & echo early'
  const waits = await contained(context, processes, script, { groupOutlivesLeader: true })
  expect(await text(waits.stdout)).toBe('early\nlate\n')
  const ends = await contained(context, processes, script)
  expect(await text(ends.stdout)).toBe('early\n')
})

test('kill -9 of owner and spawner in the same instant leaves no daemon of a contained process', async (context) => {
  await using processes = await openProcesses()
  await (
    await contained(context, processes, 'exit 0')
  ).exited
  const folder = mkdtempSync(join(tmpdir(), 'parley-test-'))
  const owner = await startProgram({
    entry: new URL('./fixture/containing-owner-main.ts', import.meta.url),
    env: { ...env, TMPDIR: folder, SCRIPT: daemon('98762') },
  })
  const [line] = await once(owner.stdout, 'data')
  const { spawner }: { spawner: number } = JSON.parse(String(line))
  await expect.poll(() => runs('98762')).toBe(true)
  process.kill(owner.pid, 'SIGKILL')
  process.kill(spawner, 'SIGKILL')
  await expect.poll(() => runs('98762')).toBe(false)
  await owner.exited
  rmSync(folder, { recursive: true })
})
