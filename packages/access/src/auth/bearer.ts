import { Denied } from '@parley/rpc'

/** The reasons a token is refused, each with the sentence that tells its bearer what to do. */
const REFUSALS = {
  missing_authorization: 'no Authorization header; send "Authorization: Bearer <token>"',
  malformed_authorization: 'the Authorization header is not "Bearer <token>"',
  unknown_token: 'this token is not known here; sign in again or ask for a new one',
  expired_token: 'this token has expired; sign in again or ask for a new one',
  revoked_token: 'this token was revoked; sign in again or ask for a new one',
} as const

export type RefusalCode = keyof typeof REFUSALS

export function refused(code: RefusalCode): Denied {
  return new Denied(401, code, REFUSALS[code])
}

const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i

/** Whether a text can stand after `Bearer`. */
export const isTokenText = (text: string): boolean => BEARER.test(`Bearer ${text}`)

/** Longer than any token we issue and than an identity provider's usual JWT. */
const AUTHORIZATION_MAX_CHARS = 8_192

/** Takes the token out of the header, or says what is wrong with the header. Never repeats the header. */
export function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined || authorization === '') throw refused('missing_authorization')
  const token = authorization.length > AUTHORIZATION_MAX_CHARS ? undefined : BEARER.exec(authorization)?.[1]
  if (token === undefined) throw refused('malformed_authorization')
  return token
}
