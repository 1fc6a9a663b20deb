import { type Dirent, type Stats, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { type Dir, type FolderHolding, type OpenFile, identityOf } from './dir.ts'
import { PathRefused } from './path-refused.ts'

/** Names of what configures Parley, in any folder: an agent that could write it would decide what runs next time. */
const OWN_NAMES: readonly string[] = ['.parley', 'parley.toml']
/** Below it the environment and the memory of this process can be read. */
const PROCESSES = '/proc'
/** Files that are looked at to tell whether another name of one of them was opened. */
const KNOWN_FILES = 20_000

export const isOwnName = (name: string): boolean => OWN_NAMES.includes(name.toLowerCase())

/** What no tool may touch, in whatever way it is named. */
export interface OutOfReach {
  readonly paths: readonly string[]
  /** What they are, however they are called meanwhile. */
  readonly identities: ReadonlySet<string>
  /** Looks again at what lies at the paths. What once was there stays out of reach under another name. */
  refresh(): void
  /** The same way to files, without those that are out of reach. Throws `PathRefused`. */
  keptFrom(holding: FolderHolding): FolderHolding
  /** Throws `PathRefused` for a file by what the system says about it. */
  checkFile(stats: Stats): void
  /** Throws `PathRefused` for a path without links that is or lies in one of these, whether there is anything or not. */
  checkPath(path: string): void
  /** Throws `PathRefused` where a folder lies in what is out of reach. */
  checkBase(path: string): void
}

/** Folders and files by their paths; `known` is what somebody else found there before. */
export function outOfReach(paths: readonly string[], known: Iterable<string> = []): OutOfReach {
  const all = [...paths, PROCESSES]
  const identities = new Set(known)
  let files: Set<string> | undefined
  const refresh = (): void => {
    files = undefined
    for (const path of all) {
      const found = lookAt(path)
      if (found !== undefined) identities.add(identityOf(found))
    }
  }
  const checkFile = (stats: Stats): void => {
    if (identities.has(identityOf(stats))) throw refused()
    // A file with several names may be one of these under another of its names.
    if (stats.isFile() && stats.nlink > 1 && (files ??= filesOf(paths)).has(identityOf(stats))) throw refused()
  }
  refresh()
  return {
    paths,
    identities,
    refresh,
    checkFile,
    keptFrom: (holding) => ({
      base: (path) => holding.base(path),
      enter: (dir, name) => {
        refuseName(name)
        return checked(holding.enter(dir, name), ({ identity }) => identities.has(identity))
      },
      openFile: (dir, name) => {
        refuseName(name)
        return checkedFile(holding.openFile(dir, name), checkFile)
      },
    }),
    checkPath: (path) => {
      if (paths.some((place) => [place, realOf(place)].some((at) => path === at || path.startsWith(`${at}${sep}`))))
        throw refused()
    },
    checkBase: (path) => {
      for (const folder of withParents(path)) {
        const found = lookAt(folder)
        if (found !== undefined && identities.has(identityOf(found))) throw refused()
      }
    },
  }
}

const refused = (): PathRefused =>
  new PathRefused('protected', "out of reach: Parley's own data, settings and keys are not for the tools of a conversation")

function refuseName(name: string): void {
  if (isOwnName(name)) throw refused()
}

function checked(dir: Dir | undefined, isRefused: (dir: Dir) => boolean): Dir | undefined {
  if (dir === undefined || !isRefused(dir)) return dir
  dir[Symbol.dispose]()
  throw refused()
}

function checkedFile(file: OpenFile | undefined, check: (stats: Stats) => void): OpenFile | undefined {
  try {
    if (file !== undefined) check(file.stats)
    return file
  } catch (error) {
    file?.[Symbol.dispose]()
    throw error
  }
}

/** A path without links; of one that is not there, without links on the way. */
function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return dirname(path) === path ? path : join(realOf(dirname(path)), basename(path))
  }
}

/** Links are followed: what matters is what lies there. */
function lookAt(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

/** The regular files at and below some paths, as far as the bound goes. */
function filesOf(paths: readonly string[]): Set<string> {
  const found = new Set<string>()
  const folders = [...paths]
  for (let folder = folders.shift(), left = KNOWN_FILES; folder !== undefined && left > 0; folder = folders.shift()) {
    for (const entry of entriesOf(folder).slice(0, left)) {
      left -= 1
      const path = join(folder, entry.name)
      if (entry.isDirectory()) folders.push(path)
      else if (entry.isFile()) {
        const stats = lstatSync(path, { throwIfNoEntry: false })
        if (stats !== undefined) found.add(identityOf(stats))
      }
    }
  }
  return found
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

function withParents(path: string): string[] {
  let at: string
  try {
    at = realpathSync(path)
  } catch {
    return []
  }
  const folders = [at]
  while (dirname(at) !== at) folders.push((at = dirname(at)))
  return folders
}
