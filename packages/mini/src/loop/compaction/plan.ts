import type { Held } from '../history.ts'

/** Fewer are not worth a request. */
const LEAST_REPLACED = 2

export interface PlanOptions {
  /** The newest items stay as they are, if what stays fits. */
  readonly keptItems: number
  /** Whether items of this weight leave enough room. */
  readonly fits: (weight: number) => boolean
}

/**
 * Which items a summary should stand for: all but the pinned and the newest. What belongs together stays together: an
 * answer with its reasoning, its calls and their outputs is replaced as a whole or not at all. As long as what stays does
 * not fit, fewer of the newest stay. `undefined`: there is nothing to gain.
 */
export function planCompaction(held: readonly Held[], { keptItems, fits }: PlanOptions): readonly Held[] | undefined {
  const total = weightOf(held)
  const firstOfGroup = new Map<string, number>()
  for (const [index, { group }] of held.entries()) if (!firstOfGroup.has(group)) firstOfGroup.set(group, index)
  let best: readonly Held[] | undefined
  for (let kept = keptItems; ; kept = Math.floor(kept / 2)) {
    const start = startOfTail(held, kept, firstOfGroup)
    const replaced = held.slice(0, start).filter(({ pinned }) => !pinned)
    if (replaced.length >= LEAST_REPLACED) best = replaced
    if (kept === 0 || (best !== undefined && fits(total - weightOf(best)))) return best
  }
}

/** The newest `kept` items, and what belongs to them. */
function startOfTail(held: readonly Held[], kept: number, firstOfGroup: ReadonlyMap<string, number>): number {
  let start = Math.max(0, held.length - kept)
  for (let index = held.length - 1; index >= start; index--) {
    const group = held[index]?.group
    if (group !== undefined) start = Math.min(start, firstOfGroup.get(group) ?? start)
  }
  return start
}

const weightOf = (held: readonly Held[]): number => held.reduce((sum, { weight }) => sum + weight, 0)
