import { JOB_LIMITS, type JobId } from '@parley/protocol'
import type { Sql, Transaction } from '../database/database.ts'
import { DEFAULT_LOG_MAX_ENTRIES } from '../limits.ts'
import { logSignal } from '../log/head.ts'
import { jobLog } from './job.ts'

const LOGS = [
  ['terminal', JOB_LIMITS.terminalLogBytes],
  ['agent_status', JOB_LIMITS.agentStatusLogBytes],
  ['cases', JOB_LIMITS.casesLogBytes],
  ['transcript', JOB_LIMITS.transcriptLogBytes],
] as const

/** In the same commit as the job: a log that came later could get the caps of any other. */
export async function createLogs(tx: Transaction, id: JobId): Promise<void> {
  await tx.run(CREATE_ALL, namesOf(id))
}

export async function deleteLogs(tx: Transaction, id: JobId): Promise<void> {
  const names = namesOf(id)
  await tx.run(DELETE_ALL, names)
  for (const name of names) tx.signal(logSignal(name))
}

const namesOf = (id: JobId): readonly string[] => LOGS.map(([log]) => jobLog(id, log))

const CREATE_ALL: Sql = `INSERT INTO logs (name, max_bytes, max_entries) VALUES
  ${LOGS.map(([, maxBytes], index) => `($${index + 1}, ${maxBytes}, ${DEFAULT_LOG_MAX_ENTRIES})`).join(', ')}
  ON CONFLICT (name) DO NOTHING`
const DELETE_ALL: Sql = `DELETE FROM logs WHERE name IN (${LOGS.map((_, index) => `$${index + 1}`).join(', ')})`
