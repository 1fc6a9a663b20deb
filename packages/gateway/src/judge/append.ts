import { type JobId, type ToolOutput, type WrittenLog, wrongArgument } from '@parley/protocol'
import { type AppendOptions, type AppendOutcome, type Store, jobLog } from '@parley/store'
import { readChunk } from '../blob/chunk.ts'
import type { ClaimedJob } from './held-job.ts'

type Appended = ToolOutput<'judge.job.append_terminal'>

/** How often room is asked for in one append: another may have filled what was made. */
const ROOM_TRIES = 3

/** Adds a chunk to one of the job's logs. What stands there already is not written twice. */
export async function appendChunk(
  store: Pick<Store, 'jobs' | 'logs'>,
  { job, fence, action }: ClaimedJob,
  log: WrittenLog,
  { offset, chunk_b64 }: { readonly offset: number; readonly chunk_b64: string },
): Promise<Appended> {
  // With its padding, unlike an upload: nobody compares a hash at the end, and a text that was cut would be kept as it came.
  if (chunk_b64.length % 4 !== 0) throw wrongArgument('chunk_b64', 'is not base64')
  const bytes = readChunk(chunk_b64)
  const entries = bytes.length === 0 ? [] : [bytes]
  const outcome = await appendTo(store, job.id, log, entries, { at: { offset }, fence })
  switch (outcome.kind) {
    case 'appended':
      return { ok: true, next_offset: outcome.offset, written_bytes: bytes.length, action }
    case 'repeated':
      // After this chunk and not at the end of the log: a reader of a file goes on with the byte that follows.
      return { ok: true, next_offset: offset + bytes.length, written_bytes: 0, action }
    case 'mismatch':
      return { ok: false, code: 'offset_mismatch', current_offset: outcome.offset, action }
    case 'full':
    case 'closed':
      return { ok: true, next_offset: outcome.offset, written_bytes: 0, action }
    default:
      return outcome satisfies never
  }
}

/** Appends to a log of a job, and makes room for it where the log's bound and its owner's share allow. */
export async function appendTo(
  { jobs, logs }: { readonly jobs: Pick<Store['jobs'], 'makeRoom'>; readonly logs: Pick<Store['logs'], 'append'> },
  id: JobId,
  log: WrittenLog,
  entries: readonly Uint8Array[],
  options: AppendOptions,
): Promise<AppendOutcome> {
  const size = entries.reduce((sum, entry) => sum + entry.length, 0)
  let outcome = await logs.append(jobLog(id, log), entries, options)
  for (let tries = 0; tries < ROOM_TRIES && outcome.kind === 'full'; tries += 1) {
    if (!(await jobs.makeRoom(id, log, outcome.offset + size))) break
    outcome = await logs.append(jobLog(id, log), entries, options)
  }
  return outcome
}
