import { closeSync, constants, existsSync, openSync, readlinkSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import { refusal } from '../../api/error-code.ts'

/** Linux: a descriptor that names a folder without opening it for reading. */
const O_PATH = 0o10000000
const { O_DIRECTORY, O_NOFOLLOW } = constants
const FDS = '/proc/self/fd'

/** A thing below a root, held by its folder: whoever renames or links anything meanwhile does not redirect what is done. */
export interface HeldPath extends Disposable {
  /** Good while it is held. The last name must not be followed by whoever opens it. */
  readonly at: string
  /** Its real path, for showing. */
  readonly real: string
}

/** The folders that may be touched, by their real paths. */
export class Roots {
  readonly #roots: readonly string[]
  constructor(roots: readonly string[]) {
    this.#roots = roots
  }

  /** What is there at the end of all links; fails as the system does where nothing is. */
  async existing(path: string): Promise<HeldPath> {
    return this.#hold(await this.#resolved(path))
  }

  /** A name that may be free, in a folder that is there. A link at the name is not followed. */
  async named(path: string): Promise<HeldPath> {
    const folder = await this.#resolved(dirname(path))
    return this.#hold(join(folder, basename(path)))
  }

  /** Where a write goes: to the end of all links if there is something, else to the name. */
  async target(path: string): Promise<HeldPath> {
    try {
      return await this.existing(path)
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return this.named(path)
      throw error
    }
  }

  async #resolved(path: string): Promise<string> {
    if (this.#roots.length === 0)
      throw refusal('invalidRequest', 'path: this executor was started without --root and touches no files')
    try {
      const real = await realpath(path)
      this.#check(real, path)
      return real
    } catch (error) {
      // What lies outside must not be told apart from what is not there.
      if (error instanceof Error && 'code' in error && typeof error.code === 'string') this.#check(path, path)
      throw error
    }
  }

  #hold(real: string): HeldPath {
    const isRoot = this.#roots.includes(real)
    const folder = isRoot ? real : dirname(real)
    if (!existsSync(FDS)) return { at: real, real, [Symbol.dispose]: () => undefined }
    const fd = openSync(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW)
    try {
      // A folder on the way may have been replaced by a link since: what counts is what is held.
      this.#check(readlinkSync(`${FDS}/${fd}`), real)
    } catch (error) {
      closeSync(fd)
      throw error
    }
    return {
      at: isRoot ? `${FDS}/${fd}/.` : `${FDS}/${fd}/${basename(real)}`,
      real,
      [Symbol.dispose]: () => closeSync(fd),
    }
  }

  #check(real: string, shown: string): void {
    if (!this.#roots.some((root) => real === root || real.startsWith(root === sep ? sep : root + sep)))
      throw refusal('invalidRequest', `path: ${shown} is outside of the roots of this executor`)
  }
}
