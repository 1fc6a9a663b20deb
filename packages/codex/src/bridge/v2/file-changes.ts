import type { FileChange } from '@parley/agent'
import type { JsonObject } from '@parley/protocol'
import { objectOf, objectsIn, textOf, textOrNull } from './fields.ts'

/** The changes of a `fileChange` item. Codex gives the text of an added or deleted file instead of a diff. */
export function fileChangesOf(item: JsonObject): readonly FileChange[] {
  return objectsIn(item, 'changes').map((change): FileChange => {
    const path = textOf(change, 'path')
    const diff = textOf(change, 'diff')
    const kind = objectOf(change, 'kind')
    switch (textOf(kind, 'type')) {
      case 'add':
        return { path, kind: 'add', diff: wholeFile(diff, '+') }
      case 'delete':
        return { path, kind: 'delete', diff: wholeFile(diff, '-') }
      default: {
        const movedTo = textOrNull(kind, 'move_path')
        return { path, kind: 'update', diff, ...(movedTo === null ? {} : { movedTo }) }
      }
    }
  })
}

/** One hunk that adds or takes away every line. */
function wholeFile(text: string, mark: '+' | '-'): string {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  if (lines.length === 0) return ''
  const range = lines.length === 1 ? '1' : `1,${lines.length}`
  const header = mark === '+' ? `@@ -0,0 +${range} @@\n` : `@@ -${range} +0,0 @@\n`
  const marked = lines.map((line) => (line.endsWith('\n') ? `${mark}${line}` : `${mark}${line}\n\\ No newline at end of file\n`))
  return header + marked.join('')
}
