import type { JsonValue } from './json.ts'

/** Codes of JSON-RPC, of MCP and our own, by the name we use for them. */
export const RPC_CODES = {
  parse_error: -32700,
  invalid_request: -32600,
  method_not_found: -32601,
  invalid_params: -32602,
  internal_error: -32603,
  resource_not_found_legacy: -32002,
  header_mismatch: -32020,
  missing_client_capability: -32021,
  unsupported_protocol_version: -32022,
  url_elicitation_required: -32042,
  policy_denied: -32950,
  policy_denied_continue: -32951,
  policy_reserved_misuse: -32952,
  policy_evaluator_error: -32953,
  approval_expired: -32954,
  subscribe_unsupported: -32960,
  unsubscribe_unsupported: -32961,
  overloaded: -32970,
} as const
export type RpcCodeName = keyof typeof RPC_CODES

/** Why a call ends early: whoever made it says that it is not wanted any more. Who was cut off never says so, and may come again. */
export class CallCancelled extends Error {
  constructor(reason = 'cancelled by the client') {
    super(reason)
    this.name = 'CallCancelled'
  }
}

/** A JSON-RPC error that crosses the wire as it is. For the protocol and the policy gate, never for a tool's own failure. */
export class RpcError extends Error {
  readonly code: number
  readonly data: JsonValue | undefined
  constructor(code: number | RpcCodeName, message: string, data?: JsonValue, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RpcError'
    this.code = typeof code === 'number' ? code : RPC_CODES[code]
    this.data = data
  }
}
