import { Meter, type Rate } from './meter.ts'
import { RecentMap } from './recent-map.ts'

/** One meter per name, for a bounded number of names; the ones unused for longest are forgotten first. */
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
    this.#meters.set(name, meter)
    return meter
  }
}
