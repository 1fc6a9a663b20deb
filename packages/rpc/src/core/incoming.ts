import { holdsAtMost, type JsonValue, parseJson, RPC_CODES } from '@parley/protocol/wire'
import type { Limits } from '../limits.ts'
import type { Caller } from '../service.ts'
import { chargeBytes } from '../limit/charge.ts'

export interface IncomingFault {
  readonly kind: 'fault'
  readonly status: 400 | 413 | 429
  readonly code: number
  readonly message: string
}
export type Incoming = { readonly kind: 'value'; readonly value: JsonValue } | IncomingFault

const NO_JSON: IncomingFault = {
  kind: 'fault',
  status: 400,
  code: RPC_CODES.parse_error,
  message: 'Parse error: not JSON in UTF-8',
}

/** Reads what a caller sent, once it is paid for and known not to cost more than its size says. `undefined`: it was not UTF-8. */
export function readIncoming(
  text: string | undefined,
  caller: Caller,
  { messageValues }: Pick<Limits, 'messageValues'>,
): Incoming {
  if (text === undefined) return NO_JSON
  if (!chargeBytes(caller, text.length))
    return { kind: 'fault', status: 429, code: RPC_CODES.overloaded, message: 'too many bytes; slow down' }
  if (!holdsAtMost(text, messageValues)) {
    const message = `Invalid message: it holds more than ${messageValues} values; send fewer at once`
    return { kind: 'fault', status: 413, code: RPC_CODES.invalid_request, message }
  }
  const value = parseJson(text)
  return value === undefined ? NO_JSON : { kind: 'value', value }
}
