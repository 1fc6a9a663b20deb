import { type Rate, Meter, RecentMap } from '@parley/protocol/wire'

/** How many of those unused for longest are looked at to make room for one. */
const LOOKED_AT = 64

/**
 * One meter per name, for a bounded number of names. Of those unused for longest the one is forgotten from which the least was
 * taken: whoever brings new names does not make us forget the one that they have used up.
 */
export class MeterTable {
  readonly #meters: RecentMap<string, Meter>
  readonly #rate: Rate
  readonly #now: () => number

  constructor(rate: Rate, maxNames: number, now: () => number) {
    this.#meters = new RecentMap(maxNames)
    this.#rate = rate
    this.#now = now
  }

  get(name: string): Meter {
    const known = this.#meters.get(name)
    if (known !== undefined) return known
    const meter = new Meter(this.#rate, this.#now)
    if (this.#meters.isFull) this.#forgetOne()
    this.#meters.set(name, meter)
    return meter
  }

  #forgetOne(): void {
    let fullest: { readonly name: string; readonly left: number } | undefined
    let looked = 0
    for (const [name, { left }] of this.#meters.entries()) {
      if (fullest === undefined || left > fullest.left) fullest = { name, left }
      looked += 1
      if (looked >= LOOKED_AT || left >= this.#rate.burst) break
    }
    if (fullest !== undefined) this.#meters.delete(fullest.name)
  }
}
