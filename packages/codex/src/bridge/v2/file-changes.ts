import { type FileChange, unifiedDiff } from '@parley/agent'
import type { JsonObject } from '@parley/protocol'
import { objectOf, objectsIn, textOf, textOrNull } from './fields.ts'

/** The changes of a `fileChange` item. */
export function fileChangesOf(item: JsonObject): readonly FileChange[] {
  return objectsIn(item, 'changes').map((change): FileChange => {
    const path = textOf(change, 'path')
    const diff = textOf(change, 'diff')
    const kind = objectOf(change, 'kind')
    switch (textOf(kind, 'type')) {
      case 'add':
        return { path, kind: 'add', diff: unifiedDiff(null, diff) }
      case 'delete':
        return { path, kind: 'delete', diff: unifiedDiff(diff, null) }
      default: {
        const movedTo = textOrNull(kind, 'move_path')
        return { path, kind: 'update', diff, ...(movedTo === null ? {} : { movedTo }) }
      }
    }
  })
}
