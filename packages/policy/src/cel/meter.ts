import { CEL_LIMITS } from './cel-limits.ts'

/** Whatever takes time in a decision is charged for before it is done. */
export interface Charges {
  /** Throws where it is more than is left. */
  charge(cost: number): void
  chargeChars(chars: number): void
}

export const USED_UP = `all that is looked at for one call costs more than ${CEL_LIMITS.cost}`

/**
 * What one decision may still cost, over all rules of all layers: were it by condition, a policy with many would take that many times as
 * long. Once it is used up every charge fails, so that what goes on in spite of an error ends soon.
 */
export class CostMeter implements Charges {
  #left: number = CEL_LIMITS.cost

  /** What was found out since does not count: `||` and `&&` pass over errors. */
  get isUsedUp(): boolean {
    return this.#left < 0
  }

  charge(cost: number): void {
    this.#left -= cost
    if (this.#left >= 0) return
    this.#left = -1
    throw new Error(USED_UP)
  }

  chargeChars(chars: number): void {
    this.charge(chars / CEL_LIMITS.charsPerCost)
  }
}
