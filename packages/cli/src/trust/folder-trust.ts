import { type BigIntStats, realpathSync, statSync } from 'node:fs'
import { messageOf } from '@parley/protocol'
import type { Io } from '@parley/command-line'
import { whyForeign } from '@parley/command-line/commands'
import { type TrustedFolder, readTrusted, trustFileOf } from './trust-file.ts'

/** Whether the settings of a folder count. */
export type FolderTrust =
  | { readonly kind: 'trusted'; readonly path: string }
  | { readonly kind: 'unknown' }
  /** It is on the list and does not count all the same. */
  | { readonly kind: 'lost'; readonly why: string }

/** Whether the folder that we are called in was trusted, and is still the one that was. */
export function folderTrust({ env, cwd }: Pick<Io, 'env' | 'cwd'>): FolderTrust {
  const seen = lookAt(cwd)
  if (seen === undefined) return { kind: 'unknown' }
  let known: TrustedFolder | undefined
  try {
    known = readTrusted(trustFileOf(env)).find(({ path }) => path === seen.path)
  } catch (error) {
    return { kind: 'lost', why: messageOf(error) }
  }
  if (known === undefined) return { kind: 'unknown' }
  const foreign = whyForeign(seen.stats)
  if (foreign !== undefined) return { kind: 'lost', why: `${seen.path} ${foreign}` }
  if (!isThatFolder(known, seen.stats))
    return { kind: 'lost', why: `${seen.path} is another folder than the one that was trusted` }
  return { kind: 'trusted', path: seen.path }
}

/** A folder and its path without links; `undefined`: there is none. */
export function lookAt(folder: string): { readonly path: string; readonly stats: BigIntStats } | undefined {
  try {
    const path = realpathSync(folder)
    const stats = statSync(path, { bigint: true })
    return stats.isDirectory() ? { path, stats } : undefined
  } catch {
    return undefined
  }
}

/** By what a folder is known again. Its path alone is no proof: whoever owns the folder above can put another one there. */
export function marksOf({ ino, birthtimeNs, uid }: BigIntStats): Pick<TrustedFolder, 'inode' | 'born' | 'owner'> {
  return { inode: String(ino), born: String(birthtimeNs), owner: String(uid) }
}

function isThatFolder(known: TrustedFolder, stats: BigIntStats): boolean {
  const { inode, born, owner } = marksOf(stats)
  return known.inode === inode && known.born === born && known.owner === owner
}
