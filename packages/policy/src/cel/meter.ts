import { CEL_LIMITS } from './cel-limits.ts'

/** What an evaluation may still cost. Once it is used up every charge fails, so that what goes on in spite of an error ends soon. */
export class CostMeter {
  #left = 0

  start(): void {
    this.#left = CEL_LIMITS.cost
  }

  /** Whether the evaluation cost too much. What came out of it does not count then: `||` and `&&` pass over errors. */
  get isUsedUp(): boolean {
    return this.#left < 0
  }

  charge(cost: number): void {
    this.#left -= cost
    if (this.#left < 0) {
      this.#left = -1
      throw new Error(`it costs more than ${CEL_LIMITS.cost}`)
    }
  }

  chargeChars(chars: number): void {
    this.charge(chars / CEL_LIMITS.charsPerCost)
  }
}
