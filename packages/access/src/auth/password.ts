import { scrypt, timingSafeEqual } from 'node:crypto'
import type { RandomBytes } from '@parley/protocol'
import { openLanes } from '../limit/lanes.ts'

/** Cost of a hash: memory is 128 * r * 2^logN bytes, 32 MiB here; `p` passes over it. */
interface Cost {
  readonly logN: number
  readonly r: number
  readonly p: number
}
const COST: Cost = { logN: 15, r: 8, p: 3 }
const SALT_BYTES = 16
const HASH_BYTES = 32
/** Hashes computed at once, and sign-ins that may wait for one: a flood costs 64 MiB and a bounded queue, no more. */
const HASHES_AT_ONCE = 2
const HASHES_WAITING = 16

const FORM = /^scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+=*)\$([A-Za-z0-9+/]+=*)$/

/** Hashes and checks passwords, a few at a time. Throws `LanesFull` when too many wait already. */
export interface Passwords {
  hash(password: string): Promise<string>
  /** Takes as long for a user without a password, or without an account (`null`), as for a wrong password. */
  matches(password: string, stored: string | null): Promise<boolean>
}

export function openPasswords(random: RandomBytes): Passwords {
  const lanes = openLanes({ atOnce: HASHES_AT_ONCE, waiting: HASHES_WAITING })
  const nobody = encode(COST, random(SALT_BYTES), new Uint8Array(HASH_BYTES))
  return {
    hash: (password) =>
      lanes.run(async () => {
        const salt = random(SALT_BYTES)
        return encode(COST, salt, await compute(password, salt, COST, HASH_BYTES))
      }),
    matches: (password, stored) =>
      lanes.run(async () => {
        const parsed = FORM.exec(stored ?? nobody)
        if (parsed === null) return false
        const [, logN, r, p, salt = '', hash = ''] = parsed
        const cost = { logN: Number(logN), r: Number(r), p: Number(p) }
        const expected = Buffer.from(hash, 'base64')
        const actual = await compute(password, Buffer.from(salt, 'base64'), cost, expected.length)
        return timingSafeEqual(actual, expected) && stored !== null
      }),
  }
}

function compute(password: string, salt: Uint8Array, cost: Cost, bytes: number): Promise<Buffer> {
  const N = 2 ** cost.logN
  // Node refuses what needs more than `maxmem`; twice the need leaves room for its own bookkeeping.
  const options = { N, r: cost.r, p: cost.p, maxmem: 256 * N * cost.r }
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), salt, bytes, options, (error, hash) => (error === null ? resolve(hash) : reject(error)))
  })
}

function encode(cost: Cost, salt: Uint8Array, hash: Uint8Array): string {
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
  return `scrypt$ln=${cost.logN},r=${cost.r},p=${cost.p}$${text(salt)}$${text(hash)}`
}
