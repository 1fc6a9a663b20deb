import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openScratch } from '../testing/scratch.ts'
import { runTethered } from './tethered.ts'

const SLOW_MS = 60_000
const never = new AbortController().signal
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** Writes its own number and that of a child that sleeps, then does as it is told. */
const program = (then: string, options = ''): string => `
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
const child = spawn('sleep', ['600'], { stdio: 'ignore'${options} })
child.unref()
writeFileSync('pids.new', JSON.stringify([process.pid, child.pid]))
await (await import('node:fs/promises')).rename('pids.new', 'pids')
${then}
`
const pidsIn = (folder: string): number[] =>
  existsSync(join(folder, 'pids')) ? JSON.parse(readFileSync(join(folder, 'pids'), 'utf8')) : []

test.each([
  ['in its group', ''],
  ['in a group of its own', ', detached: true'],
])('a process that is left %s is named and ended', { timeout: SLOW_MS }, async (_, options) => {
  using scratch = openScratch({ 'a.mjs': program('process.exit(3)', options) })
  const run = {
    args: ['a.mjs'],
    cwd: scratch.root,
    env: process.env,
    output: 'inherit',
    limitMs: SLOW_MS,
    signal: never,
  } as const
  const ended = await runTethered({ ...run, graceMs: 300 })
  const [, left = 0] = pidsIn(scratch.root)
  expect(ended).toEqual({ status: 3, by: 'itself', left: [{ pid: left, command: 'sleep 600' }] })
  await expect.poll(() => isAlive(left)).toBe(false)
})

test.each(['time', 'signal'] as const)('whatever runs is ended by the %s', { timeout: SLOW_MS }, async (by) => {
  using scratch = openScratch({ 'a.mjs': program(`process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)`) })
  const stop = new AbortController()
  const limitMs = by === 'time' ? 1_500 : SLOW_MS
  const ending = runTethered({
    args: ['a.mjs'],
    cwd: scratch.root,
    env: process.env,
    output: 'inherit',
    limitMs,
    signal: stop.signal,
  })
  if (by === 'signal') {
    await expect.poll(() => pidsIn(scratch.root)).toHaveLength(2)
    stop.abort()
  }
  expect(await ending).toMatchObject({ by, left: [] })
  expect(pidsIn(scratch.root).filter(isAlive)).toEqual([])
})

test('whatever runs ends when whoever started it is killed', { timeout: SLOW_MS }, async () => {
  using scratch = openScratch({ 'a.mjs': program('setInterval(() => {}, 1000)') })
  scratch.write(
    'starts.mjs',
    `import { runTethered } from ${JSON.stringify(join(import.meta.dirname, 'tethered.ts'))}
await runTethered({ args: ['a.mjs'], cwd: process.cwd(), env: process.env, output: 'inherit', limitMs: ${SLOW_MS}, signal: new AbortController().signal })`,
  )
  const starter = spawn(process.execPath, ['starts.mjs'], { cwd: scratch.root, stdio: 'ignore' })
  await expect.poll(() => pidsIn(scratch.root)).toHaveLength(2)
  starter.kill('SIGKILL')
  await once(starter, 'exit')
  await expect.poll(() => pidsIn(scratch.root).filter(isAlive)).toEqual([])
})
