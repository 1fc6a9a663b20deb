import * as z from 'zod'
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

/** What a failed tool call says, in `_meta["parley/error"]` and as text. Stable: programs switch on it. */
export const ToolErrorCode = z.enum([
  'invalid_argument',
  'not_found',
  'already_exists',
  'forbidden',
  'conflict',
  'quota_exceeded',
  'rate_limited',
  'lease_lost',
  'no_session',
  'unavailable',
  'internal',
])
export type ToolErrorCode = z.infer<typeof ToolErrorCode>

export const TOOL_ERROR_META = 'parley/error'

/** The body of a failed call: which code, what happened, which field, what to do about it. */
export const ToolErrorBody = z.object({
  code: ToolErrorCode,
  message: z.string(),
  field: z.string().optional(),
  hint: z.string().optional(),
})
export type ToolErrorBody = z.infer<typeof ToolErrorBody>

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

/** A tool's expected failure. It reaches the caller as an `isError` result that names the code, the field and the way out. */
export class ToolError extends Error {
  readonly code: ToolErrorCode
  readonly field: string | undefined
  readonly hint: string | undefined
  constructor(code: ToolErrorCode, message: string, more: { field?: string; hint?: string; cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.name = 'ToolError'
    this.code = code
    this.field = more.field
    this.hint = more.hint
  }
}
