import { lstat, readdir } from 'node:fs/promises'

/** What a folder may hold. */
export interface FolderLimits {
  readonly bytes: number
  readonly entries: number
}

const SLASH = Buffer.from('/')
const BLOCK_BYTES = 512
/** Where something is hidden rather than gone: too deep for a path, or locked. */
const HIDDEN: ReadonlySet<unknown> = new Set(['ENAMETOOLONG', 'EACCES'])

/**
 * Whether a folder holds more on the disk than it may, or what cannot be looked into. Others may change it meanwhile; links are
 * not followed.
 */
export async function holdsTooMuch(folder: string, limits: FolderLimits): Promise<boolean> {
  const folders: Buffer[] = [Buffer.from(folder)]
  let bytes = 0
  let entries = 0
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    const found = await orFault(readdir(next, { withFileTypes: true, encoding: 'buffer' }))
    if (found === 'hidden') return true
    for (const entry of found === 'gone' ? [] : found) {
      const path = Buffer.concat([next, SLASH, entry.name])
      const about = await orFault(lstat(path))
      if (about === 'hidden') return true
      entries += 1
      bytes += about === 'gone' ? 0 : about.blocks * BLOCK_BYTES
      if (entries > limits.entries || bytes > limits.bytes) return true
      if (entry.isDirectory()) folders.push(path)
    }
  }
  return false
}

/** What was there a moment ago may be gone, or something else. */
async function orFault<Value>(looked: Promise<Value>): Promise<Value | 'gone' | 'hidden'> {
  try {
    return await looked
  } catch (error) {
    return error instanceof Error && 'code' in error && HIDDEN.has(error.code) ? 'hidden' : 'gone'
  }
}
