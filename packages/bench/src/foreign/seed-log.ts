import * as z from 'zod'
import type { SeedUser } from './seed-user.ts'

export type Log = 'agent_status' | 'terminal'

const Page = z.looseObject({ chunk_b64: z.base64(), next_offset: z.int(), eof: z.boolean() })
const PIECE_BYTES = 1_000

/** All of a log of a job that has ended, read in small pieces. Throws when it is not whole yet. */
export async function readLog(user: SeedUser, id: string, stream: Log): Promise<Buffer> {
  const pieces: Buffer[] = []
  for (let offset = 0; ;) {
    const page = Page.parse(await user.call('job.read_log', { job_id: id, stream, offset, max_bytes: PIECE_BYTES }))
    const bytes = Buffer.from(page.chunk_b64, 'base64')
    if (bytes.length !== page.next_offset - offset) throw new Error(`${stream} jumps from ${offset} to ${page.next_offset}`)
    pieces.push(bytes)
    if (page.eof) return Buffer.concat(pieces)
    if (bytes.length === 0) throw new Error(`${stream} is not whole at ${offset}, but the job has ended`)
    offset = page.next_offset
  }
}

/** The lines of a log, each with the offset after it. */
export function lineEnds(bytes: Buffer): readonly { readonly text: string; readonly offset: number }[] {
  const lines: { text: string; offset: number }[] = []
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(0x0a, start)
    if (end < 0) throw new Error('the last line has no end')
    lines.push({ text: bytes.subarray(start, end).toString('utf8'), offset: end + 1 })
    start = end + 1
  }
  return lines
}
