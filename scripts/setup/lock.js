import { closeSync, linkSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SetupError, say } from './run.js'

const RETRY_MS = 100
const WAIT_LIMIT_MS = 15 * 60_000
/** A lock file without a pid is one whose writer died between making and filling it. */
const UNFILLED_LIMIT_MS = 5_000

/** Runs `work` while holding the lock file. Whoever comes second waits; the lock of a dead process is taken over. */
export async function withLock(path, work) {
  mkdirSync(dirname(path), { recursive: true })
  const deadline = Date.now() + WAIT_LIMIT_MS
  let told = false
  while (!take(path)) {
    if (breakStale(path)) continue
    if (Date.now() > deadline)
      throw new SetupError(`another set-up has held ${path} for too long; remove that file if none is running`)
    if (!told) say('another set-up is at work, waiting for it')
    told = true
    await sleep(RETRY_MS)
  }
  try {
    return await work()
  } finally {
    rmSync(path, { force: true })
  }
}

function take(path) {
  try {
    const fd = openSync(path, 'wx')
    writeSync(fd, String(process.pid))
    closeSync(fd)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

/** Moves a dead holder's file away. The file that was moved is read again: if it was a living one after all, it goes back. */
function breakStale(path) {
  if (!isStale(path)) return false
  const aside = `${path}.${process.pid}`
  try {
    renameSync(path, aside)
  } catch {
    return true
  }
  const mistaken = !isStale(aside)
  try {
    if (mistaken) linkSync(aside, path)
  } catch {
    // Somebody took the free place meanwhile.
  }
  rmSync(aside, { force: true })
  return !mistaken
}

function isStale(path) {
  try {
    const pid = Number(readFileSync(path, 'utf8'))
    if (pid === 0) return Date.now() - statSync(path).mtimeMs > UNFILLED_LIMIT_MS
    process.kill(pid, 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH'
  }
}
