import { lstatSync, realpathSync } from 'node:fs'
import { isAbsolute, join, parse, resolve } from 'node:path'
import type { Reach } from '@parley/agent'
import { TOOL_BOUNDS } from '../bounds.ts'
import { type Dir, type FolderHolding, type OpenFile, bestHolding, identityOf } from './dir.ts'
import { isRepository } from './git-names.ts'
import { type OutOfReach, isOwnName, outOfReach } from './out-of-reach.ts'
import { PathRefused } from './path-refused.ts'
import { type Start, type Walked, isTop, walk } from './walk.ts'

/** A file that is open, and its name as the model should read it. */
export interface NamedFile extends OpenFile {
  readonly shown: string
}

/** A folder that is held, and its name as the model should read it. */
export interface NamedDir extends Disposable {
  readonly dir: Dir
  readonly shown: string
  /** With all links resolved. */
  readonly path: string
}

/** The folder of a conversation. Nothing outside is ever written, and nothing outside is read unless the reach says so. */
export interface Folder {
  readonly path: string
  /** The path without links, as it was when the folder was opened: a link that is put there later leads nowhere. */
  readonly real: string
  /** The way to files below; what is out of reach is refused there too. */
  readonly holding: FolderHolding
  readonly outOfReach: OutOfReach
  /** A regular file; a pipe, a device or a socket is refused without being opened. */
  openFile(path: string, reach: Reach): NamedFile
  openFolder(path: string, reach: Reach): NamedDir
  /** Where a file may be written. Refuses git's own files. */
  walkToWrite(path: string, lastLink: 'follow' | 'keep'): Walked
}

/** Never written: git runs the hooks and the settings that it finds there. */
const GIT = '.git'

export interface FolderOptions {
  readonly holding?: FolderHolding
  /** What is never read nor written, whatever the reach. */
  readonly outOfReach?: OutOfReach
  /** Where the path led when the conversation was opened, for whoever opens it again. */
  readonly real?: string
}

export function openFolderOf(path: string, options: FolderOptions = {}): Folder {
  const { holding: plain = bestHolding(), outOfReach: beyond = outOfReach([]) } = options
  const holding = beyond.keptFrom(plain)
  const real = realPath(path)
  const inside: Start = {
    holding: { ...holding, base: (base) => unmoved(holding.base(base), base, options.real ?? real ?? resolve(path)) },
    base: path,
    aliases: real === undefined || real === path ? [] : [real],
  }
  // Known by device and inode, so that it is still refused after somebody renamed it.
  const git = gitIdentity(path)

  const begin = (given: string): string => {
    beyond.refresh()
    beyond.checkBase(path)
    return checkPath(given)
  }
  const walkToRead = (given: string, reach: Reach): Walked => {
    const checked = begin(given)
    if (reach !== 'full-access') return walk(inside, checked, 'follow')
    // Absolute names without `.` and `..` would be enough for the system, but `..` after a link means its target's parent.
    const absolute = isAbsolute(checked) ? checked : join(path, '.') + `/${checked}`
    return walk({ holding, base: parse(resolve(path)).root, aliases: [] }, absolute, 'follow')
  }
  const shownOf = ({ names, dirs }: Walked, reach: Reach): string => {
    if (reach !== 'full-access') return names.join('/') || '.'
    return relativeTo(real ?? path, dirs.length > 0 ? `/${names.join('/')}` : '/')
  }

  return {
    path,
    real: options.real ?? real ?? resolve(path),
    holding,
    outOfReach: beyond,
    openFile: (given, reach) => {
      using walked = walkToRead(given, reach)
      if (walked.kind === 'none') throw new PathRefused('missing', `${given}: there is no such file`)
      if (walked.kind === 'folder') throw new PathRefused('is_folder', `${given} is a folder, not a file`)
      const file = walked.name === null ? undefined : holding.openFile(walked.dir, walked.name)
      if (file === undefined) throw new PathRefused('wrong_kind', `${given} is not a regular file (a pipe, a socket or a device)`)
      return { ...file, shown: shownOf(walked, reach) }
    },
    openFolder: (given, reach) => {
      const walked = walkToRead(given, reach)
      if (walked.kind === 'folder') {
        const names = walked.names.join('/')
        const below = reach === 'full-access' ? `/${names}` : names === '' ? path : join(path, names)
        return { dir: walked.dir, shown: shownOf(walked, reach), path: below, [Symbol.dispose]: () => walked[Symbol.dispose]() }
      }
      walked[Symbol.dispose]()
      if (walked.kind === 'none') throw new PathRefused('missing', `${given}: there is no such folder`)
      throw new PathRefused('wrong_kind', `${given} is a file, not a folder`)
    },
    walkToWrite: (given, lastLink) => {
      const walked = walk(inside, begin(given), lastLink)
      try {
        refuseProtected(walked, given, git)
        beyond.checkPath(join(options.real ?? real ?? path, ...walked.names))
        // One that is replaced or removed is not opened first.
        if (walked.stats !== undefined) beyond.checkFile(walked.stats)
        return walked
      } catch (error) {
        walked[Symbol.dispose]()
        throw error
      }
    },
  }
}

/** What is held, if it is still the place where the conversation was opened: whoever may write above can put a link there. */
function unmoved(dir: Dir, path: string, real: string): Dir {
  if (realPath(dir.self) === real) return dir
  dir[Symbol.dispose]()
  throw new PathRefused('outside', `${path} leads elsewhere by now than when this conversation was opened`)
}

function refuseProtected({ names, dirs }: Walked, given: string, git: string | undefined): void {
  if (names.some((name) => name.toLowerCase() === GIT) || dirs.some((dir) => dir.identity === git || isRepository(dir)))
    throw new PathRefused('protected', `${given}: git's own files, hooks among them, are not written by hand`)
  // They are refused before they exist, too: a file that is made now would count the next time.
  if (names.some(isOwnName))
    throw new PathRefused('protected', `${given}: out of reach: what configures Parley is not written by hand`)
}

function checkPath(path: string): string {
  if (path.includes('\0')) throw new PathRefused('bad_path', `${JSON.stringify(path)}: a path has no NUL byte`)
  if (path.trim() === '') throw new PathRefused('bad_path', 'the path is empty')
  if (Buffer.byteLength(path) > TOOL_BOUNDS.pathBytes)
    throw new PathRefused('bad_path', `the path has more than ${TOOL_BOUNDS.pathBytes} bytes`)
  return path
}

function relativeTo(root: string, path: string): string {
  if (path === root) return '.'
  return !isTop(root) && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

function gitIdentity(path: string): string | undefined {
  try {
    const stats = lstatSync(join(path, GIT), { throwIfNoEntry: false })
    return stats?.isDirectory() === true ? identityOf(stats) : undefined
  } catch (error) {
    // Whoever works in what is no folder hears so from each tool that needs one.
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return undefined
    throw error
  }
}
