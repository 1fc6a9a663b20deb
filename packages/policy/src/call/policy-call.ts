import type { PolicyCounts, CallKind, JsonObject, JsonValue, Role } from '@parley/protocol'

/** A call that is about to be made, as policy sees it: names by structure, arguments as they will be sent. */
export interface PolicyCall {
  readonly caller: { readonly role: Role; readonly name: string }
  readonly agent: { readonly id: string; readonly name: string; readonly owner: string }
  /** The session of the agent's client, where there is one. */
  readonly session: string | null
  readonly kind: CallKind
  /** Null for what an engine does itself. */
  readonly mount: string | null
  /** The version of the mount's specification. */
  readonly mountVersion: number | null
  /** The tool, the prompt, the resource's URI, or the program. */
  readonly name: string
  readonly arguments: JsonValue
  /** What the server says about a tool. A hint: a server may lie. */
  readonly annotations: JsonObject | undefined
  /** Null where it is not known: a rule that goes by them fails then, which denies. */
  readonly counts: PolicyCounts | null
  /** Milliseconds since 1970. */
  readonly now: number
}

/** How a rule writes the mount of what an engine does itself. A mount cannot be called so. */
export const ENGINE_MOUNT = '@engine'
