/** A log to which something is chained: where it ends, and what was kept of its chain there. */
export interface ChainedEnd {
  readonly name: string
  readonly offset: number
  /** As `extend` or `trim` made it last; null while nothing is chained. */
  readonly head: Uint8Array | null
  /** Whether the last entry says what it is chained by. */
  readonly isChained: boolean
}

/**
 * Chains the entries of a log, so that who changes one of them is found out. The store keeps what it is given with the entries and with the log,
 * in the same commit, and understands nothing of it: the key belongs to whoever hands this in.
 */
export interface LogChain {
  /** What these entries are chained by when they come next, one for each, and what is kept of the chain then. */
  extend(
    end: ChainedEnd,
    entries: readonly Uint8Array[],
    at: number,
  ): { readonly head: Uint8Array; readonly chains: readonly Uint8Array[] }
  /** What is kept of the chain when all before an offset is gone; `chain` is that of the last chained entry among it. */
  trim(
    log: Pick<ChainedEnd, 'name' | 'head'>,
    gone: { readonly offset: number; readonly chain: Uint8Array | null },
  ): Uint8Array | null
}

/** A log as it is in the tables, for who proves that it is as it was written. */
export interface ChainedLog {
  readonly head: Uint8Array | null
  /** Where the log says that it begins and ends. */
  readonly first: { readonly seq: number; readonly offset: number }
  readonly end: { readonly seq: number; readonly offset: number }
  /** The number after that of its last entry, and where that ends; null: it has none. */
  readonly last: { readonly seq: number; readonly offset: number } | null
}

/** An entry as it is in its row. */
export interface ChainedEntry {
  readonly seq: number
  readonly offset: number
  readonly at: number
  readonly bytes: Uint8Array
  readonly chain: Uint8Array | null
}

/** Logs of which the end is remembered. */
const ENDS_MAX = 2_000

/** Where chained logs ended when this process wrote to them last, so that the next append need not ask. */
export class ChainedEnds {
  readonly #ends = new Map<string, ChainedEnd>()

  get(name: string): ChainedEnd | undefined {
    return this.#ends.get(name)
  }

  set(end: ChainedEnd): void {
    this.#ends.delete(end.name)
    this.#ends.set(end.name, end)
    const [oldest] = this.#ends.keys()
    if (this.#ends.size > ENDS_MAX && oldest !== undefined) this.#ends.delete(oldest)
  }

  forget(name: string): void {
    this.#ends.delete(name)
  }
}
