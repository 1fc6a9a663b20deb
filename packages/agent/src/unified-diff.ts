import { type Replacement, lineDiff } from './line-diff.ts'

/** Lines shown around every change. */
const CONTEXT = 3

/** The hunks of a unified diff, from `@@` on and without names of files; empty when nothing differs. `null` is a file that is not there. */
export function unifiedDiff(before: string | null, after: string | null): string {
  const old = linesWithEnds(before ?? '')
  const fresh = linesWithEnds(after ?? '')
  return groups(lineDiff(old, fresh))
    .map((group) => hunk(group, old, fresh))
    .join('')
}

/** Lines with their ends: a missing newline at the end is a difference too. */
export function linesWithEnds(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** Changes so near to each other that their surroundings meet are one hunk. */
function groups(replacements: readonly Replacement[]): readonly (readonly Replacement[])[] {
  const found: Replacement[][] = []
  for (const replacement of replacements) {
    const last = found.at(-1)
    const previous = last?.at(-1)
    if (last !== undefined && previous !== undefined && replacement.from - previous.to <= 2 * CONTEXT) last.push(replacement)
    else found.push([replacement])
  }
  return found
}

function hunk(group: readonly Replacement[], old: readonly string[], fresh: readonly string[]): string {
  const [first] = group
  const last = group.at(-1)
  if (first === undefined || last === undefined) return ''
  const lead = Math.min(CONTEXT, first.from)
  const trail = Math.min(CONTEXT, old.length - last.to)
  const from = first.from - lead
  const newFrom = first.newFrom - lead
  const to = last.to + trail
  const header = `@@ -${range(from, to - from)} +${range(newFrom, last.newTo + trail - newFrom)} @@\n`
  return header + hunkBody(group, old.slice(0, to), fresh, from)
}

/** The marked lines of a hunk that begins at the old line `from` and goes on to the last of the old lines. */
export function hunkBody(
  replacements: readonly Replacement[],
  old: readonly string[],
  fresh: readonly string[],
  from: number,
): string {
  const body: string[] = []
  let at = from
  for (const { from: start, to, newFrom, newTo } of replacements) {
    body.push(...marked(' ', old.slice(at, start)), ...marked('-', old.slice(start, to)))
    body.push(...marked('+', fresh.slice(newFrom, newTo)))
    at = to
  }
  return [...body, ...marked(' ', old.slice(at))].join('')
}

function marked(mark: string, lines: readonly string[]): string[] {
  return lines.map((line) => (line.endsWith('\n') ? `${mark}${line}` : `${mark}${line}\n\\ No newline at end of file\n`))
}

/** An empty range names the line before it. */
function range(from: number, count: number): string {
  return count === 0 ? `${from},0` : count === 1 ? `${from + 1}` : `${from + 1},${count}`
}
