/** A run of lines that is replaced: `[from, to)` of the old lines by `[newFrom, newTo)` of the new ones. */
export interface Replacement {
  readonly from: number
  readonly to: number
  readonly newFrom: number
  readonly newTo: number
}

/** Differences beyond which the whole middle counts as replaced: more would cost memory by the square. */
const DIFFERENCES = 2_000

/** The fewest replacements that turn the old lines into the new ones, in order. */
export function lineDiff(before: readonly string[], after: readonly string[]): readonly Replacement[] {
  const shortest = Math.min(before.length, after.length)
  let start = 0
  while (start < shortest && before[start] === after[start]) start++
  let end = 0
  while (end < shortest - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  const old = before.slice(start, before.length - end)
  const fresh = after.slice(start, after.length - end)
  if (old.length === 0 && fresh.length === 0) return []
  const middle = shortestScript(old, fresh) ?? [{ from: 0, to: old.length, newFrom: 0, newTo: fresh.length }]
  return middle.map(({ from, to, newFrom, newTo }) => ({
    from: from + start,
    to: to + start,
    newFrom: newFrom + start,
    newTo: newTo + start,
  }))
}

/** Myers' greedy walk over the diagonals; `undefined` when the two have too little in common. */
function shortestScript(old: readonly string[], fresh: readonly string[]): Replacement[] | undefined {
  const most = Math.min(old.length + fresh.length, DIFFERENCES)
  const trace: Int32Array[] = []
  // Index `d + diagonal + 1`: one cell to spare on either side.
  let furthest = new Int32Array(3)
  for (let d = 0; d <= most; d++) {
    trace.push(furthest)
    const next = new Int32Array(2 * d + 5)
    for (let diagonal = -d; diagonal <= d; diagonal += 2) {
      let x = stepTo(furthest, d, diagonal)
      let y = x - diagonal
      while (x < old.length && y < fresh.length && old[x] === fresh[y]) {
        x++
        y++
      }
      next[diagonal + d + 2] = x
      if (x >= old.length && y >= fresh.length) return backtrack(trace, old.length, fresh.length)
    }
    furthest = next
  }
  return undefined
}

/** Where a walk of `d` differences enters a diagonal: by leaving out an old line, or by adding a new one. */
function stepTo(furthest: Int32Array, d: number, diagonal: number): number {
  if (d === 0) return 0
  const [below, above] = neighbours(furthest, d, diagonal)
  return diagonal === -d || (diagonal !== d && below < above) ? above : below + 1
}

/** What the round before reached on the diagonals next to this one. */
function neighbours(furthest: Int32Array, d: number, diagonal: number): readonly [number, number] {
  const at = diagonal + d + 1
  return [furthest[at - 1] ?? 0, furthest[at + 1] ?? 0]
}

function backtrack(trace: readonly Int32Array[], oldLength: number, newLength: number): Replacement[] {
  const replacements: Replacement[] = []
  let x = oldLength
  let y = newLength
  for (let d = trace.length - 1; d > 0; d--) {
    const furthest = trace[d] ?? new Int32Array()
    const diagonal = x - y
    const [below, above] = neighbours(furthest, d, diagonal)
    const isAdded = diagonal === -d || (diagonal !== d && below < above)
    const fromX = isAdded ? above : below
    const fromY = fromX - (isAdded ? diagonal + 1 : diagonal - 1)
    prepend(replacements, { from: fromX, to: isAdded ? fromX : fromX + 1, newFrom: fromY, newTo: isAdded ? fromY + 1 : fromY })
    x = fromX
    y = fromY
  }
  return replacements
}

/** Joins what touches. */
function prepend(replacements: Replacement[], edit: Replacement): void {
  const [next] = replacements
  if (next !== undefined && edit.to === next.from && edit.newTo === next.newFrom)
    replacements[0] = { from: edit.from, to: next.to, newFrom: edit.newFrom, newTo: next.newTo }
  else replacements.unshift(edit)
}
