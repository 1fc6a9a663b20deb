/** What the wires need of the protocol: no schemas, so that a server on a pipe answers before they are loaded. */
export { isJsonObject, type JsonObject, type JsonValue, parseJson } from './json.ts'
export { holdsAtMost } from './json-values.ts'
export { RPC_CODES, type RpcCodeName, RpcError } from './rpc-error.ts'
export { type Moves, Place } from './moves.ts'
export { RecentMap } from './recent-map.ts'
export { settlesWithin, unlessAborted, within } from './bounded-wait.ts'
export { asError, messageOf } from './thrown.ts'
