import { CompileResult } from '@parley/protocol'
import { mkdir, open, readFile, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'

/** A compiled program on disk. It stays until it is released, however full the cache gets. */
export interface CachedProgram {
  readonly path: string
  readonly result: CompileResult
  readonly release: () => void
}

interface Entry {
  /** Of both files. */
  bytes: number
  pins: number
}

const Meta = z.object({ bytes: z.int(), result: CompileResult })
const PROGRAM = '.bin'
const META = '.json'
const DRAFT = 'draft-'

/**
 * Compiled programs by the hash of all that went into them. An entry is there once its `.json` is: the program is renamed
 * first, so that a crash leaves a program without `.json`, which the next start removes. The folder belongs to one judge.
 */
export class ProgramCache {
  readonly #folder: string
  readonly #limits: { readonly bytes: number; readonly entries: number }
  /** From the longest unused to the last used. */
  readonly #entries: Map<string, Entry>
  #bytes = 0
  #drafts = 0
  /** Files come and go one after the other: what is being removed must not be put anew meanwhile. */
  #turn: Promise<unknown> = Promise.resolve()

  private constructor(folder: string, limits: { bytes: number; entries: number }, entries: Map<string, Entry>) {
    this.#folder = folder
    this.#limits = limits
    this.#entries = entries
    for (const { bytes } of entries.values()) this.#bytes += bytes
  }

  static async open(folder: string, limits: { bytes: number; entries: number }): Promise<ProgramCache> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const cache = new ProgramCache(folder, limits, await scan(folder))
    await cache.#inTurn(() => cache.#shrink())
    return cache
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Where a compiler's output goes before it is an entry. */
  draft(): string {
    this.#drafts += 1
    return join(this.#folder, `${DRAFT}${this.#drafts}`)
  }

  /** The program of this key, or undefined. */
  async get(key: string): Promise<CachedProgram | undefined> {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    const handle = this.#pin(key, entry)
    const [meta, program] = await Promise.all([readMeta(this.#path(key, META)), stat(handle.path).catch(() => undefined)])
    if (meta === undefined || program?.size !== meta.bytes) {
      handle.release()
      await this.#inTurn(() => this.#remove(key, entry))
      return undefined
    }
    const now = new Date()
    // Only the order of eviction after a restart hangs on it.
    utimes(this.#path(key, META), now, now).catch(() => undefined)
    return { ...handle, result: meta.result }
  }

  /** Makes the draft the program of this key. One that fails leaves nothing behind, neither a file nor a hold. */
  async put(key: string, draft: string, result: CompileResult): Promise<CachedProgram> {
    return this.#inTurn(async () => {
      const programBytes = await seal(draft)
      const meta = Buffer.from(JSON.stringify({ bytes: programBytes, result } satisfies z.input<typeof Meta>))
      await this.#place(key, draft, meta)
      // Whoever holds the program that was there holds this one: it is the same entry.
      const entry = this.#entries.get(key) ?? { bytes: 0, pins: 0 }
      // A compiler may say more than the program is large.
      const bytes = programBytes + meta.length
      this.#bytes += bytes - entry.bytes
      entry.bytes = bytes
      const handle = this.#pin(key, entry)
      await this.#shrink()
      return { ...handle, result }
    })
  }

  async #place(key: string, draft: string, meta: Uint8Array): Promise<void> {
    const metaDraft = this.draft()
    try {
      await writeFile(metaDraft, meta)
      await rename(draft, this.#path(key, PROGRAM))
      await rename(metaDraft, this.#path(key, META))
    } catch (error) {
      // Somebody may be about to run the one that was there before.
      const own = this.#entries.has(key) ? [metaDraft] : [metaDraft, this.#path(key, PROGRAM)]
      await Promise.allSettled(own.map((path) => rm(path, { force: true })))
      throw error
    }
  }

  #pin(key: string, entry: Entry): { readonly path: string; readonly release: () => void } {
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    entry.pins += 1
    let held = true
    return {
      path: this.#path(key, PROGRAM),
      release: () => {
        if (held) entry.pins -= 1
        held = false
      },
    }
  }

  async #shrink(): Promise<void> {
    for (const [key, entry] of [...this.#entries]) {
      if (this.#bytes <= this.#limits.bytes && this.#entries.size <= this.#limits.entries) return
      if (entry.pins === 0) await this.#remove(key, entry)
    }
  }

  /** Nobody can take hold of it from now on. One whose files cannot be removed still counts: it is on the disk. */
  async #remove(key: string, entry: Entry): Promise<void> {
    if (this.#entries.get(key) !== entry || entry.pins > 0) return
    this.#entries.delete(key)
    try {
      await rm(this.#path(key, META), { force: true })
      await rm(this.#path(key, PROGRAM), { force: true })
      this.#bytes -= entry.bytes
    } catch {
      this.#entries.set(key, entry)
    }
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const before = this.#turn
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#turn = promise
    try {
      await before
      return await work()
    } finally {
      resolve()
    }
  }

  #path(key: string, ending: string): string {
    return join(this.#folder, key + ending)
  }
}

/** On disk before it gets its name, and readable for the user that programs run as. */
async function seal(path: string): Promise<number> {
  await using file = await open(path, 'r+')
  await file.chmod(0o755)
  await file.sync()
  return (await file.stat()).size
}

async function readMeta(path: string): Promise<z.infer<typeof Meta> | undefined> {
  try {
    return Meta.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch {
    return undefined
  }
}

/** What is whole, the longest unused first; everything else goes. */
async function scan(folder: string): Promise<Map<string, Entry>> {
  const names = await readdir(folder)
  const found: { key: string; bytes: number; usedMs: number }[] = []
  const kept = new Set<string>()
  for (const name of names.filter((candidate) => candidate.endsWith(META))) {
    const key = name.slice(0, -META.length)
    const [meta, metaFile, program] = await Promise.all([
      readMeta(join(folder, name)),
      stat(join(folder, name)),
      stat(join(folder, key + PROGRAM)).catch(() => undefined),
    ])
    if (meta === undefined || program?.size !== meta.bytes) continue
    found.push({ key, bytes: meta.bytes + metaFile.size, usedMs: metaFile.mtimeMs })
    kept.add(name).add(key + PROGRAM)
  }
  await Promise.all(
    names.filter((name) => !kept.has(name)).map((name) => rm(join(folder, name), { recursive: true, force: true })),
  )
  return new Map(found.toSorted((a, b) => a.usedMs - b.usedMs).map(({ key, bytes }) => [key, { bytes, pins: 0 }]))
}
