/** One line of a difference: in both, in the old text alone, or in the new one alone. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
}

/** Beyond this many changed lines the texts have nothing in common worth showing, and finding it out takes too long. */
const CHANGES_MAX = 2_000
/** What the trace of the search may hold in all. */
const TRACE_MAX = 4_000_000

/** The shortest way from one list of lines to another; where it is too long, all of the one goes and all of the other comes. */
export function diffLines(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  const start = commonStart(before, after)
  const end = commonEnd(before, after, start)
  const old = before.slice(start, before.length - end)
  const fresh = after.slice(start, after.length - end)
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind: 'same', text }))
  return [
    ...same(before.slice(0, start)),
    ...(shortest(old, fresh) ?? replaced(old, fresh)),
    ...same(before.slice(before.length - end)),
  ]
}

const replaced = (old: readonly string[], fresh: readonly string[]): DiffLine[] => [
  ...old.map((text): DiffLine => ({ kind: 'removed', text })),
  ...fresh.map((text): DiffLine => ({ kind: 'added', text })),
]

/** Myers: how far each diagonal gets with so many changes, until one reaches the end. `undefined`: too many changes. */
function shortest(old: readonly string[], fresh: readonly string[]): readonly DiffLine[] | undefined {
  const most = Math.min(CHANGES_MAX, old.length + fresh.length)
  const trace: Int32Array[] = []
  let held = 0
  let reach = new Int32Array(3)
  for (let changes = 0; changes <= most; changes += 1) {
    held += reach.length
    if (held > TRACE_MAX) return undefined
    trace.push(reach)
    const next = new Int32Array(2 * changes + 5)
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let x = stepInto(reach, changes, diagonal)
      while (x < old.length && x - diagonal < fresh.length && old[x] === fresh[x - diagonal]) x += 1
      next[diagonal + changes + 2] = x
      if (x >= old.length && x - diagonal >= fresh.length) return walkBack(trace, old, fresh, changes)
    }
    reach = next
  }
  return undefined
}

/** The furthest x on a diagonal before its equal lines, from the diagonals beside it one change earlier. */
function stepInto(reach: Int32Array, changes: number, diagonal: number): number {
  if (changes === 0) return 0
  const at = (other: number): number => reach[other + changes + 1] ?? 0
  return isDown(reach, changes, diagonal) ? at(diagonal + 1) : at(diagonal - 1) + 1
}

function isDown(reach: Int32Array, changes: number, diagonal: number): boolean {
  const at = (other: number): number => reach[other + changes + 1] ?? 0
  return diagonal === -changes || (diagonal !== changes && at(diagonal - 1) < at(diagonal + 1))
}

function walkBack(
  trace: readonly Int32Array[],
  old: readonly string[],
  fresh: readonly string[],
  changes: number,
): readonly DiffLine[] {
  const lines: DiffLine[] = []
  let x = old.length
  let y = fresh.length
  const back = (toX: number, toY: number): void => {
    for (; x > toX && y > toY; x -= 1, y -= 1) lines.push({ kind: 'same', text: old[x - 1] ?? '' })
  }
  for (let left = changes; left > 0; left -= 1) {
    const reach = trace[left] ?? new Int32Array()
    const diagonal = x - y
    const down = isDown(reach, left, diagonal)
    const from = reach[(down ? diagonal + 1 : diagonal - 1) + left + 1] ?? 0
    const [toX, toY] = down ? [from, from - diagonal] : [from + 1, from + 1 - diagonal]
    back(toX, toY)
    if (down) lines.push({ kind: 'added', text: fresh[--y] ?? '' })
    else lines.push({ kind: 'removed', text: old[--x] ?? '' })
  }
  back(0, 0)
  return lines.toReversed()
}

function commonStart(before: readonly string[], after: readonly string[]): number {
  let count = 0
  while (count < before.length && count < after.length && before[count] === after[count]) count += 1
  return count
}

function commonEnd(before: readonly string[], after: readonly string[], start: number): number {
  const most = Math.min(before.length, after.length) - start
  let count = 0
  while (count < most && before[before.length - 1 - count] === after[after.length - 1 - count]) count += 1
  return count
}
