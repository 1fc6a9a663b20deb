import { isIPv6 } from 'node:net'
import { MeterTable } from '@parley/rpc'
import type { Meter, Rate } from '@parley/protocol'

export interface SignInRates {
  readonly perAddress: Rate
  readonly perAccount: Rate
  /** The same for those that succeed: each costs a hash and a row. Left out: `SUCCESSES`. */
  readonly successes?: { readonly perAddress: Rate; readonly perAccount: Rate }
}

/** Far more than people sign in, from a whole office too. */
const SUCCESSES = { perAddress: { perSecond: 5, burst: 300 }, perAccount: { perSecond: 0.5, burst: 60 } }

const ADDRESSES_MAX = 20_000
const ACCOUNTS_MAX = 20_000
const MADE_UP_MAX = 20_000

/** What a sign-in may do: go on, and be given back its place when it succeeds or was not tried at all; or come back later. */
export type SignInPass =
  | { readonly kind: 'go'; succeeded(): void; giveBack(): void }
  | { readonly kind: 'wait'; readonly retryAfterSeconds: number }

/** A name that somebody typed, and whether there is an account of that name. */
export interface SignInName {
  readonly name: string
  readonly isKnown: boolean
}

/**
 * Slows down guessing: by address, and by account whatever the address. Failures count, and successes by themselves. Names that
 * are nobody's are counted apart, so that no number of them makes us forget an account that is being guessed at.
 */
export class SignInLimit {
  readonly #addresses: MeterTable
  readonly #accounts: MeterTable
  readonly #madeUp: MeterTable
  readonly #addressSuccesses: MeterTable
  readonly #accountSuccesses: MeterTable

  constructor(rates: SignInRates, now: () => number) {
    const successes = rates.successes ?? SUCCESSES
    this.#addresses = new MeterTable(rates.perAddress, ADDRESSES_MAX, now)
    this.#accounts = new MeterTable(rates.perAccount, ACCOUNTS_MAX, now)
    this.#madeUp = new MeterTable(rates.perAccount, MADE_UP_MAX, now)
    this.#addressSuccesses = new MeterTable(successes.perAddress, ADDRESSES_MAX, now)
    this.#accountSuccesses = new MeterTable(successes.perAccount, ACCOUNTS_MAX, now)
  }

  /** Takes a place before the password is looked at, so that a flood cannot run ahead of its failures. */
  enter(address: string, account?: SignInName): SignInPass {
    const network = networkOf(address)
    const failures = [this.#addresses.get(network), ...(account === undefined ? [] : [this.#ofAccount(account)])]
    const successes = [this.#addressSuccesses.get(network), ...(account === undefined ? [] : this.#successesOf(account))]
    return take(failures, successes)
  }

  /** The same for the account alone, when the address has its place already and it was looked up whether there is such an account. */
  enterAccount(account: SignInName): SignInPass {
    return take([this.#ofAccount(account)], this.#successesOf(account))
  }

  #ofAccount({ name, isKnown }: SignInName): Meter {
    return (isKnown ? this.#accounts : this.#madeUp).get(name)
  }

  #successesOf({ name, isKnown }: SignInName): readonly Meter[] {
    return isKnown ? [this.#accountSuccesses.get(name)] : []
  }
}

function take(failures: readonly Meter[], successes: readonly Meter[]): SignInPass {
  const closed = [...failures, ...successes].filter((meter) => !meter.open)
  if (closed.length > 0) return { kind: 'wait', retryAfterSeconds: Math.max(...closed.map((meter) => meter.waitSeconds)) }
  for (const meter of failures) meter.take()
  const giveBack = (): void => {
    for (const meter of failures) meter.refund()
  }
  return {
    kind: 'go',
    giveBack,
    succeeded: () => {
      giveBack()
      for (const meter of successes) meter.take()
    },
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
