import type { Value } from '@parley/database'

/** What a holder shows with every write: the item, and the number of its lease. */
export interface LeaseFence {
  readonly queue: string
  readonly key: string
  readonly fence: number
  /** Who must be holding it. Left out by those to whom the number is enough: it can be guessed, so whoever shows one from outside is named. */
  readonly holder?: string
}

/**
 * A fence is the item's number times this, plus how often it was claimed. Numbers are never given twice, so a fence of
 * an item that was completed and offered again can never fit; and a later fence is always the greater one.
 */
const TURNS = 2 ** 20
/** What a restored store may have given: the fences of as many more items and turns are still numbers that JavaScript counts exactly. */
export const MAX_LEASES = 2 ** 32
export const MAX_TURNS = TURNS / 2

/** The columns that a fence stands for. One that nobody was ever given stands for no row. */
function fenceColumns({ fence }: Pick<LeaseFence, 'fence'>): readonly [id: number, turns: number] {
  return Number.isSafeInteger(fence) && fence > 0 ? [Math.floor(fence / TURNS), fence % TURNS] : [-1, -1]
}

export const makeFence = (id: number, turns: number): number => id * TURNS + turns

/** No fence of an item with a number below this expression is as high. */
export const firstFence = (id: string): string => `(${id}) * ${TURNS}`

/** True for the row that a fence holds now. The parameters start at `first`: id, turns, queue, key, now, holder or null. */
export const heldBy = (first: number): string =>
  `id = $${first} AND turns = $${first + 1} AND queue = $${first + 2} AND key = $${first + 3} AND holder = coalesce(CAST($${first + 5} AS TEXT), holder) AND available_at > $${first + 4}`

/** What `heldBy` asks for. */
export const fenceValues = (fence: LeaseFence, now: number): readonly Value[] => [
  ...fenceColumns(fence),
  fence.queue,
  fence.key,
  now,
  fence.holder ?? null,
]

/** True where the lease of this alias was last taken under the fence of this expression. */
export const sameFence = (lease: string, fence: string): string => `${lease}.id * ${TURNS} + ${lease}.turns = ${fence}`

/** As `heldBy`, for a join. */
export const heldUnder = (lease: string, fence: string, now: string): string =>
  `${sameFence(lease, fence)} AND ${lease}.holder IS NOT NULL AND ${lease}.available_at > ${now}`
