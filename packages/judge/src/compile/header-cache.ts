import { createHash } from 'node:crypto'
import { chmod, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Cores } from '../box/cores.ts'
import { PLAIN_ENVIRONMENT, type Toolchain, fillCommand } from '../language/toolchain.ts'
import { HEADERS_KEPT, HEADER_BYTES, HEADER_LIMITS } from './compile-limits.ts'

const DRAFT = 'draft-'
const WORDS = { name: 'header', memoryMb: 0 }

/**
 * Precompiled headers of the standard library, one folder each, made when a source first asks for one. That source does not
 * wait: it is compiled without, and the header is made beside it for those to come.
 */
export class HeaderCache {
  readonly #folder: string
  readonly #cores: Cores
  readonly #ready = new Set<string>()
  /** By key. A header that could not be made is not tried again in this life. */
  readonly #making = new Map<string, Promise<void>>()
  readonly #closing = new AbortController()

  private constructor(folder: string, cores: Cores) {
    this.#folder = folder
    this.#cores = cores
  }

  static async open(folder: string, cores: Cores): Promise<HeaderCache> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const cache = new HeaderCache(folder, cores)
    for (const key of await keptHeaders(folder)) cache.#ready.add(key)
    return cache
  }

  /** The folder to look for headers in first, if the source wants the header and it is there. */
  folderFor(toolchain: Toolchain, source: string): string | undefined {
    const header = toolchain.data.build?.header
    if (header === null || header === undefined || !includes(source, header.name)) return undefined
    const key = headerKey(toolchain, header.command)
    if (this.#ready.has(key)) return join(this.#folder, key)
    if (!this.#making.has(key)) this.#making.set(key, this.#make(key, toolchain, header))
    return undefined
  }

  /** Settles when nothing is being made. */
  async settled(): Promise<void> {
    await Promise.all(this.#making.values())
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.settled()
  }

  async #make(
    key: string,
    toolchain: Toolchain,
    header: { name: string; command: readonly [string, ...string[]] },
  ): Promise<void> {
    const draft = join(this.#folder, `${DRAFT}${key}`)
    const to = join(draft, `${header.name}.gch`)
    try {
      await mkdir(dirname(to), { recursive: true })
      if (!(await this.#compile(toolchain, header, to))) return
      await chmod(to, 0o644)
      await rename(draft, join(this.#folder, key))
      this.#ready.add(key)
    } catch {
      // Without the header everything works as well, only slower.
    } finally {
      await rm(draft, { recursive: true, force: true }).catch(() => undefined)
    }
  }

  async #compile(
    toolchain: Toolchain,
    header: { name: string; command: readonly [string, ...string[]] },
    to: string,
  ): Promise<boolean> {
    const held = await this.#cores.one({ owner: null }, this.#closing.signal)
    try {
      const box = await held.place.box('author')
      const outcome = await box.run(
        {
          argv: fillCommand(toolchain, header.command, WORDS),
          environment: PLAIN_ENVIRONMENT,
          files: [{ name: 'header.h', from: { bytes: Buffer.from(`#include <${header.name}>\n`) } }],
          readable: toolchain.readable,
          keep: [{ name: 'header.gch', to, limitBytes: HEADER_BYTES }],
          limits: HEADER_LIMITS,
        },
        this.#closing.signal,
      )
      return outcome.status === 'ok' && outcome.kept.length === 1
    } finally {
      held.release()
    }
  }
}

function includes(source: string, header: string): boolean {
  const at = source.indexOf(header)
  return at > 0 && /#[ \t]*include[ \t]*[<"]$/.test(source.slice(Math.max(0, at - 64), at))
}

function headerKey({ tool, version }: Toolchain, command: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([tool, version, command]))
    .digest('hex')
}

/** The newest ones stay, and nothing half made does. */
async function keptHeaders(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder)
  const whole = await Promise.all(
    names
      .filter((name) => !name.startsWith(DRAFT))
      .map(async (name) => ({ name, madeMs: (await stat(join(folder, name))).mtimeMs })),
  )
  const kept = whole
    .toSorted((a, b) => b.madeMs - a.madeMs)
    .slice(0, HEADERS_KEPT)
    .map(({ name }) => name)
  const gone = names.filter((name) => !kept.includes(name))
  await Promise.all(gone.map((name) => rm(join(folder, name), { recursive: true, force: true })))
  return kept
}
