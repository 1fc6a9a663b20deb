import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** A folder of more than this is not searched to its end. */
const FOLDERS_MAX = 20_000
const FOUND_MAX = 16
/** A folder that holds all of these is a repository of its own, whatever it is called. */
const BARE = ['HEAD', 'objects', 'refs']

/** Folders below one, and it itself where it is a bare one, that git takes for repositories. Links are not followed. */
export async function nestedRepositories(folder: string): Promise<string[]> {
  const found: string[] = []
  const folders = [folder]
  for (let looked = 0; looked < FOLDERS_MAX && found.length < FOUND_MAX; looked += 1) {
    const next = folders.pop()
    if (next === undefined) break
    // Others may change it meanwhile.
    const entries = await readdir(next, { withFileTypes: true }).catch(() => [])
    const names = new Set(entries.map(({ name }) => name))
    if ((next !== folder && names.has('.git')) || BARE.every((name) => names.has(name))) found.push(next)
    for (const entry of entries) if (entry.isDirectory() && entry.name !== '.git') folders.push(join(next, entry.name))
  }
  return found
}
