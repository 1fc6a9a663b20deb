import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** A folder of more than this is not searched to its end. */
const FOLDERS_MAX = 20_000
const FOUND_MAX = 16
/** A folder that holds all of one of these is a repository of its own, whatever it is called. */
const BARE = [
  ['HEAD', 'objects', 'refs'],
  ['HEAD', 'commondir'],
]
/** Others may change it meanwhile. */
const GONE = new Set(['ENOENT', 'ENOTDIR'])

/** What a look below a folder found. */
export interface NestedRepositories {
  /** Folders below one, and it itself where it is a bare one, that git takes for repositories. */
  readonly found: readonly string[]
  /** Folders that could not be listed: whoever may enter one can still use a repository in it. */
  readonly unseen: readonly string[]
  /** There is more than was looked at. */
  readonly isCut: boolean
}

/** Links are not followed. */
export async function nestedRepositories(folder: string): Promise<NestedRepositories> {
  const found: string[] = []
  const unseen: string[] = []
  const folders = [folder]
  for (let looked = 0; looked < FOLDERS_MAX && found.length + unseen.length < FOUND_MAX; looked += 1) {
    const next = folders.pop()
    if (next === undefined) break
    const entries = await listed(next)
    if (entries === undefined) {
      unseen.push(next)
      continue
    }
    const names = new Set(entries.map(({ name }) => name))
    if ((next !== folder && names.has('.git')) || BARE.some((all) => all.every((name) => names.has(name)))) found.push(next)
    for (const entry of entries) if (entry.isDirectory() && entry.name !== '.git') folders.push(join(next, entry.name))
  }
  return { found, unseen, isCut: folders.length > 0 }
}

async function listed(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    return error instanceof Error && 'code' in error && GONE.has(String(error.code)) ? [] : undefined
  }
}
