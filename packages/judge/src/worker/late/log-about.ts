import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ClaimId, JobId, parseJson } from '@parley/protocol'
import * as z from 'zod'
import { LOG_NAMES, logFile, ofEachLog } from './log-names.ts'

const Bytes = z.int().min(0)
const LostCount = z.object({ bytes: Bytes, lines: Bytes })
export type LostCount = z.infer<typeof LostCount>

/** Whose the logs in a folder are, and where each of them began at the gateway. Before it is there nothing in the folder counts. */
export const LogAbout = z.object({
  job_id: JobId,
  claim_id: ClaimId,
  claim: Bytes,
  /** When it was claimed. */
  claimed_at: z.int(),
  base: z.object({ terminal: Bytes, agent_status: Bytes, cases: Bytes }),
  /** What is kept no longer, and only told. */
  dropped: z.object({ terminal: LostCount, agent_status: LostCount, cases: LostCount }).partial().optional(),
})
export type LogAbout = z.infer<typeof LogAbout>

const ABOUT = 'about.json'
const ABOUT_BYTES = 16 * 1024

/** Written whole under another name first: whoever finds it finds all of it. */
export function writeAbout(folder: string, about: LogAbout): void {
  const draft = join(folder, `${ABOUT}.new`)
  rmSync(draft, { force: true })
  writeFileSync(draft, JSON.stringify(about), { flag: 'wx', mode: 0o600 })
  renameSync(draft, join(folder, ABOUT))
}

export function readAbout(folder: string): LogAbout | undefined {
  const bytes = readOwnFile(join(folder, ABOUT), ABOUT_BYTES)
  const about = bytes === undefined ? undefined : LogAbout.safeParse(parseJson(bytes.toString('utf8')))
  return about?.success === true ? about.data : undefined
}

/** What can be said of logs whose `about.json` a crash of the machine has spoilt; `undefined` when there never was one. */
export function damagedAbout(
  folder: string,
  { jobId, claimId }: { readonly jobId: string; readonly claimId: string },
): LogAbout | undefined {
  const stat = lstatSync(join(folder, ABOUT), { throwIfNoEntry: false })
  if (stat === undefined) return undefined
  const dropped: NonNullable<LogAbout['dropped']> = {}
  for (const log of LOG_NAMES) {
    const bytes = lstatSync(join(folder, logFile(log)), { throwIfNoEntry: false })?.size ?? 0
    if (bytes > 0) dropped[log] = { bytes, lines: 0 }
  }
  const base = ofEachLog(() => 0)
  const claimed_at = Math.trunc(stat.mtimeMs)
  const about = LogAbout.safeParse({ job_id: jobId, claim_id: claimId, claim: 0, claimed_at, base, dropped })
  return about.success ? about.data : undefined
}

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** A plain file of ours, and nothing that a link leads to; `undefined` when there is none, or more of it than there may be. */
export function readOwnFile(path: string, limitBytes: number): Buffer | undefined {
  let file: number
  try {
    file = openSync(path, FLAGS)
  } catch {
    return undefined
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile() || stat.nlink !== 1 || stat.size > limitBytes) return undefined
    const bytes = Buffer.alloc(stat.size)
    return bytes.subarray(0, readSync(file, bytes))
  } catch {
    return undefined
  } finally {
    closeSync(file)
  }
}
