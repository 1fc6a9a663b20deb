import type { JsonObject } from '@parley/protocol'

/**
 * `invalid_request`: what was asked for cannot be (an unknown profile, a path outside); `unsupported`: not on this
 * engine or this version, the message says what would do it; `failed`: it was tried and did not work; `lost`: the
 * process behind it is gone and could not be brought back; `too_many`: a bound, said in the message.
 */
export type BackendErrorCode = 'invalid_request' | 'unsupported' | 'failed' | 'lost' | 'too_many'

/** Something that a backend was asked for and could not do. The message is for the client. */
export class BackendError extends Error {
  readonly code: BackendErrorCode
  /** Of the parameter at fault, and the versions where that is the fault. */
  readonly data: JsonObject | undefined
  constructor(code: BackendErrorCode, message: string, more: { readonly data?: JsonObject; readonly cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.name = 'BackendError'
    this.code = code
    this.data = more.data
  }
}
