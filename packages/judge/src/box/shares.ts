/** What one of those who share the cores has had of them. */
interface Share {
  /** Core milliseconds up to `since`. */
  usedMs: number
  since: number
  /** The cores that are held for it now. */
  cores: number
  waiting: number
}

/** How many are remembered of those who had much and have gone. */
const KEPT_MAX = 1_000

/**
 * Who has had how much of the cores, counted in core milliseconds: so one long run counts as much as many short ones, and a run alone as
 * much as all the cores it keeps from others. Who comes anew begins with the least of those who are here: nobody saves up by staying away.
 */
export class CoreShares {
  readonly #shares = new Map<string | null, Share>()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  /** One more of the owner's waits for cores, until `waited`. */
  waits(owner: string | null): void {
    const share = this.#enter(owner)
    if (!isHere(share)) share.usedMs = Math.max(share.usedMs, this.#least() ?? 0)
    share.waiting += 1
  }

  waited(owner: string | null): void {
    const share = this.#enter(owner)
    share.waiting -= 1
    if (!isHere(share)) this.#forget()
  }

  /** So many more cores are kept for the owner, or so many less. */
  holds(owner: string | null, cores: number): void {
    const share = this.#enter(owner)
    share.usedMs = this.#usedMs(share)
    share.since = this.#now()
    share.cores += cores
    if (!isHere(share)) this.#forget()
  }

  usedMs(owner: string | null): number {
    const share = this.#shares.get(owner)
    return share === undefined ? 0 : this.#usedMs(share)
  }

  /** How many are remembered. */
  get size(): number {
    return this.#shares.size
  }

  #usedMs({ usedMs, cores, since }: Share): number {
    return usedMs + cores * (this.#now() - since)
  }

  #enter(owner: string | null): Share {
    const known = this.#shares.get(owner)
    if (known !== undefined) return known
    const share: Share = { usedMs: 0, since: this.#now(), cores: 0, waiting: 0 }
    this.#shares.set(owner, share)
    return share
  }

  /** What that one of those who are here has had that has had the least. */
  #least(): number | undefined {
    const used = [...this.#shares.values()].filter(isHere).map((share) => this.#usedMs(share))
    return used.length === 0 ? undefined : Math.min(...used)
  }

  /** Nothing is lost with one who has gone and had no more than those who are here: that is where it would begin again. */
  #forget(): void {
    const least = this.#least()
    const gone = [...this.#shares].filter(([, share]) => !isHere(share))
    for (const [owner, { usedMs }] of gone) if (least === undefined || usedMs <= least) this.#shares.delete(owner)
    for (const [owner] of gone) {
      if (this.#shares.size <= KEPT_MAX) break
      this.#shares.delete(owner)
    }
  }
}

const isHere = ({ cores, waiting }: Share): boolean => cores > 0 || waiting > 0
