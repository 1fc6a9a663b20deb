import { lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type JobId, messageOf } from '@parley/protocol'
import type { Log } from '../log.ts'
import { removeTree } from '@parley/workspace'
import type { WorkerLimits } from '../worker-limits.ts'
import { type LeftLogs, unsentIn } from './left-logs.ts'
import { type LogAbout, damagedAbout, readAbout, writeAbout } from './log-about.ts'
import { LOG_NAMES, logFile, placeFile } from './log-names.ts'

export interface LateParts {
  readonly limits: Pick<WorkerLimits, 'lateClaims' | 'lateBytes' | 'lateMs' | 'lateNotes' | 'lateNoteMs'>
  readonly now: () => number
  readonly log: Log
}

/** The names of a claim's folder in `jobs/` and here. */
const ENTRY = /^(job_[0-9a-z]+)-([0-9a-f]{32})$/
/** In a claim's folder: what it took from here, until its own files hold it. */
const TAKEN = 'late'
const PUT_TRIES = 3

/**
 * What claims of this work folder said and nobody knows to have arrived, kept for whoever has the job next here. A claim's logs come
 * and go as one folder, by one rename: wherever a judge dies, they are here, with a claim, or with a dead judge.
 */
export class LateLogs {
  readonly #folder: string
  readonly #parts: LateParts

  constructor(folder: string, parts: LateParts) {
    this.#folder = folder
    this.#parts = parts
  }

