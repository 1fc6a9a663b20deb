import { mkdirSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { LateLogs, type LateParts } from './late/late-logs.ts'
import { removeTree } from './remove-tree.ts'

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
    sweeping = sweeping.catch(() => {}).then(() => removeLeftovers(path, tryLock, own, late))
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

/** A folder whose lock can be had belongs to nobody any more. */
async function removeLeftovers(path: string, tryLock: TryLock, own: string, late: LateLogs): Promise<void> {
  const names = await readdir(path)
  const folders = new Set(names.map((name) => name.replace(/\.lock(-journal)?$/, '')).filter((name) => OWN.test(name)))
  for (const name of folders) {
    const folder = join(path, name)
    if (folder === own) continue
    const lock = tryLock(`${folder}.lock`)
    if (lock === undefined) continue
    // Whoever dies before the next line leaves the rest of the folder to the next judge.
    for (const job of await readdir(join(folder, 'jobs')).catch(() => [])) await late.keep(join(folder, 'jobs', job), job)
    await removeTree(folder)
    lock.release()
    await rm(`${folder}.lock`, { force: true })
  }
  await late.trim()
}
