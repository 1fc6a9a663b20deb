import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Holds the id of the commit that landed last. */
export const LANDED_FILE = '.ci/landed'

/** What has changed since the last landing; when that cannot be told, everything may have. */
export type Changes =
  | { readonly kind: 'files'; readonly files: readonly string[]; readonly words: string }
  | { readonly kind: 'unknown'; readonly words: string }

/** Compares the commit that landed last with HEAD and what is not committed yet. */
export function changesSinceLanding(root: string): Changes {
  const landed = readLanded(root)
  if (landed === undefined) return unknown(`${LANDED_FILE} does not hold the id of a commit`)
  const head = git(root, 'rev-parse', 'HEAD')
  if (head === undefined) return unknown('this is no git repository')
  if (git(root, 'cat-file', '-e', `${landed}^{commit}`) === undefined)
    return unknown(`${LANDED_FILE} names ${landed}, which is not in this repository`)
  if (git(root, 'merge-base', '--is-ancestor', landed, 'HEAD') === undefined)
    return unknown(`${LANDED_FILE} names ${landed}, which HEAD does not come from`)
  const committed = git(root, 'diff', '--name-only', '--no-renames', '-z', landed, 'HEAD')
  const waiting = git(root, 'status', '--porcelain', '--no-renames', '--untracked-files=all', '-z')
  if (committed === undefined || waiting === undefined) return unknown('git cannot compare')
  const files = [...names(committed), ...names(waiting).map((line) => line.slice('XY '.length))]
  const words = landed === head.trim() ? `HEAD is what landed last (${landed})` : `compared with what landed last (${landed})`
  return { kind: 'files', files: [...new Set(files)], words }
}

function unknown(reason: string): Changes {
  return { kind: 'unknown', words: `${reason}: every part is run` }
}

function readLanded(root: string): string | undefined {
  try {
    const text = readFileSync(join(root, LANDED_FILE), 'utf8').trim()
    return /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(text) ? text : undefined
  } catch {
    return undefined
  }
}

function names(output: string): readonly string[] {
  return output.split('\0').filter((name) => name !== '')
}

/** What git says, or undefined when it refuses. */
function git(root: string, ...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  return status === 0 ? stdout : undefined
}
