import { createHash, timingSafeEqual } from 'node:crypto'
import type { RandomBytes, Role } from '@parley/protocol'

/** How a token's text starts, by what it is good for. `lnk_` is a one-time link's. */
const PREFIXES = { user: 'pat_', judge: 'jdg_', agent: 'agt_', host: 'hst_', executor: 'exe_' } as const satisfies Record<
  Role,
  string
>
const LINK_PREFIX = 'lnk_'
const SECRET_BYTES = 32
const OPAQUE = /^(?:pat|jdg|agt|hst|exe)_[A-Za-z0-9_-]{43}$/
const LINK = /^lnk_[A-Za-z0-9_-]{43}$/

/** Makes a token's text: 256 random bits behind the prefix of its role. */
export function mintToken(role: Role, random: RandomBytes): string {
  return PREFIXES[role] + secretText(random)
}

export function mintLink(random: RandomBytes): string {
  return LINK_PREFIX + secretText(random)
}

export const isOpaqueToken = (text: string): boolean => OPAQUE.test(text)
export const isLinkText = (text: string): boolean => LINK.test(text)

/** What is stored instead of the text. 256 random bits need no salt and no slow hash. */
export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Compares without telling by its time how much was right. */
export function sameHash(left: string, right: string): boolean {
  const a = Buffer.from(left, 'hex')
  const b = Buffer.from(right, 'hex')
  return a.length === b.length && timingSafeEqual(a, b)
}

function secretText(random: RandomBytes): string {
  return Buffer.from(random(SECRET_BYTES)).toString('base64url')
}
