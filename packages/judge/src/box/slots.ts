import type { Sandbox } from '@parley/sandbox'
import { SharedPlaces } from './shared-places.ts'
import { Slot } from './slot.ts'

/** The cores of this judge. Who wants all of them runs alone. */
export class Slots extends SharedPlaces<Slot> {
  readonly #slots: readonly Slot[]

  constructor(sandbox: Sandbox, count: number, now?: () => number) {
    const slots = Array.from({ length: count }, () => new Slot(sandbox))
    super(slots, now)
    this.#slots = slots
  }

  async close(): Promise<void> {
    this.refuseAll()
    await Promise.all(this.#slots.map((slot) => slot.close()))
  }
}
