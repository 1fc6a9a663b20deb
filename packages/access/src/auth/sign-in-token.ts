import { SignJWT, errors, jwtVerify } from 'jose'
import { type RandomBytes, UserId } from '@parley/protocol'
import type { SignInProof, SignInRecord, SignIns } from '@parley/store'
import { refused } from './bearer.ts'

const ISSUER = 'parley'
const AUDIENCE = 'parley'
const ALGORITHM = 'HS256'
const SIGN_IN_MS = 12 * 60 * 60_000
const JTI_BYTES = 16

export interface SignedIn {
  readonly token: string
  readonly jti: string
  readonly expiresAt: number
}

/** The JWTs that signing in gives. Each has its `jti` in the database, so that it can end before its time. */
export interface SignInTokens {
  /** Throws `Conflict` when the account has changed since the proof was looked at, and gives nothing then. */
  issue(userId: UserId, proof: SignInProof): Promise<SignedIn>
  /** Throws `Denied` with the reason. */
  verify(token: string): Promise<SignInRecord>
}

export function openSignInTokens(options: {
  readonly key: Uint8Array
  readonly signIns: SignIns
  readonly now: () => number
  readonly random: RandomBytes
}): SignInTokens {
  const { key, signIns, now, random } = options
  return {
    async issue(userId, proof) {
      const jti = Buffer.from(random(JTI_BYTES)).toString('base64url')
      const issuedAt = Math.floor(now() / 1000)
      const expiresAt = (issuedAt + SIGN_IN_MS / 1000) * 1000
      // The record comes first: a JWT without one would be refused, a record without a JWT harms nobody.
      await signIns.add({ jti, userId, expiresAt, proof })
      const token = await new SignJWT()
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setSubject(userId)
        .setJti(jti)
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt / 1000)
        .sign(key)
      return { token, jti, expiresAt }
    },
    async verify(token) {
      const claims = await verifiedClaims(token, key, now)
      const userId = UserId.safeParse(claims.sub)
      const record = claims.jti === undefined ? undefined : await signIns.get(claims.jti)
      if (record === undefined || !userId.success || record.userId !== userId.data) throw refused('unknown_token')
      if (record.revokedAt !== null) throw refused('revoked_token')
      return record
    },
  }
}

async function verifiedClaims(token: string, key: Uint8Array, now: () => number) {
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      audience: AUDIENCE,
      requiredClaims: ['sub', 'jti', 'exp'],
      currentDate: new Date(now()),
    })
    return payload
  } catch (error) {
    // Only a good signature gets as far as the expiry check, so `expired` tells nothing to a forger.
    if (error instanceof errors.JWTExpired) throw refused('expired_token')
    if (error instanceof errors.JOSEError || error instanceof TypeError) throw refused('unknown_token')
    throw error
  }
}
