import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isWithin, realPathOf } from './real-path.ts'

const FILE_BYTES = 64 * 1024

/**
 * The folders of a repository whose `.git` is a file, as a linked working tree and a submodule have it: they are to be read and never
 * written. A file can point anywhere, so one that leads out of the folder counts only where the other end points back.
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
  if (isWorkingTree(folder, gitFolder) && common !== undefined && dirname(dirname(gitFolder)) === common)
    return [gitFolder, common]
  return common === undefined && isSubmodule(folder, gitFolder) ? [gitFolder] : []
}

function commonOf(gitFolder: string): string | undefined {
  const said = readSmall(join(gitFolder, 'commondir'))?.trimEnd()
  return said === undefined ? undefined : realFolder(resolve(gitFolder, said))
}

/** `git worktree add` writes down where the working tree is. */
function isWorkingTree(folder: string, gitFolder: string): boolean {
  const back = readSmall(join(gitFolder, 'gitdir'))?.trimEnd()
  return back !== undefined && realPathOf(resolve(gitFolder, back)).path === join(folder, '.git')
}

/** The repository of a submodule names its working tree among its settings. */
function isSubmodule(folder: string, gitFolder: string): boolean {
  const back = /^\s*worktree = (.+)$/m.exec(readSmall(join(gitFolder, 'config')) ?? '')?.[1]?.trim()
  return back !== undefined && realPathOf(resolve(gitFolder, back)).path === folder
}

function realFolder(path: string): string | undefined {
  const real = realPathOf(path)
  return real.isThere ? real.path : undefined
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
