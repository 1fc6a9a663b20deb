import { type Dirent, lstatSync, opendirSync } from 'node:fs'
import { TOOL_BOUNDS } from '../bounds.ts'
import type { Dir, FolderHolding } from './dir.ts'
import { PathRefused, systemCode } from './path-refused.ts'

export type EntryKind = 'file' | 'folder' | 'link' | 'other'

export interface TreeEntry {
  /** Below the folder where the walk began. */
  readonly path: string
  readonly name: string
  readonly kind: EntryKind
  /** The folder that holds it; good until the next entry is asked for. */
  readonly dir: Dir
  /** For a folder: why its entries do not follow. */
  readonly closed: 'skipped' | 'too deep' | 'unreadable' | 'out of reach' | null
}

export interface TreeOptions {
  readonly holding: FolderHolding
  readonly depth: number
  /** Folders by name that are shown but not entered. */
  readonly skipped: ReadonlySet<string>
}

/** What a walk over a tree had to leave out. */
export interface TreeCount {
  visited: number
  /** Entries of folders that have more than the bound. */
  overfull: number
}

/** Folders of git and of installed packages: they are large and rarely meant, so they are entered only when asked for by name. */
export const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules'])

/** Entries below a folder, sorted by name, each folder before what is in it. Links are never followed. Whoever stops early stops the walk. */
export function* tree(dir: Dir, options: TreeOptions, count: TreeCount, below = ''): Generator<TreeEntry> {
  for (const { name, kind } of entriesOf(dir, count)) {
    if (++count.visited > TOOL_BOUNDS.visitedEntries) return
    const path = below === '' ? name : `${below}/${name}`
    if (kind !== 'folder') {
      yield { path, name, kind, dir, closed: null }
      continue
    }
    const closed = options.skipped.has(name) ? 'skipped' : options.depth <= 1 ? 'too deep' : null
    if (closed !== null) {
      yield { path, name, kind, dir, closed }
      continue
    }
    const found = enterOr(options.holding, dir, name)
    if (typeof found === 'string') {
      yield { path, name, kind, dir, closed: found }
      continue
    }
    using entered = found
    yield { path, name, kind, dir, closed: null }
    yield* tree(entered, { ...options, depth: options.depth - 1 }, count, path)
  }
}

interface Entry {
  readonly name: string
  readonly kind: EntryKind
}

function entriesOf(dir: Dir, count: TreeCount): Entry[] {
  const entries: Entry[] = []
  try {
    using listing = opendirSync(dir.self, { bufferSize: 256 })
    for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) {
      if (entries.length >= TOOL_BOUNDS.folderEntries) {
        count.overfull++
        break
      }
      entries.push({ name: entry.name, kind: kindOf(entry, dir) })
    }
  } catch (error) {
    // A folder that went away or may not be read has no entries for us.
    if (systemCode(error) === undefined) throw error
  }
  return entries.sort((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0))
}

function kindOf(entry: Dirent, dir: Dir): EntryKind {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'folder'
  if (entry.isSymbolicLink()) return 'link'
  if (entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice()) return 'other'
  // Some file systems do not say in the listing what an entry is.
  const stats = lstatSync(dir.at(entry.name), { throwIfNoEntry: false })
  return stats === undefined || stats.isFile()
    ? 'file'
    : stats.isDirectory()
      ? 'folder'
      : stats.isSymbolicLink()
        ? 'link'
        : 'other'
}

function enterOr(holding: FolderHolding, dir: Dir, name: string): Dir | 'unreadable' | 'out of reach' {
  try {
    return holding.enter(dir, name) ?? 'unreadable'
  } catch (error) {
    if (error instanceof PathRefused) return 'out of reach'
    if (systemCode(error) === undefined) throw error
    return 'unreadable'
  }
}
