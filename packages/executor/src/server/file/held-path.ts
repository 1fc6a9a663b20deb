import { readlink } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, parse, sep } from 'node:path'
import { refusal } from '../../api/error-code.ts'
import { HeldFolder, systemCode, systemFailure } from './held-folder.ts'

/** As Linux has it. */
const MAX_LINKS = 40

/** A thing below a root, held by its folder: whoever renames or links anything meanwhile does not redirect what is done. */
export interface HeldPath extends Disposable {
  /** Good while it is held. The last name must not be followed by whoever opens it. */
  readonly at: string
  /** Its real path, for showing. */
  readonly real: string
  /** Whether the path that was asked for ends with a link. */
  readonly isLink: boolean
}

/** A name in a folder that is below a root. `.` is the folder itself. */
interface Place {
  readonly folder: HeldFolder
  readonly name: string
  readonly isLink: boolean
}

/** The folders that may be touched, by their real paths. */
export class Roots {
  readonly #roots: readonly string[]
  constructor(roots: readonly string[]) {
    this.#roots = roots
  }

  /** What is there at the end of all links; fails as the system does where nothing is. */
  async existing(path: string): Promise<HeldPath> {
    return held(await this.#walk(path))
  }

  /** A name that may be free, in a folder that is there. A link at the name is not followed. */
  async named(path: string): Promise<HeldPath> {
    const name = basename(path)
    const { folder } = await this.#walk(`${dirname(path)}${sep}.`, path)
    if (name !== '') return held({ folder, name, isLink: false })
    // The top of all lies in no folder.
    folder[Symbol.dispose]()
    throw outside(path)
  }

  /** Where a write goes: to the end of all links if there is something, else to the name. */
  async target(path: string): Promise<HeldPath> {
    try {
      return await this.existing(path)
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return this.named(path)
      throw error
    }
  }

  /**
   * Name by name, each looked at in a folder that is held, so that nobody can put a link where there was none. Not by `realpath`: it does not
   * say where it failed, and what lies outside must not be told apart from what is not there.
   */
  async #walk(path: string, shown = path): Promise<Place> {
    if (this.#roots.length === 0)
      throw refusal('invalidRequest', 'path: this executor was started without --root and touches no files')
    const start = this.#start(path)
    const names = path.slice(start.length).split(sep)
    let folder = await HeldFolder.open(start)
    let name = '.'
    let links = 0
    let isLink = false
    const goTo = (next: HeldFolder): void => {
      folder[Symbol.dispose]()
      folder = next
      name = '.'
    }
    try {
      for (let next = names.shift(); next !== undefined; next = names.shift()) {
        if (next === '' || next === '.') continue
        name = next
        const link = name === '..' ? undefined : await linkAt(folder.at(name))
        if (link !== undefined) {
          links += 1
          if (links > MAX_LINKS) throw systemFailure('ELOOP')
          // Nothing of the path is left: it ends here, and what follows is the link's.
          isLink ||= names.length === 0
          const from = isAbsolute(link) ? this.#start(link) : ''
          if (from !== '') goTo(await HeldFolder.open(from))
          names.unshift(...link.slice(from.length).split(sep))
          continue
        }
        // A root is held by itself: the folder it lies in is not ours.
        const isLast = names.length === 0 && name !== '..' && !this.#roots.includes(join(folder.real, name))
        if (!isLast) goTo(await folder.inner(name))
      }
      if (!this.#holds(folder.real)) throw outside(shown)
      return { folder, name, isLink }
    } catch (error) {
      using _left = folder
      if (systemCode(error) !== undefined && !this.#holds(join(folder.real, name))) throw outside(shown)
      throw error
    }
  }

  /** Where to begin: there are no links on the way to a root, and if there are by now, what counts is where the folder is that is held. */
  #start(path: string): string {
    return this.#rootOf(path) ?? parse(path).root
  }

  #holds(real: string): boolean {
    return this.#rootOf(real) !== undefined
  }

  #rootOf(path: string): string | undefined {
    return this.#roots.find((root) => path === root || path.startsWith(root === sep ? sep : root + sep))
  }
}

function held({ folder, name, isLink }: Place): HeldPath {
  return { at: folder.at(name), real: join(folder.real, name), isLink, [Symbol.dispose]: () => folder[Symbol.dispose]() }
}

/** What a link says; nothing where something else is. Fails where nothing is. */
async function linkAt(at: string): Promise<string | undefined> {
  try {
    return await readlink(at)
  } catch (error) {
    if (systemCode(error) === 'EINVAL') return undefined
    throw error
  }
}

function outside(shown: string): Error {
  return refusal('invalidRequest', `path: ${shown} is outside of the roots of this executor`)
}
