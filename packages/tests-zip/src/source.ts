import { asError, ToolError } from '@parley/protocol'
import type { Blobs } from '@parley/store'
import { RandomAccessReader } from 'yauzl'

/** Bytes that can be read from anywhere. */
export interface Source {
  readonly size: number
  /** Exactly `length` bytes; both ends must be within the source. */
  read(offset: number, length: number): Promise<Buffer>
}

/** The blob's own rows; reading a part of one costs as much as reading it whole. */
const WINDOW_BYTES = 1024 * 1024
/** One for the list at the end of the zip, one for the entry that is being read. */
const WINDOWS_KEPT = 2

export function bufferSource(bytes: Buffer): Source {
  return { size: bytes.length, read: (offset, length) => Promise.resolve(bytes.subarray(offset, offset + length)) }
}

/** A stored blob, of which two windows are in memory at most. */
export function blobSource(blobs: Pick<Blobs, 'read'>, sha256: string, size: number): Source {
  const windows = new Map<number, Buffer>()
  const windowAt = async (number: number): Promise<Buffer> => {
    const kept = windows.get(number)
    if (kept !== undefined) return kept
    const page = await blobs.read(sha256, number * WINDOW_BYTES, WINDOW_BYTES)
    if (page === undefined) throw new ToolError('not_found', `there is no blob ${sha256} any more`, { field: 'tests_blob' })
    const bytes = Buffer.from(page.bytes.buffer, page.bytes.byteOffset, page.bytes.byteLength)
    const [oldest] = windows.keys()
    if (oldest !== undefined && windows.size >= WINDOWS_KEPT) windows.delete(oldest)
    windows.set(number, bytes)
    return bytes
  }
  return {
    size,
    async read(offset, length) {
      const pieces: Buffer[] = []
      for (let at = offset; at < offset + length;) {
        const number = Math.floor(at / WINDOW_BYTES)
        const start = at - number * WINDOW_BYTES
        const piece = (await windowAt(number)).subarray(start, start + offset + length - at)
        if (piece.length === 0) throw new RangeError(`the blob ends before byte ${at}`)
        pieces.push(piece)
        at += piece.length
      }
      const [only] = pieces
      return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces)
    },
  }
}

/** A source as the zip reader wants it. */
export class SourceReader extends RandomAccessReader {
  readonly #source: Source

  constructor(source: Source) {
    super()
    this.#source = source
  }

  override read(buffer: Buffer, offset: number, length: number, position: number, done: (error: Error | null) => void): void {
    if (position < 0 || position + length > this.#source.size) {
      setImmediate(done, new RangeError('the zip points beyond its own end'))
      return
    }
    // Out of the promise: a fault of the reader must not end as one of the source, and others get their turn.
    this.#source.read(position, length).then(
      (bytes) => {
        bytes.copy(buffer, offset)
        setImmediate(done, null)
      },
      (error: unknown) => setImmediate(done, asError(error)),
    )
  }
}
