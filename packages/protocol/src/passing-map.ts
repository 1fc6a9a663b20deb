interface Place<Value extends object> {
  value: Value | undefined
}

/**
 * A map of what is under way: entries come and go all the time, few are there at once. A plain `Map` makes itself a new table every few
 * entries, and V8 lets the table before point to it. Where one such table has grown old, all that follow stay in memory until
 * the next full collection, and with them each call that was ever under way. Here they hold no more than an empty place.
 */
export class PassingMap<Key, Value extends object> {
  readonly #places = new Map<Key, Place<Value>>()

  get size(): number {
    return this.#places.size
  }

  has(key: Key): boolean {
    return this.#places.has(key)
  }

  get(key: Key): Value | undefined {
    return this.#places.get(key)?.value
  }

  set(key: Key, value: Value): void {
    const place = this.#places.get(key)
    if (place === undefined) this.#places.set(key, { value })
    else place.value = value
  }

  /** Takes an entry out; what it was, if it was there. */
  take(key: Key): Value | undefined {
    const place = this.#places.get(key)
    if (place === undefined) return undefined
    const { value } = place
    place.value = undefined
    this.#places.delete(key)
    return value
  }

  clear(): void {
    for (const key of this.#places.keys()) this.take(key)
  }

  /** Those that are there, oldest first. What is taken out while somebody goes through them is not met any more. */
  *entries(): Generator<[Key, Value], void, undefined> {
    for (const [key, { value }] of this.#places) if (value !== undefined) yield [key, value]
  }

  *values(): Generator<Value, void, undefined> {
    for (const { value } of this.#places.values()) if (value !== undefined) yield value
  }
}
