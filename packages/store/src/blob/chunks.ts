import { createHash } from 'node:crypto'
import { type Queries, bytes, integer } from '@parley/database'
import { CHUNK_BYTES } from '../limits.ts'
import { CHUNK, CHUNKS, PUT_CHUNK } from './statements.ts'

/** How many rows are in memory at once when all of a content is read. */
const ROWS_PER_READ = 4

/** Writes bytes at the end of a content of `size` bytes; the last row is filled up before a new one starts. */
export async function appendChunks(queries: Queries, content: string, size: number, added: Uint8Array): Promise<void> {
  let number = Math.floor(size / CHUNK_BYTES)
  const filled = size % CHUNK_BYTES
  const last = filled === 0 ? undefined : await queries.get(CHUNK, [content, number])
  const head = last === undefined ? new Uint8Array() : bytes(last, 'bytes').subarray(0, filled)
  const first = added.subarray(0, CHUNK_BYTES - head.length)
  await queries.run(PUT_CHUNK, [content, number, head.length === 0 ? first : Buffer.concat([head, first])])
  for (let at = first.length; at < added.length; at += CHUNK_BYTES) {
    number += 1
    await queries.run(PUT_CHUNK, [content, number, added.subarray(at, at + CHUNK_BYTES)])
  }
}

/** Bytes from `offset` to `end`, which must be within the content. */
export async function readChunks(queries: Queries, content: string, offset: number, end: number): Promise<Uint8Array> {
  if (offset >= end) return new Uint8Array()
  const first = Math.floor(offset / CHUNK_BYTES)
  const rows = await queries.all(CHUNKS, [content, first, Math.floor((end - 1) / CHUNK_BYTES)])
  const pieces = rows.map((row) => {
    const start = integer(row, 'number') * CHUNK_BYTES
    return bytes(row, 'bytes').subarray(Math.max(0, offset - start), Math.max(0, end - start))
  })
  const [only] = pieces
  return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces)
}

/** Hashes the first `size` bytes, a few rows at a time. In between other work of this process has its turn. */
export async function hashChunks(queries: Queries, content: string, size: number): Promise<string> {
  const hash = createHash('sha256')
  const step = ROWS_PER_READ * CHUNK_BYTES
  for (let at = 0; at < size; at += step) {
    hash.update(await readChunks(queries, content, at, Math.min(size, at + step)))
    await breathe()
  }
  return hash.digest('hex')
}

/** Lets other work of this process run. */
export const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
