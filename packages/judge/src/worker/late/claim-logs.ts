import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { JOB_LOGS, type JobLogName } from '@parley/protocol'
import type { StatusLine } from '../../tester.ts'
import type { Claim } from '../held-job.ts'
import type { Log } from '../log.ts'
import { type WaitingBytes, WaitingPieces } from '../waiting-bytes.ts'
import type { LateLogs } from './late-logs.ts'
import { type LeftLogs, type Loss, restOf } from './left-logs.ts'
import { writeAbout } from './log-about.ts'
import { LogFile } from './log-file.ts'
import { LOG_NAMES, ofEachLog } from './log-names.ts'
import { lossLine } from './loss-line.ts'

export interface ClaimLogsParts {
  readonly claim: Claim
  /** The claim's own. */
  readonly jobFolder: string
  readonly late: LateLogs
  readonly lineBytes: number
  /** Of each log so much is left to the new claim. */
  readonly spareBytes: number
  /** Makes the first line of the claim. */
  readonly firstLine: (line: StatusLine) => Buffer
  readonly now: () => number
  readonly log: Log
}

/** What waits in the logs of a claim; at first what earlier claims left, then the word about what they lost. */
export interface ClaimLogs {
  readonly waiting: Readonly<Record<JobLogName, WaitingBytes>>
  /** Whether the claim's first line is said already. */
  readonly hasFirstLine: boolean
  /** Tells when the disk takes no more; at once when it never did. */
  onBroken(told: (error: unknown) => void): void
  onUnreadable(told: (log: JobLogName, bytes: number) => void): void
  /** How much of what earlier claims left has not arrived. */
  earlierLeft(log: JobLogName): number
  close(): void
}

type Pieces = Readonly<Record<JobLogName, readonly Buffer[]>>

/** Opens the logs of a claim on disk, or in memory where there is no disk to write to. Never throws. */
export async function openClaimLogs(parts: ClaimLogsParts): Promise<ClaimLogs> {
  const { claim, jobFolder, late, log } = parts
  const left = late.take(claim.jobId, jobFolder)
  const { pieces, losses } = collect(left, parts)
  const isRemoved = async (): Promise<boolean> => {
    try {
      await late.taken(jobFolder)
      return true
    } catch (error) {
      log('warn', `${claim.jobId}: late logs stay behind: ${String(error)}`)
      return false
    }
  }
  try {
    const logs = inFiles(parts, withLine(pieces, losses, parts))
    await isRemoved()
    return { ...logs, hasFirstLine: losses.length > 0 }
  } catch (error) {
    // What is not written down as taken must be gone before it is sent, or a later judge sends it again.
    const isGone = left.length === 0 || (await isRemoved())
    const told = isGone ? losses : [...losses, ...unsendable(left, pieces)]
    const logs = inMemory(withLine(isGone ? pieces : ofEachLog(() => []), told, parts), error)
    return { ...logs, hasFirstLine: told.length > 0 }
  }
}

/** What of all earlier claims goes up, and what does not. */
function collect(
  left: readonly LeftLogs[],
  { claim, lineBytes, spareBytes }: ClaimLogsParts,
): { pieces: Pieces; losses: Loss[] } {
  const pieces = ofEachLog<Buffer[]>(() => [])
  const losses: Loss[] = []
  for (const one of left)
    for (const log of LOG_NAMES) {
      const roomBytes = JOB_LOGS[log].maxBytes - spareBytes - claim.offsets[log] - bytesOf(pieces[log])
      const rest = restOf(one, log, claim, { roomBytes, lineBytes })
      pieces[log].push(...rest.pieces)
      losses.push(...rest.losses)
    }
  return { pieces, losses }
}

function withLine(pieces: Pieces, losses: readonly Loss[], { firstLine }: ClaimLogsParts): Pieces {
  if (losses.length === 0) return pieces
  return { ...pieces, agent_status: [...pieces.agent_status, firstLine(lossLine(losses))] }
}

/** Ours once `about.json` is there; before that a death leaves what was taken to the next judge. */
function inFiles({ claim, jobFolder, now }: ClaimLogsParts, pieces: Pieces): Omit<ClaimLogs, 'hasFirstLine'> {
  const folder = join(jobFolder, 'logs')
  const files: LogFile[] = []
  const open = (log: JobLogName): LogFile => {
    const file = new LogFile(folder, log, claim.offsets[log])
    files.push(file)
    const bytes = Buffer.concat(pieces[log])
    if (bytes.length > 0) file.add(bytes)
    return file
  }
  const close = (): void => {
    for (const file of files) file.close()
  }
  try {
    const waiting = ofEachLog(open)
    const { jobId: job_id, claimId: claim_id, offsets: base } = claim
    writeAbout(folder, { job_id, claim_id, claim: claim.claim, claimed_at: now(), base })
    return {
      waiting,
      onBroken: (told) => {
        for (const file of files) file.onBroken = told
      },
      onUnreadable: (told) => {
        for (const log of LOG_NAMES) waiting[log].onUnreadable = (bytes) => told(log, bytes)
      },
      earlierLeft: (log) => Math.max(0, bytesOf(pieces[log]) - waiting[log].acked),
      close,
    }
  } catch (error) {
    close()
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

function inMemory(pieces: Pieces, error: unknown): Omit<ClaimLogs, 'hasFirstLine'> {
  const open = (log: JobLogName): WaitingPieces => {
    const waiting = new WaitingPieces()
    for (const piece of pieces[log]) waiting.push(piece)
    return waiting
  }
  return {
    waiting: ofEachLog(open),
    onBroken: (told) => told(error),
    onUnreadable: () => {},
    earlierLeft: () => 0,
    close: () => {},
  }
}

/** What lies on a disk that can neither be read from for certain nor cleared. */
function unsendable(left: readonly LeftLogs[], pieces: Pieces): Loss[] {
  const claim = left.at(-1)?.about.claim ?? 0
  const lost = LOG_NAMES.filter((log) => pieces[log].length > 0)
  return lost.map((log) => ({ claim, log, reason: 'damaged', bytes: bytesOf(pieces[log]), lines: pieces[log].length }))
}

const bytesOf = (pieces: readonly Buffer[]): number => pieces.reduce((sum, piece) => sum + piece.length, 0)
