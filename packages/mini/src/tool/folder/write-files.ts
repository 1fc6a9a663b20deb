import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs'
import type { Dir } from './dir.ts'
import { type Fingerprint, fingerprintAt } from './fingerprint.ts'
import type { Folder } from './folder.ts'
import { PathRefused, refusedBySystem, systemCode } from './path-refused.ts'

/** One file as it shall be. */
export interface FileWrite {
  readonly path: string
  /** Null: it shall be gone. */
  readonly content: Uint8Array | null
  /** What it was when the content was made; null: there was nothing. */
  readonly seen: Fingerprint | null
  /** A file whose mode and owner the new one takes on: that from which it was moved. */
  readonly like: Stats | null
}

/** `written` and `removed` are what really happened, also when `failure` says what did not. */
export interface WriteOutcome {
  readonly written: readonly string[]
  readonly removed: readonly string[]
  readonly failure: PathRefused | null
}

interface Staged {
  readonly path: string
  readonly dir: Dir
  readonly name: string
  readonly temporary: string
  readonly seen: Fingerprint | null
}

/**
 * Writes everything beside its place first and then renames file by file, removals last: until the first rename nothing has
 * changed, and no instant shows half a file. A file that was changed since it was read is not written over.
 */
export function writeFiles(folder: Folder, files: readonly FileWrite[], newName: () => string): WriteOutcome {
  using held = new DisposableStack()
  const staged: Staged[] = []
  const made: Made[] = []
  const written: string[] = []
  const removed: string[] = []
  try {
    for (const file of files) if (file.content !== null) staged.push(stage(folder, file, file.content, { held, made, newName }))
    for (const file of staged) {
      rename(file)
      written.push(file.path)
    }
    for (const { path, content, seen } of files) {
      if (content !== null) continue
      remove(folder, path, seen)
      removed.push(path)
    }
    return { written, removed, failure: null }
  } catch (error) {
    for (const file of staged.slice(written.length)) discard(file.dir, file.temporary)
    if (written.length === 0) for (const { dir, name } of made.reverse()) ignoringSystem(() => rmdirSync(dir.at(name)))
    return { written, removed, failure: refusedBySystem('the patch', error) }
  }
}

interface Made {
  readonly dir: Dir
  readonly name: string
}

interface Staging {
  readonly held: DisposableStack
  readonly made: Made[]
  readonly newName: () => string
}

function stage(folder: Folder, { path, seen, like }: FileWrite, content: Uint8Array, { held, made, newName }: Staging): Staged {
  const walked = held.use(folder.walkToWrite(path, 'follow'))
  const { kind, name } = walked
  if (name === null || (kind !== 'file' && kind !== 'none')) throw new PathRefused('wrong_kind', `${path} is not a file`)
  // Only the folder of the file is needed from here on, and descriptors are few.
  for (const dir of walked.dirs) if (dir !== walked.dir) dir[Symbol.dispose]()
  try {
    const dir = makeFolders(folder, walked.dir, walked.missing, { held, made, newName })
    const temporary = `.parley-${newName()}.tmp`
    writeNew(dir, temporary, content, like ?? walked.stats ?? null)
    return { path, dir, name, temporary, seen }
  } catch (error) {
    throw refusedBySystem(path, error)
  }
}

function makeFolders(folder: Folder, from: Dir, names: readonly string[], { held, made }: Staging): Dir {
  let dir = from
  for (const name of names) {
    try {
      mkdirSync(dir.at(name))
      made.push({ dir, name })
      giveToOwner(dir, (uid, gid) => lchownSync(dir.at(name), uid, gid))
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error
    }
    const entered = folder.holding.enter(dir, name)
    if (entered === undefined) throw new PathRefused('unsteady', `the folder ${name} was replaced while it was made`)
    dir = held.use(entered)
  }
  return dir
}

const NEW_MODE = 0o666
/** Neither set-uid nor set-gid is handed on to new content. */
const MODE_BITS = 0o777

function writeNew(dir: Dir, name: string, content: Uint8Array, like: Stats | null): void {
  const fd = openSync(
    dir.at(name),
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0),
    NEW_MODE,
  )
  try {
    for (let done = 0; done < content.length;) done += writeSync(fd, content, done)
    if (like === null) giveToOwner(dir, (uid, gid) => fchownSync(fd, uid, gid))
    else {
      const mine = fstatSync(fd)
      if (mine.uid !== like.uid || mine.gid !== like.gid) ignoringSystem(() => fchownSync(fd, like.uid, like.gid))
      fchmodSync(fd, like.mode & MODE_BITS)
    }
  } catch (error) {
    discard(dir, name)
    throw error
  } finally {
    closeSync(fd)
  }
}

/** What root makes in somebody's folder belongs to that somebody, whose commands go on with it. */
function giveToOwner(dir: Dir, give: (uid: number, gid: number) => void): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = lstatSync(`${dir.self}/.`)
  if (uid !== 0 || gid !== 0) ignoringSystem(() => give(uid, gid))
}

function rename({ path, dir, name, temporary, seen }: Staged): void {
  refuseChanged(path, dir, name, seen)
  try {
    renameSync(dir.at(temporary), dir.at(name))
  } catch (error) {
    throw refusedBySystem(path, error)
  }
}

function remove(folder: Folder, path: string, seen: Fingerprint | null): void {
  using walked = folder.walkToWrite(path, 'keep')
  if (walked.name === null) throw new PathRefused('wrong_kind', `${path} is a folder`)
  refuseChanged(path, walked.dir, walked.name, seen)
  try {
    unlinkSync(walked.dir.at(walked.name))
  } catch (error) {
    throw refusedBySystem(path, error)
  }
}

function refuseChanged(path: string, dir: Dir, name: string, seen: Fingerprint | null): void {
  if (fingerprintAt(dir, name) === seen) return
  throw new PathRefused('unsteady', `${path} was changed by somebody else while the patch was made: read it again`)
}

function discard(dir: Dir, name: string): void {
  ignoringSystem(() => unlinkSync(dir.at(name)))
}

/** For what is good to have: a failure of the system changes nothing about the outcome. */
function ignoringSystem(act: () => void): void {
  try {
    act()
  } catch (error) {
    if (systemCode(error) === undefined) throw error
  }
}
