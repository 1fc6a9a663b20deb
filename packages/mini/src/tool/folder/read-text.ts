import { readSync, type Stats } from 'node:fs'
import { type Fingerprint, fingerprintOpen } from './fingerprint.ts'
import type { Folder } from './folder.ts'
import { PathRefused } from './path-refused.ts'
import type { Walked } from './walk.ts'

export interface ReadText {
  readonly content: string
  readonly seen: Fingerprint
  readonly stats: Stats
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** All of a text file at a place that was walked to. Throws `PathRefused` for anything that is not one. */
export function readText(folder: Folder, walked: Walked, path: string, limitBytes: number): ReadText {
  using file = walked.name === null ? undefined : folder.holding.openFile(walked.dir, walked.name)
  if (file === undefined) throw new PathRefused('wrong_kind', `${path} is not a regular file`)
  if (file.stats.size > limitBytes) throw new PathRefused('too_large', `${path} has more than ${limitBytes} bytes`)
  const bytes = readAll(file.fd, limitBytes)
  if (bytes === undefined) throw new PathRefused('too_large', `${path} has more than ${limitBytes} bytes`)
  if (bytes.includes(0)) throw new PathRefused('wrong_kind', `${path} is binary`)
  try {
    return { content: UTF8.decode(bytes), seen: fingerprintOpen(file.fd), stats: file.stats }
  } catch (error) {
    throw new PathRefused('wrong_kind', `${path} is not UTF-8`, { cause: error })
  }
}

const CHUNK_BYTES = 64 * 1024

/** `undefined`: it has more than the bound. Some files say that they have no bytes at all and have some. */
export function readAll(fd: number, limitBytes: number): Buffer | undefined {
  const chunks: Buffer[] = []
  for (let total = 0; ;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    const size = readSync(fd, chunk, 0, CHUNK_BYTES, null)
    if (size === 0) return Buffer.concat(chunks)
    total += size
    if (total > limitBytes) return undefined
    chunks.push(chunk.subarray(0, size))
  }
}
