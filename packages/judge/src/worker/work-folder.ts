import { mkdirSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LateLogs, type LateParts } from './late/late-logs.ts'
import { removeTree } from '@parley/workspace'

/** Takes the one ownership of a file, gone with the process that holds it; `undefined` when somebody has it. */
export type TryLock = (path: string) => { release(): void } | undefined

export interface WorkFolder {
  /** Where this judge keeps what it needs while it lives; no other judge touches it. */
  readonly own: string
  /** Shared by all judges of the folder. */
  readonly cache: string
  /** What claims left that did not arrive; shared by all judges of the folder. */
  readonly late: LateLogs
  /** The folder of one claim. */
  jobFolder(name: string): string
  /** Makes it, empty. */
  makeJob(name: string): string
  removeJob(name: string): Promise<void>
  /** Removes what judges left that died since, and keeps what they said. */
  sweep(): Promise<void>
  close(): Promise<void>
}

const OWN = /^judge-[0-9a-z]+$/
/** Held while the logs of dead judges are moved, by one judge of the folder at a time. */
const SWEEP_LOCK = 'sweep.lock'
const SWEEP_RETRY_MS = 20
/** Ten seconds: to move logs takes a rename for each. */
const SWEEP_TRIES = 500

/** Opens a work folder for one judge, and removes what judges left there that are no more, save what they said. */
export async function openWorkFolder(path: string, name: string, tryLock: TryLock, parts: LateParts): Promise<WorkFolder> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  const own = join(path, `judge-${name}`)
  const lockPath = `${own}.lock`
  const lock = tryLock(lockPath)
  if (lock === undefined) throw new Error(`${own} belongs to a judge that runs`)
  const late = new LateLogs(join(path, 'late'), parts)
  let sweeping = Promise.resolve()
  // One at a time: who comes second must find what the first one kept.
  const sweep = (): Promise<void> => {
    sweeping = sweeping
      .catch(() => {})
      .then(async () => {
        const dead = await alone(path, tryLock, parts, () => keepLogs(path, tryLock, own, late))
        for (const ended of await Promise.allSettled(dead.map(removeFolder))) if (ended.status === 'rejected') throw ended.reason
      })
    return sweeping
  }
  await sweep()
  await removeTree(own)
  await mkdir(join(own, 'jobs'), { recursive: true, mode: 0o700 })
  const jobFolder = (job: string): string => join(own, 'jobs', job)
  return {
    own,
    cache: join(path, 'inputs'),
    late,
    sweep,
    jobFolder,
    makeJob(job) {
      const folder = jobFolder(job)
      mkdirSync(folder, { mode: 0o700 })
      for (const part of ['input', 'logs', 'output']) mkdirSync(join(folder, part), { mode: 0o700 })
      return folder
    },
    removeJob: (job) => removeTree(jobFolder(job)),
    async close() {
      await removeTree(own)
      lock.release()
      await rm(lockPath, { force: true })
    },
  }
}

/** What another judge is moving is found once it is done: a claim that looked before would go on without it. */
async function alone<Result>(path: string, tryLock: TryLock, { log }: LateParts, work: () => Promise<Result>): Promise<Result> {
  const lockPath = join(path, SWEEP_LOCK)
  let lock = tryLock(lockPath)
  for (let tries = 1; lock === undefined && tries < SWEEP_TRIES; tries += 1) {
    await sleep(SWEEP_RETRY_MS)
    lock = tryLock(lockPath)
  }
  if (lock === undefined)
    log('warn', 'another judge looks through the work folder for long: what it finds is sent by a later claim')
  try {
    return await work()
  } finally {
    if (lock !== undefined) {
      lock.release()
      await rm(lockPath, { force: true })
    }
  }
}

/** The folder of a judge that is no more, which nobody else touches until its lock is released. */
interface DeadFolder {
  readonly folder: string
  readonly lock: { release(): void }
}

/** Keeps what dead judges said, and answers their folders: to remove them takes longer, and nobody waits for that. */
async function keepLogs(path: string, tryLock: TryLock, own: string, late: LateLogs): Promise<readonly DeadFolder[]> {
  const dead: DeadFolder[] = []
  const names = await readdir(path)
  const folders = new Set(names.map((name) => name.replace(/\.lock(-journal)?$/, '')).filter((name) => OWN.test(name)))
  try {
    for (const name of folders) {
      const folder = join(path, name)
      if (folder === own) continue
      const lock = tryLock(`${folder}.lock`)
      if (lock === undefined) continue
      dead.push({ folder, lock })
      // Whoever dies before the next line leaves the rest of the folder to the next judge.
      for (const job of await readdir(join(folder, 'jobs')).catch(() => [])) await late.keep(join(folder, 'jobs', job), job)
    }
    await late.trim()
    return dead
  } catch (error) {
    for (const { lock } of dead) lock.release()
    throw error
  }
}

async function removeFolder({ folder, lock }: DeadFolder): Promise<void> {
  try {
    await removeTree(folder)
  } finally {
    lock.release()
  }
  await rm(`${folder}.lock`, { force: true })
}
