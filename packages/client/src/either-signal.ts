/** Signals that fire with one of ours. Each is made once: whoever calls again and again hands in the same one, and making them costs. */
export class EitherSignal {
  readonly own: AbortSignal
  readonly #made = new WeakMap<AbortSignal, AbortSignal>()

  constructor(own: AbortSignal) {
    this.own = own
  }

  with(other: AbortSignal | undefined): AbortSignal {
    if (other === undefined) return this.own
    const known = this.#made.get(other)
    if (known !== undefined) return known
    const made = AbortSignal.any([other, this.own])
    this.#made.set(other, made)
    return made
  }
}
