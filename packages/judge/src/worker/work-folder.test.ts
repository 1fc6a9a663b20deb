import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { LATE_PARTS } from '../fixture/late-parts.ts'
import { leaveLogs, nameOf, openWaiting } from '../fixture/left-logs.ts'
import { type TryLock, openWorkFolder } from './work-folder.ts'

/** Locks of this test alone: what a process holds is in the set. */
function openLocks(): TryLock {
  const held = new Set<string>()
  return (path) => {
    if (held.has(path)) return undefined
    held.add(path)
    writeFileSync(path, '')
    return { release: () => void held.delete(path) }
  }
}

test('a start removes what dead judges left and leaves a living one alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-work-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const tryLock = openLocks()
  const living = await openWorkFolder(folder, 'aa', tryLock, LATE_PARTS)
  const job = living.makeJob('job_1')
  expect(readdirSync(job).toSorted()).toEqual(['input', 'logs', 'output'])
  mkdirSync(join(folder, 'judge-dead/jobs/job_9/input'), { recursive: true })
  writeFileSync(join(folder, 'judge-dead.lock'), '')
  mkdirSync(join(folder, 'inputs'))
  const other = await openWorkFolder(folder, 'bb', tryLock, LATE_PARTS)
  expect(readdirSync(folder).toSorted()).toEqual(['inputs', 'judge-aa', 'judge-aa.lock', 'judge-bb', 'judge-bb.lock'])
  await living.removeJob('job_1')
  expect(existsSync(job)).toBe(false)
  await other.close()
  await living.close()
  expect(readdirSync(folder)).toEqual(['inputs'])
})

test('two judges that sweep at once: whoever is done first finds all that a dead one said', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-work-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const tryLock = openLocks()
  const judges = [
    await openWorkFolder(folder, 'aa', tryLock, LATE_PARTS),
    await openWorkFolder(folder, 'bb', tryLock, LATE_PARTS),
  ]
  const claims = [1, 2, 3, 4, 5, 6, 7, 8, 9]
  for (const claim of claims)
    leaveLogs(join(folder, 'judge-dead/jobs', nameOf(claim), 'logs'), claim, { terminal: { text: `said by ${claim}` } })
  const seen = await Promise.all(
    judges.map(async (judge) => {
      await judge.sweep()
      return readdirSync(join(folder, 'late')).length
    }),
  )
  expect(seen).toEqual([claims.length, claims.length])
  const [first, second] = judges
  second?.makeJob(nameOf(0))
  const waiting = second === undefined ? undefined : await openWaiting(second, 0)
  expect(waiting?.terminal).toBe(claims.map((claim) => `said by ${claim}`).join(''))
  waiting?.logs.close()
  await second?.removeJob(nameOf(0))
  await first?.close()
  await second?.close()
  expect(readdirSync(folder)).toEqual([])
})

test('what a judge said that died beside a living one is kept by that one, before any of its claims looks for it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-work-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const tryLock = openLocks()
  const living = await openWorkFolder(folder, 'aa', tryLock, LATE_PARTS)
  leaveLogs(join(folder, 'judge-dead/jobs', nameOf(1), 'logs'), 1, { terminal: { text: 'one' } })
  // Two claims of one judge at the same moment: neither goes on before the logs are in their place.
  const swept = [living.sweep(), living.sweep()].map(async (sweep) => {
    await sweep
    return readdirSync(join(folder, 'late'))
  })
  expect(await Promise.all(swept)).toEqual([[nameOf(1)], [nameOf(1)]])
  expect(existsSync(join(folder, 'judge-dead'))).toBe(false)
  living.makeJob(nameOf(2))
  const { logs, terminal } = await openWaiting(living, 2)
  expect(terminal).toBe('one')
  logs.close()
  await living.removeJob(nameOf(2))
  await living.close()
  expect(readdirSync(folder)).toEqual([])
})
