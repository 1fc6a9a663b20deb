import type { FileChange } from '@parley/agent'
import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'
import { wholeFile } from '../whole-file.ts'

/** The changes of a patch by path, in either spelling: `{add: {…}}` of old versions, `{type: 'add', …}` of newer ones. */
export function fileChanges(changes: JsonObject): readonly FileChange[] {
  return Object.entries(changes).flatMap(([path, change]) => (isJsonObject(change) ? [fileChange(path, change)] : []))
}

function fileChange(path: string, change: JsonObject): FileChange {
  const [kind, details] = kindOf(change)
  if (kind === 'update') {
    const movedTo = details['move_path']
    const diff = textOf(details['unified_diff'])
    return typeof movedTo === 'string' ? { path, kind, movedTo, diff } : { path, kind, diff }
  }
  return { path, kind, diff: wholeFile(textOf(details['content']), kind === 'add' ? '+' : '-') }
}

function kindOf(change: JsonObject): readonly [FileChange['kind'], JsonObject] {
  for (const kind of ['add', 'delete', 'update'] as const) {
    const details = change[kind]
    if (isJsonObject(details)) return [kind, details]
    if (change['type'] === kind) return [kind, change]
  }
  return ['update', change]
}

const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '')
