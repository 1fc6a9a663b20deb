import { createHash } from 'node:crypto'
import type { RandomBytes } from '@parley/protocol'
import type { FoundModelKey, ModelKeys } from '@parley/store'
import { holderOf } from './key-holder.ts'
import { ModelRefusal } from './refusal.ts'

const PREFIX = 'mdl_'
const SECRET_BYTES = 32
const FORM = /^mdl_[A-Za-z0-9_-]{43}$/
/** What people, judges and agents show at `/mcp`. */
const TOKEN = /^(?:(?:pat|jdg|agt)_[A-Za-z0-9_-]{43}$|eyJ)/
const BEARER = /^bearer +(\S{1,8192})$/i
/** A lease that is renewed at the last moment must not cut what runs under it. */
const KEY_GRACE_MS = 1_000

/** Makes a key for one attempt or turn: 256 random bits; the store gets their hash, which needs no salt. */
export function mintModelKey(random: RandomBytes): { readonly text: string; readonly hash: string } {
  const text = PREFIX + Buffer.from(random(SECRET_BYTES)).toString('base64url')
  return { text, hash: hashOf(text) }
}

/** The hash of the key that a request shows, or a refusal that says which key is needed. */
export function shownKeyHash(authorization: string | undefined): string {
  if (authorization === undefined || authorization === '')
    throw refused('missing_api_key', `no Authorization header; send "Authorization: Bearer ${PREFIX}…"`)
  const text = BEARER.exec(authorization)?.[1]
  if (text === undefined) throw refused('invalid_api_key', 'the Authorization header is not "Bearer <key>"')
  if (FORM.test(text)) return hashOf(text)
  const what = TOKEN.test(text) ? 'this is a token for /mcp, not a key for models' : 'this is no key that was made here'
  throw refused('invalid_api_key', `${what}; ${NEEDED}`)
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Finds the key, as long as it works. */
export async function openKey(keys: ModelKeys, hash: string, now: number): Promise<FoundModelKey> {
  const found = await keys.find(hash)
  if (found === undefined) throw refused('invalid_api_key', `this key is not known here; ${NEEDED}`)
  const over = overBecause(found, now)
  if (over !== undefined) throw refused('expired_api_key', `this key does not work any more: ${over}`)
  return found
}

/** Why a key does not work any more; `undefined` while it does. */
export function overBecause(found: FoundModelKey, now: number): string | undefined {
  const { ended } = holderOf(found)
  if (ended !== undefined) return ended
  const { leaseExpiresAt } = found
  if (leaseExpiresAt === null) return 'its claim is over'
  return now > leaseExpiresAt + KEY_GRACE_MS ? 'its lease ran out' : undefined
}

const NEEDED = `/v1 takes the short-lived key (${PREFIX}…) that judge.prepare_generate or host.prepare_turn gives`
const refused = (code: string, message: string): ModelRefusal => new ModelRefusal(401, code, message)
