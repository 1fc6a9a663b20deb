import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FoundFile } from '../backend.ts'
import { BackendError } from '@parley/codex/port'
import { fuzzyMatch } from './fuzzy-score.ts'
import { type IgnoreRules, NO_RULES, readRules } from './ignore-rules.ts'

/** As many as Codex answers with. */
const FOUND_MAX = 50
const FILES_MAX = 200_000
const DEPTH_MAX = 64
const QUERY_LETTERS = 128
const PATH_LETTERS = 1_024
const ROOTS_MAX = 16
const IGNORE_BYTES = 256 * 1024
/** Never looked into, whatever is ignored. */
const SKIPPED: ReadonlySet<string> = new Set(['.git', '.hg', '.svn', '.jj'])

/** Files below the roots whose path has the letters of the query in order, best first. What git ignores is left out. */
export async function searchFiles(query: string, roots: readonly string[], signal: AbortSignal): Promise<readonly FoundFile[]> {
  if (roots.length > ROOTS_MAX) throw new BackendError('too_many', `roots: ${ROOTS_MAX} at most`, { data: { param: 'roots' } })
  const letters = Array.from(query.replaceAll(/\s/g, '')).slice(0, QUERY_LETTERS)
  if (letters.length === 0) return []
  const found: FoundFile[] = []
  for (const root of roots) {
    const walk: Walk = { root, left: FILES_MAX, signal, visit: (path) => take(found, root, path, letters) }
    await visit(walk, '', [], 0)
  }
  return found.toSorted(byScore).slice(0, FOUND_MAX)
}

interface Walk {
  readonly root: string
  readonly signal: AbortSignal
  readonly visit: (path: string) => void
  /** Files that may still be seen. */
  left: number
}

function take(found: FoundFile[], root: string, path: string, letters: readonly string[]): void {
  if (path.length > PATH_LETTERS) return
  const match = fuzzyMatch(letters, path)
  if (match === undefined) return
  found.push({ root, path, fileName: path.slice(path.lastIndexOf('/') + 1), score: match.score, indices: match.indices })
  // Sorted rarely, so that neither time nor memory grows with what is found.
  if (found.length >= FOUND_MAX * 20) found.splice(0, found.length, ...found.toSorted(byScore).slice(0, FOUND_MAX))
}

const byScore = (one: FoundFile, other: FoundFile): number =>
  other.score - one.score || (one.path < other.path ? -1 : one.path > other.path ? 1 : 0)

async function visit(walk: Walk, below: string, inherited: readonly IgnoreRules[], depth: number): Promise<void> {
  if (walk.signal.aborted || walk.left <= 0 || depth > DEPTH_MAX) return
  const entries = await readdir(join(walk.root, below), { withFileTypes: true }).catch(() => [])
  const own = entries.some((entry) => entry.name === '.gitignore' && entry.isFile()) ? await rulesOf(walk.root, below) : NO_RULES
  const rules = own === NO_RULES ? inherited : [...inherited, own]
  const folders: string[] = []
  for (const entry of entries) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    const isFolder = entry.isDirectory()
    if (SKIPPED.has(entry.name) || isIgnored(rules, path, isFolder)) continue
    if (isFolder) folders.push(path)
    else if (walk.left > 0) {
      walk.left -= 1
      walk.visit(path)
    }
  }
  for (const folder of folders) await visit(walk, folder, rules, depth + 1)
}

/** The rule that is nearest and last decides. */
function isIgnored(rules: readonly IgnoreRules[], path: string, isFolder: boolean): boolean {
  for (const rule of rules.toReversed()) {
    const verdict = rule.says(path, isFolder)
    if (verdict !== undefined) return verdict
  }
  return false
}

async function rulesOf(root: string, below: string): Promise<IgnoreRules> {
  try {
    const text = await readFile(join(root, below, '.gitignore'), 'utf8')
    return text.length > IGNORE_BYTES ? NO_RULES : readRules(text, below)
  } catch {
    return NO_RULES
  }
}
