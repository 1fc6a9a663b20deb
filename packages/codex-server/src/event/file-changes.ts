import { resolve } from 'node:path'
import type { FileChange } from '@parley/agent'
import type { JsonObject } from '@parley/protocol'

/** A change as every dialect has it, whatever it wraps it in. */
export type ToldChange =
  | { readonly kind: 'add' | 'delete'; readonly content: string }
  | { readonly kind: 'update'; readonly unifiedDiff: string; readonly movePath: string | null }

/** The changes of a patch by absolute path, each in a dialect's shape. */
export function changesByPath(
  changes: readonly FileChange[],
  folder: string | undefined,
  shape: (change: ToldChange) => JsonObject,
): JsonObject {
  return Object.fromEntries(changes.map((change) => [absolute(change.path, folder), shape(told(change, folder))]))
}

/** What the real `apply_patch` prints. */
export function patchSummary(changes: readonly FileChange[], folder: string | undefined): string {
  const letters = { add: 'A', update: 'M', delete: 'D' } as const
  const lines = changes.map(({ kind, path, movedTo }) => `${letters[kind]} ${below(movedTo ?? path, folder)}\n`)
  return `Success. Updated the following files:\n${lines.join('')}`
}

function told({ kind, diff, movedTo }: FileChange, folder: string | undefined): ToldChange {
  if (kind !== 'update') return { kind, content: contentOf(diff, kind === 'add' ? '+' : '-') }
  return { kind, unifiedDiff: withoutHead(diff), movePath: movedTo === undefined ? null : absolute(movedTo, folder) }
}

/** The text of a whole file out of the diff that adds or deletes it. One that is no diff is the text itself. */
function contentOf(diff: string, sign: '+' | '-'): string {
  const hunk = diff.search(/^@@ /m)
  if (hunk === -1) return isAll(diff, sign) ? unsigned(diff, sign) : diff
  const text = unsigned(diff.slice(hunk), sign)
  return /^\\ No newline/m.test(diff) ? text.replace(/\n$/, '') : text
}

const isAll = (diff: string, sign: string): boolean =>
  diff !== '' && diff.split('\n').every((line, index, all) => line.startsWith(sign) || (line === '' && index === all.length - 1))

function unsigned(diff: string, sign: string): string {
  const lines = diff.split('\n').filter((line) => line.startsWith(sign))
  return lines.map((line) => `${line.slice(1)}\n`).join('')
}

/** Codex begins with the first hunk. */
function withoutHead(diff: string): string {
  const hunk = diff.search(/^@@ /m)
  return hunk <= 0 ? diff : diff.slice(hunk)
}

const absolute = (path: string, folder: string | undefined): string => (folder === undefined ? path : resolve(folder, path))

const below = (path: string, folder: string | undefined): string =>
  folder !== undefined && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path
