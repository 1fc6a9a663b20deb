import * as z from 'zod'

export { CallCancelled, RPC_CODES, type RpcCodeName, RpcError } from './rpc-error.ts'

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

/** An argument that fits its schema and is wrong all the same. */
export const wrongArgument = (field: string, fault: string, hint?: string): ToolError =>
  new ToolError('invalid_argument', `${field}: ${fault}`, { field, ...(hint === undefined ? {} : { hint }) })
