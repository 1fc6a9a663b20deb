import type { JsonObject } from '@parley/protocol'

/** One event in Codex's own words (`msg` of `codex/event`): snake_case, told apart by `type`. */
export interface EventMessage extends JsonObject {
  readonly type: string
}
