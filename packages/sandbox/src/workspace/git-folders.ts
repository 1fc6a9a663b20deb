import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { knownHome } from '../known-home.ts'
import { isWithin, realPathOf } from './real-path.ts'

const FILE_BYTES = 64 * 1024
/** What git reads of the repository that a linked working tree belongs to: nothing else of that folder is shown. */
const COMMON_NAMES = ['HEAD', 'config', 'info', 'logs', 'objects', 'packed-refs', 'refs', 'reftable', 'shallow']
/** Where the repository of a submodule lies: in that of the project around it, which may itself be a linked working tree. */
const MODULE_PATH = /\/\.git\/(?:worktrees\/[^/]+\/)?modules\/./

/**
 * What belongs to the repository of a folder whose `.git` is a file, as a linked working tree and a submodule have it: it is to be read
 * and never written. Whoever wrote the folder can have written all that its `.git` leads to, so nothing in there proves anything: what is
 * shown beyond the folder has the names and the place that git alone gives, and a folder that holds more than a repository is never
 * shown as one.
 */
export function gitFoldersOf(folder: string): string[] {
  const target = /^gitdir: (.+)$/m.exec(readSmall(join(folder, '.git')) ?? '')?.[1]?.trimEnd()
  const gitFolder = target === undefined ? undefined : realFolder(resolve(folder, target))
  if (gitFolder === undefined) return []
  const common = commonOf(gitFolder)
  const inside = [gitFolder, ...(common === undefined ? [] : [common])].filter(
    (path) => path !== folder && isWithin(path, folder),
  )
  if (inside.length > 0 || isWithin(gitFolder, folder)) return inside
  if (common !== undefined) return isWorkingTree(folder, gitFolder, common) ? partsOf(gitFolder, common) : []
  return isSubmodule(folder, gitFolder) ? [gitFolder] : []
}

function commonOf(gitFolder: string): string | undefined {
  const said = readSmall(join(gitFolder, 'commondir'))?.trimEnd()
  return said === undefined ? undefined : realFolder(resolve(gitFolder, said))
}

/** `git worktree add` makes a folder `worktrees/NAME` in the repository and writes down there where the working tree is. */
function isWorkingTree(folder: string, gitFolder: string, common: string): boolean {
  const back = readSmall(join(gitFolder, 'gitdir'))?.trimEnd()
  return (
    gitFolder === join(common, 'worktrees', basename(gitFolder)) &&
    isRepository(common) &&
    isApart(common, folder) &&
    back !== undefined &&
    realPathOf(resolve(gitFolder, back)).path === join(folder, '.git')
  )
}

function partsOf(gitFolder: string, common: string): string[] {
  const parts = COMMON_NAMES.map((name) => join(common, name)).filter((path) => kindOf(path) !== undefined)
  return [gitFolder, ...parts]
}

/** The repository of a submodule names its working tree among its settings. */
function isSubmodule(folder: string, gitFolder: string): boolean {
  const back = /^\s*worktree = (.+)$/m.exec(readSmall(join(gitFolder, 'config')) ?? '')?.[1]?.trim()
  return (
    MODULE_PATH.test(gitFolder) &&
    isRepository(gitFolder) &&
    isApart(gitFolder, folder) &&
    back !== undefined &&
    realPathOf(resolve(gitFolder, back)).path === folder
  )
}

/** What git takes for one, without links. */
function isRepository(folder: string): boolean {
  const isFolder = (name: string): boolean => kindOf(join(folder, name)) === 'folder'
  return kindOf(join(folder, 'HEAD')) === 'file' && isFolder('objects') && isFolder('refs')
}

/** Neither the working folder nor the home of the person lies in it: such a folder holds more than a repository. */
function isApart(repository: string, folder: string): boolean {
  return repository !== dirname(repository) && ![folder, knownHome()].some((path) => isWithin(realPathOf(path).path, repository))
}

function realFolder(path: string): string | undefined {
  const real = realPathOf(path)
  return real.isThere && kindOf(real.path) === 'folder' ? real.path : undefined
}

/** A link is neither. */
function kindOf(path: string): 'file' | 'folder' | undefined {
  try {
    const stats = lstatSync(path)
    return stats.isDirectory() ? 'folder' : stats.isFile() ? 'file' : undefined
  } catch {
    return undefined
  }
}

/** A small plain file, no link, or nothing. */
function readSmall(path: string): string | undefined {
  let file: number
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return undefined
  }
  try {
    const { size } = fstatSync(file)
    if (!fstatSync(file).isFile() || size > FILE_BYTES) return undefined
    const bytes = Buffer.alloc(size)
    return bytes.toString('utf8', 0, readSync(file, bytes))
  } finally {
    closeSync(file)
  }
}
