import { type Wait } from '@parley/access'
import type { JobId, JobLogName, JobOffsets } from '@parley/protocol'
import { type Logs, type Store, jobLog } from '@parley/store'

const NEWLINE = 10

/** Where each log of a job ends now. */
export async function logEnds({ logs }: Pick<Store, 'logs'>, id: JobId): Promise<JobOffsets> {
  const end = async (name: JobLogName) => (await logs.end(jobLog(id, name))).offset
  const [terminal, agent_status, cases] = await Promise.all([end('terminal'), end('agent_status'), end('cases')])
  return { terminal, agent_status, cases }
}

/** Bytes of a log from an offset on, at most so many, across its entries; waits for the first of them where it is told to. */
export async function readLog(logs: Logs, name: string, offset: number, maxBytes: number, wait?: Wait): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let size = 0
  while (size < maxBytes) {
    const from = { offset: offset + size }
    const { entries } = await logs.read(name, { from, maxBytes: maxBytes - size, ...(size === 0 ? wait : {}) })
    const gained = entries.reduce((sum, { bytes }) => sum + bytes.length, 0)
    // Also where entries without a byte came: the next read would bring them again.
    if (gained === 0) break
    pieces.push(...entries.map(({ bytes }) => bytes))
    size += gained
  }
  return Buffer.concat(pieces).subarray(0, maxBytes)
}

/** The last lines of a log as text, at most so many bytes. What was cut begins with a whole line, if there is one. */
export async function readTail(logs: Logs, name: string, maxBytes: number): Promise<string> {
  const { offset: end } = await logs.end(name)
  const start = Math.max(0, end - maxBytes)
  if (start === 0) return (await readLog(logs, name, 0, maxBytes)).toString('utf8')
  // With the byte before: it may be the end of a line, and then nothing has to go.
  const bytes = await readLog(logs, name, start - 1, maxBytes + 1)
  const newline = bytes.indexOf(NEWLINE)
  if (newline !== -1) return bytes.toString('utf8', newline + 1)
  let from = 1
  while (from < bytes.length && isContinuation(bytes[from])) from += 1
  return bytes.toString('utf8', from)
}

/** A byte in the middle of a UTF-8 character. */
const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80
