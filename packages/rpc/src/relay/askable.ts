import type { JsonObject } from '@parley/protocol'

/** Whether a client can be asked anything. One that cannot may share a connection: nothing on it is only for others. */
export function canBeAsked(capabilities: JsonObject): boolean {
  return capabilities.elicitation !== undefined || capabilities.sampling !== undefined || capabilities.roots !== undefined
}

/** What of a client's capabilities an upstream is told. Extensions are left out: a relay does not serve them. */
export function askable({ elicitation, sampling, roots }: JsonObject): JsonObject {
  return {
    ...(elicitation === undefined ? {} : { elicitation }),
    ...(sampling === undefined ? {} : { sampling }),
    ...(roots === undefined ? {} : { roots }),
  }
}
