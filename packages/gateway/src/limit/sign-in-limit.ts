import { isIPv6 } from 'node:net'
import type { Meter, Rate } from './meter.ts'
import { MeterTable } from './meter-table.ts'

export interface SignInRates {
  readonly perAddress: Rate
  readonly perAccount: Rate
}

const ADDRESSES_MAX = 20_000
const ACCOUNTS_MAX = 20_000

/** What a sign-in may do: go on, and be given back its place when it succeeds; or come back later. */
export type SignInPass =
  | { readonly kind: 'go'; succeeded(): void }
  | { readonly kind: 'wait'; readonly retryAfterSeconds: number }

/** Slows down guessing: by address, and by account whatever the address. Only failures count. */
export class SignInLimit {
  readonly #addresses: MeterTable
  readonly #accounts: MeterTable

  constructor(rates: SignInRates, now: () => number) {
    this.#addresses = new MeterTable(rates.perAddress, ADDRESSES_MAX, now)
    this.#accounts = new MeterTable(rates.perAccount, ACCOUNTS_MAX, now)
  }

  /** Takes a place before the password is looked at, so that a flood cannot run ahead of its failures. */
  enter(address: string, account?: string): SignInPass {
    const meters: Meter[] = [this.#addresses.get(networkOf(address))]
    if (account !== undefined) meters.push(this.#accounts.get(account))
    const closed = meters.filter((meter) => !meter.open)
    if (closed.length > 0) return { kind: 'wait', retryAfterSeconds: Math.max(...closed.map((meter) => meter.waitSeconds)) }
    for (const meter of meters) meter.take()
    return {
      kind: 'go',
      succeeded: () => {
        for (const meter of meters) meter.refund()
      },
    }
  }
}

/** One home has a whole /64 of IPv6 addresses; counting each alone would count nothing. */
function networkOf(address: string): string {
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.split('::')
  const groups = head === '' ? [] : head.split(':')
  if (tail !== undefined) {
    const rest = tail === '' ? [] : tail.split(':')
    while (groups.length + rest.length < 8) groups.push('0')
    groups.push(...rest)
  }
  return `${groups.slice(0, 4).join(':')}::/64`
}
