import type { JsonValue } from '@parley/protocol'

/** What is looked at of arguments, which strangers write. What is beyond is refused, never left out silently. */
export const JSON_LIMITS = {
  /** Arrays and objects inside of each other. */
  depth: 64,
  /** Values in all: each costs time and memory. */
  values: 20_000,
} as const

/** Arguments that cannot be looked at whole, and why. */
export class JsonRefused extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'JsonRefused'
  }
}

/** Counts values and depth while somebody walks through JSON. */
export class JsonBounds {
  #values = 0

  /** Throws `JsonRefused`. */
  enter(depth: number): void {
    this.#values += 1
    if (depth > JSON_LIMITS.depth) throw new JsonRefused(`the arguments are nested deeper than ${JSON_LIMITS.depth}`)
    if (this.#values > JSON_LIMITS.values) throw new JsonRefused(`the arguments hold more than ${JSON_LIMITS.values} values`)
  }
}

/** The members of an object that are there. Throws `JsonRefused` for what only looks like JSON, as a date of TOML does. */
export function entriesOf(value: object): readonly (readonly [string, JsonValue])[] {
  const kind = Object.prototype.toString.call(value)
  if (kind !== '[object Object]') throw new JsonRefused(`${kind.slice('[object '.length, -1)} is no value of JSON`)
  return Object.entries<JsonValue | undefined>({ ...value }).flatMap(([name, member]) =>
    member === undefined ? [] : [[name, member]],
  )
}
