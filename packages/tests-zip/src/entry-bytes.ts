import { Readable, pipeline } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'
import type { FileEntry } from './entry-list.ts'
import type { Source } from './source.ts'
import { asRefusal, refuseEntry } from './zip-refused.ts'

const PIECE_BYTES = 128 * 1024

/** What a file of a zip holds, piece by piece. Never more than it declares; the last piece comes only if length and checksum are right. */
export async function* entryBytes(source: Source, entry: FileEntry): AsyncGenerator<Buffer> {
  let size = 0
  let checksum = 0
  try {
    for await (const piece of entry.isDeflated ? inflated(source, entry) : rawBytes(source, entry)) {
      size += piece.length
      if (size > entry.size) throw refuseEntry(entry.path, `says that it has ${entry.size} bytes, but it has more`)
      checksum = crc32(piece, checksum)
      yield piece
    }
  } catch (error) {
    throw asRefusal(error, (cause) => refuseEntry(entry.path, `cannot be unpacked (${cause.message})`, undefined, { cause }))
  }
  if (size < entry.size) throw refuseEntry(entry.path, `says that it has ${entry.size} bytes, but it has only ${size}`)
  if (checksum !== entry.crc32) throw refuseEntry(entry.path, 'is damaged: its checksum is wrong')
}

async function* rawBytes(source: Source, { dataStart, compressedSize }: FileEntry): AsyncGenerator<Buffer> {
  for (let at = 0; at < compressedSize; at += PIECE_BYTES)
    yield await source.read(dataStart + at, Math.min(PIECE_BYTES, compressedSize - at))
}

async function* inflated(source: Source, entry: FileEntry): AsyncGenerator<Buffer> {
  const inflate = createInflateRaw({ chunkSize: PIECE_BYTES })
  // Whoever stops reading destroys the last stream; this passes it on to the first. Errors arrive at the reader below.
  pipeline(Readable.from(rawBytes(source, entry)), inflate, () => undefined)
  for await (const piece of inflate) if (Buffer.isBuffer(piece)) yield piece
}
