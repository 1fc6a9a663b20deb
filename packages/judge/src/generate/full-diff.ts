import { type DiffLine, diffLines } from './line-diff.ts'

const SIGNS = { same: ' ', removed: '-', added: '+' } as const
const NO_NEWLINE = '\\ No newline at end of file'

/** The whole of two texts as one unified difference; empty where they are the same or there is nothing to start from. */
export function fullDiff(before: string, after: string, name: string): string {
  if (before === after || before === '') return ''
  const old = linesOf(before)
  const fresh = linesOf(after)
  const lines = diffLines(old, fresh)
  const head = [`--- a/${name}`, `+++ b/${name}`, `@@ -${rangeOf(old)} +${rangeOf(fresh)} @@`]
  return `${[...head, ...lines.flatMap(shown)].join('\n')}\n`
}

/** Lines with their ends, so that a missing newline is a difference too. */
const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []
const rangeOf = ({ length }: readonly string[]): string => (length === 0 ? '0,0' : `1,${length}`)

function shown({ kind, text }: DiffLine): readonly string[] {
  return text.endsWith('\n') ? [`${SIGNS[kind]}${text.slice(0, -1)}`] : [`${SIGNS[kind]}${text}`, NO_NEWLINE]
}
