/** Why a gateway does not start, by a code that programs switch on. */
export type StartFailure =
  | 'secret_too_short'
  | 'secret_mismatch'
  | 'judge_token_invalid'
  | 'host_token_invalid'
  | 'executor_token_invalid'
  | 'first_admin_invalid'
  | 'duplicate_tool'
  | 'jwks_invalid'
  | 'channel_invalid'

/** The gateway refuses to start. The message says what to change. */
export class GatewayRefused extends Error {
  readonly code: StartFailure
  constructor(code: StartFailure, message: string) {
    super(message)
    this.name = 'GatewayRefused'
    this.code = code
  }
}
