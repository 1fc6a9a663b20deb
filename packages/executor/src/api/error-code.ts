import type { JsonValue } from '@parley/protocol'
import { RemoteFailure } from '@parley/rpc/frame'

/** The codes of the process API, as the real `codex exec-server` answers with them. */
export const CODE = {
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  /** A file is not there. */
  notFound: -32_004,
  /** The session that is to be resumed has a connection. */
  sessionAttached: -32_010,
} as const

/** Stands beside the refusal of a session, so that our clients can tell it from others; the words are for people. */
export const DRAINING = { reason: 'draining' } as const

/** A request that is answered with an error. */
export function refusal(code: keyof typeof CODE, message: string, data?: JsonValue): RemoteFailure {
  return new RemoteFailure(CODE[code], message, data)
}