  /** Keeps what a claim's folder holds that did not arrive. Nobody may work in it any more; the rest of it may go then. */
  async keep(jobFolder: string, name: string): Promise<void> {
    const logs = join(jobFolder, 'logs')
    this.#try(`the logs of ${name} are not kept`, () => {
      const about = aboutOf(logs, name)
      // Before it says whose they are, a claim's logs hold nothing of what it took from here.
      if (about === undefined) return this.#putBack(join(jobFolder, TAKEN))
      if (Object.keys(about.dropped ?? unsentIn({ folder: logs, about })).length === 0) return
      this.#put(logs, name)
    })
    await this.trim()
  }

  /** Takes what earlier claims of the job left into the folder of the new one, oldest first. */
  take(jobId: JobId, jobFolder: string): readonly LeftLogs[] {
    const taken = join(jobFolder, TAKEN)
    const left: LeftLogs[] = []
    this.#try(`late logs of ${jobId} are not sent`, () => {
      const names = this.#names().filter((name) => ENTRY.test(name) && name.startsWith(`${jobId}-`))
      if (names.length > 0) mkdirSync(taken, { mode: 0o700 })
      for (const name of names) {
        const folder = join(taken, name)
        renameSync(join(this.#folder, name), folder)
        const about = aboutOf(folder, name)
        if (about !== undefined) left.push({ folder, about })
      }
      this.#leave()
    })
    return left.toSorted(({ about: a }, { about: b }) => a.claim - b.claim || a.claimed_at - b.claimed_at)
  }

  /** The new claim's own files hold what was taken, or nothing does. */
  async taken(jobFolder: string): Promise<void> {
    await removeTree(join(jobFolder, TAKEN))
  }

  /** Keeps to the bounds. Of what has to go it is still known for a while how much it was. */
  async trim(): Promise<void> {
    try {
      await this.#trim()
    } catch (error) {
      this.#warn('late logs are not looked through', error)
    }
  }

  async #trim(): Promise<void> {
    const { limits, now } = this.#parts
    const kept: { name: string; bytes: number; at: number }[] = []
    const notes: { name: string; at: number }[] = []
    for (const name of this.#names()) {
      const about = aboutOf(join(this.#folder, name), name)
      if (about === undefined) await this.#remove(name)
      else if (about.dropped === undefined) kept.push({ name, ...sizeOf(join(this.#folder, name)) })
      else notes.push({ name, at: about.claimed_at })
    }
    let bytes = 0
    for (const [index, one] of kept.toSorted((a, b) => b.at - a.at).entries()) {
      bytes += one.bytes
      if (index < limits.lateClaims && bytes <= limits.lateBytes && now() - one.at <= limits.lateMs) continue
      this.#drop(one.name)
      notes.push({ name: one.name, at: one.at })
    }
    for (const [index, { name, at }] of notes.toSorted((a, b) => b.at - a.at).entries())
      if (index >= limits.lateNotes || now() - at > limits.lateNoteMs) await this.#remove(name)
      // A death in the middle may have left the files of one that is only told about.
      else this.#removeFiles(name)
    this.#leave()
  }

  /** Leaves of a claim's logs only how much they were. */
  #drop(name: string): void {
    this.#try(`the late logs of ${name} are not dropped`, () => {
      const folder = join(this.#folder, name)
      const about = aboutOf(folder, name)
      if (about === undefined) return
      writeAbout(folder, { ...about, dropped: unsentIn({ folder, about }) })
      this.#parts.log('warn', `late logs of ${about.job_id} are dropped: there are too many, or they are too old`)
    })
  }

  #removeFiles(name: string): void {
    this.#try(`files of ${name} stay`, () => {
      const folder = join(this.#folder, name)
      const about = aboutOf(folder, name)
      // How much there was is known by the files alone where a crash of the machine has spoilt the rest.
      if (about !== undefined && readAbout(folder) === undefined) writeAbout(folder, about)
      for (const log of LOG_NAMES) for (const file of [logFile(log), placeFile(log)]) rmSync(join(folder, file), { force: true })
    })
  }

  async #remove(name: string): Promise<void> {
    await removeTree(join(this.#folder, name)).catch((error: unknown) => this.#warn(`late logs ${name} stay`, error))
  }

  #putBack(taken: string): void {
    for (const name of entries(taken)) if (ENTRY.test(name)) this.#put(join(taken, name), name)
  }

  #put(folder: string, name: string): void {
    for (let tries = 1; ; tries += 1) {
      if (lstatSync(this.#folder, { throwIfNoEntry: false }) === undefined)
        mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      if (!this.#isOurs()) throw new Error(`${this.#folder} is not a folder that this judge's user has for itself`)
      try {
        return renameSync(folder, join(this.#folder, name))
      } catch (error) {
        // Another judge removes the folder whenever it is empty.
        if (!isCode(error, 'ENOENT') || tries === PUT_TRIES) throw error
      }
    }
  }

  #names(): readonly string[] {
    return this.#isOurs() ? readdirSync(this.#folder) : []
  }

  /** Whether the folder is there and only its owner, who we are, may write to it. What a link leads to is never ours. */
  #isOurs(): boolean {
    const stat = lstatSync(this.#folder, { throwIfNoEntry: false })
    if (stat === undefined || !stat.isDirectory()) return false
    return stat.uid === (process.geteuid?.() ?? stat.uid) && (stat.mode & 0o077) === 0
  }

  /** An empty folder goes, so that a clean end leaves nothing behind. */
  #leave(): void {
    try {
      if (this.#isOurs()) rmdirSync(this.#folder)
    } catch (error) {
      if (!isCode(error, 'ENOTEMPTY') && !isCode(error, 'ENOENT')) throw error
    }
  }

  /** Late logs are worth less than the work: whatever goes wrong with them is said and left. */
  #try(what: string, act: () => void): void {
    try {
      act()
    } catch (error) {
      this.#warn(what, error)
    }
  }

  #warn(what: string, error: unknown): void {
    this.#parts.log('warn', `${what}: ${messageOf(error)}`)
  }
}

/** Whose logs these are. Only a folder that bears the name of what it says about itself is believed. */
function aboutOf(folder: string, name: string): LogAbout | undefined {
  const [, jobId, claimId] = ENTRY.exec(name) ?? []
  if (jobId === undefined || claimId === undefined || !isFolder(folder)) return undefined
  const about = readAbout(folder) ?? damagedAbout(folder, { jobId, claimId })
  return about !== undefined && name === `${about.job_id}-${about.claim_id}` ? about : undefined
}

/** What is in a folder of ours; nothing when it is none, or a link. */
function entries(folder: string): readonly string[] {
  return isFolder(folder) ? readdirSync(folder) : []
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** How much a claim's logs are, and when the last word was said. */
function sizeOf(folder: string): { readonly bytes: number; readonly at: number } {
  const files = readdirSync(folder).map((name) => lstatSync(join(folder, name)))
  return { bytes: files.reduce((sum, { size }) => sum + size, 0), at: Math.max(0, ...files.map(({ mtimeMs }) => mtimeMs)) }
}

const isCode = (error: unknown, code: string): boolean => error instanceof Error && 'code' in error && error.code === code
