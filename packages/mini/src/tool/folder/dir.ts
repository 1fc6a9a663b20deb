import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, type Stats } from 'node:fs'
import { join, sep } from 'node:path'
import { PathRefused, systemCode } from './path-refused.ts'

/** Linux: a descriptor that names a thing without opening it, so that neither a pipe nor a device notices. */
const O_PATH = 0o10000000
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** A folder that is held while its children are looked at. Names below it are resolved against what is held, not against a path. */
export interface Dir extends Disposable {
  /** A path of one child, good for as long as the folder is held. The last name is never followed by whoever opens it. */
  at(name: string): string
  /** A path of the folder itself, for listing it. */
  readonly self: string
  /** Device and inode: what it is, however it is called. */
  readonly identity: string
}

/** A regular file that is open for reading. Whoever has it closes it. */
export interface OpenFile extends Disposable {
  readonly fd: number
  readonly stats: Stats
}

/** How folders are held: by descriptor, which no rename can redirect, or by path where the system has nothing better. */
export interface FolderHolding {
  /** Links are followed: this is the folder that the caller chose. */
  base(path: string): Dir
  /** `undefined`: it is no folder (any more). Links are not followed. */
  enter(dir: Dir, name: string): Dir | undefined
  /** `undefined`: it is no regular file (any more). Links are not followed. */
  openFile(dir: Dir, name: string): OpenFile | undefined
}

export const identityOf = ({ dev, ino }: Stats): string => `${dev}:${ino}`

/** What the system says when the thing at a name is not of the kind asked for, or is gone. */
const NOT_THAT = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EMLINK', 'ENXIO'])

function unlessOther<Held>(hold: () => Held): Held | undefined {
  try {
    return hold()
  } catch (error) {
    if (NOT_THAT.has(systemCode(error) ?? '')) return undefined
    throw error
  }
}

const FDS = '/proc/self/fd'

/** `openat` by way of `/proc`: each step is one name below a descriptor, and a link at that name is never followed. */
export const BY_DESCRIPTOR: FolderHolding = {
  base: (path) => heldByDescriptor(openSync(path, O_PATH | O_DIRECTORY)),
  enter: (dir, name) => unlessOther(() => heldByDescriptor(openSync(dir.at(name), O_PATH | O_DIRECTORY | O_NOFOLLOW))),
  openFile: (dir, name) =>
    unlessOther(() => {
      const named = openSync(dir.at(name), O_PATH | O_NOFOLLOW)
      try {
        if (!fstatSync(named).isFile()) return undefined
        return opened(openSync(`${FDS}/${named}`, O_RDONLY | O_NONBLOCK))
      } finally {
        closeSync(named)
      }
    }),
}

/** Looks before every step. Between the look and the step somebody fast can still swap a name. */
export const BY_PATH: FolderHolding = {
  base: (path) => heldByPath(path, lstatSync(join(path, '.'))),
  enter: (dir, name) =>
    unlessOther(() => {
      const stats = lstatSync(dir.at(name))
      return stats.isDirectory() ? heldByPath(dir.at(name), stats) : undefined
    }),
  openFile: (dir, name) =>
    unlessOther(() => {
      if (!lstatSync(dir.at(name)).isFile()) return undefined
      const file = opened(openSync(dir.at(name), O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0)))
      if (file.stats.isFile()) return file
      file[Symbol.dispose]()
      return undefined
    }),
}

/** The best that this machine has. */
export function bestHolding(): FolderHolding {
  return process.platform === 'linux' && existsSync(FDS) ? BY_DESCRIPTOR : BY_PATH
}

function heldByDescriptor(fd: number): Dir {
  const self = `${FDS}/${fd}`
  let isOpen = true
  return {
    self,
    at: (name) => `${self}/${checked(name)}`,
    identity: identityOf(fstatSync(fd)),
    [Symbol.dispose]: () => {
      // Closing twice would close whatever took the number meanwhile.
      if (isOpen) closeSync(fd)
      isOpen = false
    },
  }
}

function heldByPath(path: string, stats: Stats): Dir {
  return { self: path, at: (name) => join(path, checked(name)), identity: identityOf(stats), [Symbol.dispose]: () => {} }
}

function opened(fd: number): OpenFile {
  let isOpen = true
  return {
    fd,
    stats: fstatSync(fd),
    [Symbol.dispose]: () => {
      if (isOpen) closeSync(fd)
      isOpen = false
    },
  }
}

/** Only a single name may be stepped to: several at once would be resolved by the system, without a check of each. */
function checked(name: string): string {
  if (name === '' || name === '.' || name === '..' || name.includes(sep) || /[/\0]/.test(name))
    throw new PathRefused('bad_path', `${JSON.stringify(name)} is not the name of a file`)
  return name
}
