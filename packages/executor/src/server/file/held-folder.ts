import { closeSync, constants, existsSync, open, readlinkSync } from 'node:fs'
import { lstat, readdir, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Linux: a descriptor that names a folder without opening it for reading. */
const O_PATH = 0o10000000
const { O_DIRECTORY, O_NOFOLLOW } = constants
const FDS = '/proc/self/fd'
const HAS_FDS = existsSync(FDS)
const openFd = promisify(open)

/**
 * A folder that is held: whoever renames or links anything meanwhile does not redirect what is done in it. Where the system has no
 * paths for descriptors it is a path like any other.
 */
export class HeldFolder implements Disposable {
  readonly #fd: number | undefined
  readonly #path: string
  private constructor(fd: number | undefined, path: string) {
    this.#fd = fd
    this.#path = path
  }

  /** A link is not a folder: it fails as a file does. */
  static async open(at: string | Buffer): Promise<HeldFolder> {
    if (HAS_FDS) {
      const fd = await openFd(at, O_PATH | O_DIRECTORY | O_NOFOLLOW)
      return new HeldFolder(fd, `${FDS}/${fd}`)
    }
    if (!(await lstat(at)).isDirectory()) throw systemFailure('ENOTDIR')
    return new HeldFolder(undefined, at.toString())
  }

  /** The path of a name in it, good while it is held. The last name must not be followed by whoever opens it. */
  at(name: string): string {
    return `${this.#path}/${name}`
  }

  /** The folder of this name in it, held as well. */
  async inner(name: string): Promise<HeldFolder> {
    return HeldFolder.open(this.#fd === undefined ? join(this.#path, name) : this.at(name))
  }

  /** Where it lies now, whatever it was found by. */
  get real(): string {
    return this.#fd === undefined ? this.#path : readlinkSync(this.#path)
  }

  [Symbol.dispose](): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
  }
}

/**
 * A folder with all that is in it. Node's own `rm` lists folders by their paths: one that is swapped for a link meanwhile would have it
 * remove what the link leads to.
 */
export async function removeTree(at: string | Buffer): Promise<void> {
  {
    using folder = await HeldFolder.open(at)
    // As bytes: a name need not be text.
    for (const entry of await readdir(folder.at('.'), { withFileTypes: true, encoding: 'buffer' })) {
      const child = Buffer.concat([Buffer.from(folder.at('')), entry.name])
      await (entry.isDirectory() ? removeTree(child) : unlink(child)).catch((error: unknown) => {
        // Somebody else was faster.
        if (systemCode(error) !== 'ENOENT') throw error
      })
    }
  }
  await rmdir(at)
}

export function systemFailure(code: string): Error {
  return Object.assign(new Error(code), { code })
}

/** The system's name of what went wrong; nothing if it was not the system. */
export function systemCode(error: unknown): string | undefined {
  // Refusals have codes too, but those are numbers.
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
