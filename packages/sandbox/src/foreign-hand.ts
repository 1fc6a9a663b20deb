import { lstat, realpath } from 'node:fs/promises'
import { dirname } from 'node:path'

const GROUP_WRITES = 0o020
const OTHERS_WRITE = 0o002
const STICKY = 0o1000
const ROOT_USER = 0

/**
 * Why somebody else could put a program where a cache would find it; `undefined` when nobody could. What a cache holds is run, so the
 * folder and each one above it must belong to this user or to root, and let nobody else write. A folder that is not there yet
 * is judged by the one it will be made in.
 */
export async function foreignHandOn(folder: string): Promise<string | undefined> {
  const uid = process.getuid?.()
  if (uid === undefined) return undefined
  for (let at = await realOf(folder); ; at = dirname(at)) {
    const hand = await handOn(at, uid)
    if (hand !== undefined) return `${at} ${hand}`
    if (at === dirname(at)) return undefined
  }
}

async function handOn(folder: string, uid: number): Promise<string | undefined> {
  const { uid: owner, gid, mode } = await lstat(folder)
  if (owner !== uid && owner !== ROOT_USER) return 'belongs to somebody else'
  if ((mode & STICKY) !== 0) return undefined
  if ((mode & OTHERS_WRITE) !== 0) return 'can be written by everybody'
  // Many systems give each user a group of their own, and let it write.
  return (mode & GROUP_WRITES) !== 0 && gid !== ROOT_USER && gid !== process.getgid?.() ? 'can be written by a group' : undefined
}

/** The real path of the nearest folder on the way that is there. */
async function realOf(folder: string): Promise<string> {
  for (let at = folder; ; at = dirname(at)) {
    const real = await realpath(at).catch(() => undefined)
    if (real !== undefined) return real
    if (at === dirname(at)) return at
  }
}
