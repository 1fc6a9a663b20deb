import { JOB_LOGS, type JobId, JobLogName, UserId, type WrittenLog } from '@parley/protocol'
import { type Sql, type Transaction, integer, parsedOrNull, textOrNull } from '@parley/database'
import { DEFAULT_LOG_MAX_ENTRIES } from '../../limits.ts'
import { logSignal } from '../../log/head.ts'
import { lockShare, usedBytes } from '../../share/steps.ts'
import { jobLog } from './job.ts'
import { OWNER_OF } from './statements.ts'

const KIB = 1024
const LOGS: readonly WrittenLog[] = [...JobLogName.options, 'transcript']
/**
 * A log's room is its cap, and counts in its owner's share. It is made in pieces, so that not every append has to wait for others
 * of the same owner: so much at first, then as much as there is, then so much at a time.
 */
const LOG_ROOM_BYTES = 4 * KIB
const LOG_STEP_BYTES = KIB * KIB
/** What all logs of a new job have together. */
export const FIRST_ROOM_BYTES = LOGS.length * LOG_ROOM_BYTES

/** In the same commit as the job: a log that came later could get the caps of any other. */
export async function createLogs(tx: Transaction, id: JobId): Promise<void> {
  await tx.run(CREATE_ALL, namesOf(id))
}

/** Raises a log's cap, if what it needs fits the log's own bound and the owner's share; by what is needed alone where more does not. */
export async function makeRoom(tx: Transaction, id: JobId, log: WrittenLog, endBytes: number): Promise<boolean> {
  const { maxBytes } = JOB_LOGS[log]
  if (endBytes > maxBytes) return false
  const owner = await tx.get(OWNER_OF, [id])
  if (owner === undefined) return false
  const ownerId = parsedOrNull(UserId, textOrNull(owner, 'owner_id'))
  const bounds = await lockShare(tx, ownerId)
  const row = await tx.get(ROOM, [jobLog(id, log)])
  if (row === undefined) return false
  const there = integer(row, 'max_bytes')
  // Somebody else has made it meanwhile.
  if (endBytes <= there) return true
  const ample = Math.min(maxBytes, Math.max(endBytes, there + Math.min(Math.max(there, LOG_ROOM_BYTES), LOG_STEP_BYTES)))
  const left = bounds.bytes - (await usedBytes(tx, ownerId))
  const room = ample - there <= left ? ample : endBytes
  if (room - there > left) return false
  if ((await tx.run(ADD_KEPT, [id, room - there])) === 0) return false
  await tx.run(SET_ROOM, [jobLog(id, log), room])
  return true
}

export async function deleteLogs(tx: Transaction, id: JobId): Promise<void> {
  const names = namesOf(id)
  await tx.run(DELETE_ALL, names)
  for (const name of names) tx.signal(logSignal(name))
}

const namesOf = (id: JobId): readonly string[] => LOGS.map((log) => jobLog(id, log))

const CREATE_ALL: Sql = `INSERT INTO logs (name, max_bytes, max_entries) VALUES
  ${LOGS.map((_, index) => `($${index + 1}, ${LOG_ROOM_BYTES}, ${DEFAULT_LOG_MAX_ENTRIES})`).join(', ')}
  ON CONFLICT (name) DO NOTHING`
const DELETE_ALL: Sql = `DELETE FROM logs WHERE name IN (${LOGS.map((_, index) => `$${index + 1}`).join(', ')})`
const ROOM: Sql = 'SELECT max_bytes FROM logs WHERE name = $1'
const SET_ROOM: Sql = 'UPDATE logs SET max_bytes = $2 WHERE name = $1'
const ADD_KEPT: Sql = 'UPDATE jobs SET kept_bytes = kept_bytes + $2 WHERE id = $1'
