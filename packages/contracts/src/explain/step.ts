import type { JsonValue } from '@parley/protocol'

/** One thing that is written anew so that Codex understands it. */
export interface Rewrite {
  /** Where, from the message: `params.items[0]`. */
  readonly field: string
  readonly from: JsonValue
  readonly to: JsonValue
  readonly why: string
}
