import { type Stats, lstatSync, readlinkSync } from 'node:fs'
import { isAbsolute, parse, sep } from 'node:path'
import type { Dir, FolderHolding } from './dir.ts'
import { PathRefused, refusedBySystem, systemCode } from './path-refused.ts'

/** Links in one path. */
const LINKS = 40
/** Times that a name may turn into something else between two looks at it. */
const UNSTEADY = 100

export interface Start {
  readonly holding: FolderHolding
  readonly base: string
  /** Other names of the base: an absolute path or link that begins with one of them is inside. */
  readonly aliases: readonly string[]
}

/** Where a path led. */
export interface Walked extends Disposable {
  /** Every folder from the base to the one that holds the last name, or to the folder itself. */
  readonly dirs: readonly Dir[]
  /** The folder that holds `name`; for a folder: the folder itself. */
  readonly dir: Dir
  readonly kind: 'folder' | 'file' | 'link' | 'other' | 'none'
  /** Null for a folder. */
  readonly name: string | null
  /** For `none`: names of folders that would have to be made before `name`. */
  readonly missing: readonly string[]
  /** Names below the base with all links resolved. */
  readonly names: readonly string[]
  readonly stats: Stats | undefined
}

/**
 * Walks down from the base one name at a time. A link is read and walked in turn, from the folder that was held when it
 * was found, so no path that this answers ever left the base, whatever is renamed meanwhile.
 */
export function walk(start: Start, path: string, lastLink: 'follow' | 'keep'): Walked {
  const dirs = new DisposableStack()
  const held: Dir[] = []
  const hold = (dir: Dir): void => void held.push(dirs.use(dir))
  try {
    hold(start.holding.base(start.base))
    const found = new Walk(start, path, lastLink, held, hold).run()
    const [first] = held
    const dir = held.at(-1) ?? first
    if (dir === undefined) throw new TypeError('a walk ended nowhere')
    return { ...found, dirs: held, dir, [Symbol.dispose]: () => dirs[Symbol.dispose]() }
  } catch (error) {
    dirs[Symbol.dispose]()
    throw refusedBySystem(path, error)
  }
}

type Found = Pick<Walked, 'kind' | 'name' | 'missing' | 'names' | 'stats'>

class Walk {
  readonly #start: Start
  readonly #path: string
  readonly #lastLink: 'follow' | 'keep'
  readonly #held: Dir[]
  readonly #hold: (dir: Dir) => void
  #ahead: string[]
  #names: string[] = []
  #links = 0
  #unsteady = 0

  constructor(start: Start, path: string, lastLink: 'follow' | 'keep', held: Dir[], hold: (dir: Dir) => void) {
    this.#start = start
    this.#path = path
    this.#lastLink = lastLink
    this.#held = held
    this.#hold = hold
    this.#ahead = namesOf(isAbsolute(path) ? this.#below(path, `${path} is outside the working folder`) : path)
  }

  run(): Found {
    for (;;) {
      const name = this.#ahead.shift()
      if (name === undefined) return this.#at('folder', null, undefined)
      if (name === '..') this.#up()
      else {
        const found = this.#step(name)
        if (found !== undefined) return found
      }
    }
  }

  #step(name: string): Found | undefined {
    const stats = lookAt(this.#top(), name)
    const isLast = this.#ahead.length === 0
    if (stats === undefined) return this.#none(name)
    if (stats.isSymbolicLink()) {
      if (isLast && this.#lastLink === 'keep') return this.#at('link', name, stats)
      this.#follow(name)
      return undefined
    }
    if (!stats.isDirectory()) {
      if (!isLast) throw this.#refuse('wrong_kind', `${this.#shown(name)} is not a folder`)
      return this.#at(stats.isFile() ? 'file' : 'other', name, stats)
    }
    const entered = this.#start.holding.enter(this.#top(), name)
    if (entered === undefined) {
      this.#again(name)
      return undefined
    }
    this.#hold(entered)
    this.#names.push(name)
    return undefined
  }

  #none(name: string): Found {
    if (this.#ahead.includes('..')) throw this.#refuse('missing', `${this.#shown(name)} does not exist`)
    const all = [name, ...this.#ahead]
    const last = all.pop() ?? name
    return { kind: 'none', name: last, missing: all, names: [...this.#names, ...all, last], stats: undefined }
  }

  #follow(name: string): void {
    if (++this.#links > LINKS) throw this.#refuse('unsteady', 'there are too many symbolic links on the way')
    const target = readLink(this.#top(), name)
    if (target === undefined) return this.#again(name)
    if (isAbsolute(target)) {
      const rest = this.#below(target, `${this.#shown(name)} is a symbolic link to the outside`)
      while (this.#held.length > 1) this.#leave()
      this.#ahead = [...namesOf(rest), ...this.#ahead]
      return
    }
    this.#ahead = [...namesOf(target), ...this.#ahead]
  }

  #up(): void {
    if (this.#held.length > 1) this.#leave()
    // At the top of everything `..` is the top itself; any other base must not be left.
    else if (!isTop(this.#start.base)) throw this.#refuse('outside', 'it leads out of the working folder')
  }

  #leave(): void {
    // Closed with the walk: the stack that disposes of it holds it too.
    this.#held.pop()?.[Symbol.dispose]()
    this.#names.pop()
  }

  /** It became something else between two looks: look again. */
  #again(name: string): void {
    if (++this.#unsteady > UNSTEADY) throw this.#refuse('unsteady', 'it changes all the time')
    this.#ahead.unshift(name)
  }

  #below(path: string, why: string): string {
    const { base, aliases } = this.#start
    if (isTop(base)) return path.slice(base.length)
    const inside = [base, ...aliases].find((root) => path === root || path.startsWith(`${root}${sep}`))
    if (inside === undefined) throw this.#refuse('outside', why)
    return path.slice(inside.length)
  }

  #top(): Dir {
    const dir = this.#held.at(-1)
    if (dir === undefined) throw new TypeError('a walk is nowhere')
    return dir
  }

  #at(kind: Walked['kind'], name: string | null, stats: Stats | undefined): Found {
    return { kind, name, missing: [], names: name === null ? this.#names : [...this.#names, name], stats }
  }

  #shown(name: string): string {
    return [...this.#names, name].join('/')
  }

  #refuse(code: PathRefused['code'], why: string): PathRefused {
    return new PathRefused(code, `${this.#path}: ${why}`)
  }
}

function lookAt(dir: Dir, name: string): Stats | undefined {
  return lstatSync(dir.at(name), { throwIfNoEntry: false })
}

function readLink(dir: Dir, name: string): string | undefined {
  try {
    return readlinkSync(dir.at(name))
  } catch (error) {
    if (systemCode(error) === 'EINVAL' || systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}

const SEPARATOR = sep === '/' ? '/' : /[\\/]/

function namesOf(path: string): string[] {
  return path.split(SEPARATOR).filter((name) => name !== '' && name !== '.')
}

/** Whether there is nothing above it. */
export function isTop(path: string): boolean {
  return parse(path).root === path
}
