/** How much faster or slower than time itself a clock goes while it is led back to what it follows. */
const SLEW = 0.1
/** A smaller difference between the clocks comes from rounding and is no sleep. */
const LEAST_SLEEP_MS = 2_000

/** The machine's clocks, in milliseconds. */
export interface MachineClocks {
  /** The time of day. Somebody may set it while we run. */
  readonly wall: () => number
  /** Never set, and stands still while the machine sleeps. */
  readonly steady: () => number
  /** Never set, and goes on while the machine sleeps. */
  readonly uptime: () => number
}

/**
 * A time of day that never jumps. It goes by the machine's steady clock from one reading; what it follows may be set an hour forward or
 * back, and then it goes a tenth faster or slower until it is there. Leases compare its readings: a jump forward would end all of them at
 * once, a jump back would keep leases of holders that are dead.
 */
export class SteadyClock {
  readonly #clocks: Pick<MachineClocks, 'steady' | 'uptime'>
  #time: number
  #steady: number
  #sleptFor: number
  /** How far what is followed is ahead of us. */
  #ahead = 0

  constructor(clocks: Pick<MachineClocks, 'steady' | 'uptime'>, reading: number) {
    this.#clocks = clocks
    this.#time = reading
    this.#steady = clocks.steady()
    this.#sleptFor = clocks.uptime() - this.#steady
  }

  readonly now = (): number => {
    this.#advance()
    return Math.round(this.#time)
  }

  /** How far what is followed is ahead, after the last reading. */
  get aheadMs(): number {
    return this.#ahead
  }

  /** A new reading of what is followed. */
  follow(reading: number): void {
    this.#advance()
    // The time that the machine slept did pass: that is no jump.
    const sleptFor = this.#clocks.uptime() - this.#steady
    if (sleptFor - this.#sleptFor >= LEAST_SLEEP_MS) this.#time += sleptFor - this.#sleptFor
    this.#sleptFor = sleptFor
    this.#ahead = reading - this.#time
  }

  #advance(): void {
    const steady = this.#clocks.steady()
    const passed = steady - this.#steady
    const most = passed * SLEW
    const slewed = Math.max(-most, Math.min(most, this.#ahead))
    this.#steady = steady
    this.#time += passed + slewed
    this.#ahead -= slewed
  }
}
