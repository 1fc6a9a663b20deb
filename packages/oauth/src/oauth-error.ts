/**
 * `unreachable`: the server or its authorization server cannot be asked; `unsupported`: it has no OAuth, or a kind that
 * we do not speak; `refused`: it said no, its words are in the message; `timed_out`: nobody came back from the browser;
 * `moved`: another server than the one that gave the tokens is named now, so nothing was sent: sign in again.
 */
export type OauthErrorCode = 'unreachable' | 'unsupported' | 'refused' | 'timed_out' | 'moved'

/** A sign-in at an MCP server that did not work. */
export class OauthError extends Error {
  readonly code: OauthErrorCode
  constructor(code: OauthErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'OauthError'
    this.code = code
  }
}
