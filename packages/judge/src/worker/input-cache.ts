import { createHash, hash } from 'node:crypto'
import { constants, copyFileSync, createReadStream, linkSync, readFileSync, statSync } from 'node:fs'
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

/** Scanning the whole cache for every file would cost more than it saves; this share may come in between. */
const SCAN_SHARE = 16
/** A download that a dead judge left half done. */
const STALE_PART_MS = 60 * 60_000
/** When a file was used need not be known better than this. */
const USED_STEP_MS = 10 * 60_000
/** Most inputs are small. Reading one of those at once takes a tenth of what handing it to another thread does. */
const SMALL_BYTES = 64 * 1024
/** A file counts as at least so much: however small they are, there are only so many, and a look at all of them stays cheap. */
const FILE_BYTES = 64 * 1024
const PART = '.part'

/**
 * Inputs by their hash, for the next job that has the same. Shared by the judges of one work folder: files appear whole
 * by a rename, are checked at every use, and the ones longest unused go first.
 */
export class InputCache {
  readonly #folder: string
  readonly #limitBytes: number
  readonly #now: () => number
  #sinceScan = Number.POSITIVE_INFINITY
  #nextPart = 1
  readonly #owner: string

  constructor({
    folder,
    limitBytes,
    now,
    owner,
  }: {
    readonly folder: string
    readonly limitBytes: number
    readonly now: () => number
    readonly owner: string
  }) {
    this.#folder = folder
    this.#limitBytes = limitBytes
    this.#now = now
    this.#owner = owner
  }

  async open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    await this.#prune()
  }

  /** Puts the file there if the cache has it, whole and unharmed. */
  async take(sha256: string, size: number, to: string): Promise<boolean> {
    const kept = join(this.#folder, sha256)
    try {
      const found = statSync(kept, { throwIfNoEntry: false })
      if (found === undefined) return false
      const actual = size <= SMALL_BYTES ? hash('sha256', readFileSync(kept)) : await hashOf(kept)
      if (found.size !== size || actual !== sha256) {
        await rm(kept, { force: true })
        return false
      }
      linkOrCopy(kept, to)
      const now = this.#now()
      if (found.mtimeMs < now - USED_STEP_MS) await utimes(kept, new Date(now), new Date(now))
      return true
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return false
      throw error
    }
  }

  /** Where a download may be written before `keep`. */
  partPath(): string {
    return join(this.#folder, `${this.#owner}-${this.#nextPart++}${PART}`)
  }

  /** Moves a download, already checked against its hash, into the cache and puts it there too. */
  async keep(part: string, sha256: string, size: number, to: string): Promise<void> {
    linkOrCopy(part, to)
    await rename(part, join(this.#folder, sha256))
    this.#sinceScan += Math.max(size, FILE_BYTES)
    if (this.#sinceScan > this.#limitBytes / SCAN_SHARE) await this.#prune()
  }

  async #prune(): Promise<void> {
    this.#sinceScan = 0
    const files: { path: string; size: number; usedAt: number }[] = []
    for (const name of await readdir(this.#folder)) {
      const path = join(this.#folder, name)
      const found = await stat(path).catch(() => undefined)
      if (found === undefined) continue
      if (!name.endsWith(PART)) files.push({ path, size: found.size, usedAt: found.mtimeMs })
      else if (found.mtimeMs < this.#now() - STALE_PART_MS) await rm(path, { force: true })
    }
    files.sort((a, b) => b.usedAt - a.usedAt)
    let bytes = 0
    for (const { path, size } of files) {
      bytes += Math.max(size, FILE_BYTES)
      if (bytes > this.#limitBytes) await rm(path, { force: true })
    }
  }
}

/** A link where the file system allows it: the cache and the job share the bytes, and neither ever writes to them again. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'EEXIST')) throw error
    copyFileSync(from, to, constants.COPYFILE_EXCL)
  }
}

async function hashOf(path: string): Promise<string> {
  const hashed = createHash('sha256')
  await pipeline(createReadStream(path), hashed)
  return hashed.digest('hex')
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
