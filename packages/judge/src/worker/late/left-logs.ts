import { JOB_LOGS, type JobLogName, isJsonObject, parseJson } from '@parley/protocol'
import { join } from 'node:path'
import type { Claim } from '../held-job.ts'
import { type LogAbout, type LostCount, readOwnFile } from './log-about.ts'
import { LOG_NAMES, isLines, logFile, placeFile } from './log-names.ts'
import { type LogPlace, parsePlace, unsentOf } from './log-place.ts'

/**
 * Why a part of a log cannot be sent any more. `doubtful`: it may have arrived. `damaged`: half a line, or none of ours. `full`: the
 * log takes no more. `dropped`: too old, or too much was kept.
 */
export type LossReason = 'doubtful' | 'damaged' | 'full' | 'dropped'

/** A part of a log of an earlier claim that is not sent. */
export interface Loss extends LostCount {
  readonly claim: number
  readonly log: JobLogName
  readonly reason: LossReason
}

/** The logs that an earlier claim left. */
export interface LeftLogs {
  readonly folder: string
  readonly about: LogAbout
}

/** What goes up of a log before the new claim's own words. */
export interface Rest {
  /** Lines, or any bytes where lines have no meaning. */
  readonly pieces: readonly Buffer[]
  readonly losses: readonly Loss[]
}

const NEWLINE = 10
const PLACE_BYTES = 64

/** The part of a log that never arrived, as far as that can be known and it is whole; at most `roomBytes` of it. */
export function restOf(
  { folder, about }: LeftLogs,
  log: JobLogName,
  claim: Pick<Claim, 'offsets' | 'previousClaimId'>,
  limits: { readonly roomBytes: number; readonly lineBytes: number },
): Rest {
  const losses: Loss[] = []
  const lose = (reason: LossReason, lost: LostCount): void => {
    if (lost.bytes > 0) losses.push({ claim: about.claim, log, reason, bytes: lost.bytes, lines: lost.lines })
  }
  const dropped = about.dropped?.[log]
  if (dropped !== undefined) losses.push({ claim: about.claim, log, reason: 'dropped', ...dropped })
  if (about.dropped !== undefined) return { pieces: [], losses }
  const file = readOwnFile(join(folder, logFile(log)), JOB_LOGS[log].maxBytes)
  if (file === undefined) return { pieces: [], losses: [{ claim: about.claim, log, reason: 'damaged', bytes: 0, lines: 0 }] }
  const isNextClaim = claim.previousClaimId === about.claim_id
  const { from, doubtful } = unsentOf(placeOf(folder, about, log, file), file.length, claim.offsets[log], isNextClaim)
  lose('doubtful', counted(file.subarray(from - doubtful, from)))
  const unsent = file.subarray(from)
  const whole = isLines(log) ? wholeLines(unsent, limits.lineBytes) : piecesOf(unsent, limits.lineBytes)
  lose('damaged', difference(counted(unsent), countedAll(whole)))
  const pieces = fitting(whole, limits.roomBytes)
  lose('full', difference(countedAll(whole), countedAll(pieces)))
  return { pieces, losses }
}

/** How much of each log has not arrived for certain; a log of which everything has is left out. */
export function unsentIn({ folder, about }: LeftLogs): NonNullable<LogAbout['dropped']> {
  const unsent: NonNullable<LogAbout['dropped']> = {}
  for (const log of LOG_NAMES) {
    const file = readOwnFile(join(folder, logFile(log)), JOB_LOGS[log].maxBytes)
    if (file === undefined) {
      unsent[log] = { bytes: 0, lines: 0 }
      continue
    }
    const { acked } = placeOf(folder, about, log, file)
    if (acked < file.length) unsent[log] = counted(file.subarray(acked))
  }
  return unsent
}

/** A place that is gone says nothing: all of it may be on its way. */
function placeOf(folder: string, about: LogAbout, log: JobLogName, file: Buffer): LogPlace {
  const bytes = readOwnFile(join(folder, placeFile(log)), PLACE_BYTES)
  const place = bytes === undefined ? undefined : parsePlace(bytes)
  return place ?? { acked: 0, offset: about.base[log], sent: file.length }
}

/** A line that was cut off by a death, and whatever else is not a line of ours, would spoil the line behind it. */
function wholeLines(bytes: Buffer, lineBytes: number): Buffer[] {
  const lines: Buffer[] = []
  for (let from = 0; from < bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, from)
    if (newline === -1) break
    const line = bytes.subarray(from, newline + 1)
    if (line.length <= lineBytes && isJsonObject(parseJson(line.toString('utf8')))) lines.push(line)
    from = newline + 1
  }
  return lines
}

/** The terminal has no lines that must stay whole. */
function piecesOf(bytes: Buffer, pieceBytes: number): Buffer[] {
  const count = Math.ceil(bytes.length / pieceBytes)
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes))
}

/** The first of these pieces, as many as there is room for: a log never has a gap that nobody sees. */
function fitting(pieces: readonly Buffer[], roomBytes: number): readonly Buffer[] {
  let bytes = 0
  const end = pieces.findIndex((piece) => (bytes += piece.length) > roomBytes)
  return end === -1 ? pieces : pieces.slice(0, end)
}

/** Half a line counts as one: it was said. */
function counted(bytes: Buffer): LostCount {
  let lines = 0
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) lines += 1
  return { bytes: bytes.length, lines: bytes.length > 0 && bytes.at(-1) !== NEWLINE ? lines + 1 : lines }
}

const countedAll = (pieces: readonly Buffer[]): LostCount => counted(Buffer.concat(pieces))
const difference = (all: LostCount, part: LostCount): LostCount => ({
  bytes: all.bytes - part.bytes,
  lines: all.lines - part.lines,
})
