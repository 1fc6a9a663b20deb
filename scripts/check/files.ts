import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** In a second working tree `.git` is a file. */
const SKIPPED = new Set(['node_modules', 'dist', '.git', '.cache', '.parley', 'results'])

/** Every file of the tree that people write, as `a/b/c.ts` from the root, in order. */
export function listFiles(root: string): readonly string[] {
  const found: string[] = []
  collect(root, '', found)
  return found
}

function collect(root: string, folder: string, found: string[]): void {
  const entries = readdirSync(join(root, folder), { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  for (const entry of entries) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (SKIPPED.has(entry.name)) continue
    if (entry.isDirectory()) collect(root, path, found)
    if (entry.isFile()) found.push(path)
  }
}

export const isSource = (path: string): boolean => /\.(ts|tsx|js|mjs|c|h|css|html)$/.test(path)
export const isScript = (path: string): boolean => /\.(ts|tsx|js|mjs)$/.test(path)
export const isTest = (path: string): boolean => /\.test\.tsx?$/.test(path)
