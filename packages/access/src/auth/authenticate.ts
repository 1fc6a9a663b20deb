import { RecentMap } from '@parley/protocol'
import { type Credentials, Denied, type MeterTable } from '@parley/rpc'
import type { GatewayCaller } from '../caller.ts'
import { bearerToken, refused } from './bearer.ts'
import { type Identify, hasKeptRoom, personKey } from './identify.ts'

/** Callers remembered, and how long one is believed before the store is asked again. */
const REMEMBERED_MAX = 10_000
const REMEMBERED_MS = 15_000
/** How often a lookup starts over because its caller was, or may have been, revoked meanwhile. */
const LOOKUPS_MAX = 5
/** What was read longer ago than this counts only where a revocation since then would have been heard. */
const UNHEARD_MS = 700

interface Remembered {
  caller: GatewayCaller
  readonly until: number
}

type Matches = (caller: GatewayCaller) => boolean

/** Says who is calling. The second time costs one look into a map. */
export interface Authenticate {
  (credentials: Credentials): GatewayCaller | Promise<GatewayCaller>
  /** Says it once more about somebody who was let in, and takes nothing from them. */
  again(credentials: Credentials): GatewayCaller | Promise<GatewayCaller>
  /** Forgets the callers that match, those that are being looked up right now among them. */
  forget(matches: Matches): void
  /** The soonest moment at which one of the remembered callers' tokens ends. */
  soonestExpiry(): number
}

export function openAuthenticate(options: {
  readonly identify: Identify
  readonly meters: MeterTable
  /** Whether revocations by other gateways are heard at once. While they are not, nobody is believed from memory. */
  readonly hears: () => boolean
  readonly now: () => number
  /** Told of each caller that the store was asked about, for the tokens' last use. */
  readonly seen: (caller: GatewayCaller) => void
}): Authenticate {
  const { identify, meters, hears, now, seen } = options
  const remembered = new RecentMap<string, Remembered>(REMEMBERED_MAX)
  const lookups = new Map<string, Promise<GatewayCaller>>()
  /** Of each lookup under way, who was forgotten since it began. */
  const forgotten = new Set<Matches[]>()

  const readCaller = async (token: string, from: From): Promise<GatewayCaller | undefined> => {
    const since: Matches[] = []
    forgotten.add(since)
    try {
      const askedAt = performance.now()
      const identity = await identify.byToken(token)
      if (performance.now() - askedAt > UNHEARD_MS && !hears()) return undefined
      const person = personKey(identity)
      const caller = { ...identity, ...from, person, hasKeptRoom: hasKeptRoom(identity), meter: meters.get(person) }
      // They may have been revoked after the row was read.
      return since.some((matches) => matches(caller)) ? undefined : caller
    } finally {
      forgotten.delete(since)
    }
  }

  const lookUp = async (token: string, from: From): Promise<GatewayCaller> => {
    for (let round = 0; round < LOOKUPS_MAX; round += 1) {
      const caller = await readCaller(token, from)
      if (caller === undefined) continue
      const until = Math.min(now() + REMEMBERED_MS, caller.expiresAt ?? Infinity)
      remembered.set(headerOf(token), { caller, until })
      seen(caller)
      return caller
    }
    throw new Denied(503, 'unavailable', 'tokens are being changed faster than this one can be checked; try again', 1)
  }

  const lookUpOnce = (token: string, from: From): Promise<GatewayCaller> => {
    const running = lookups.get(token)
    if (running !== undefined) return running.then((caller) => reached(caller, from.remote, from.host))
    const lookup = lookUp(token, from).finally(() => lookups.delete(token))
    lookups.set(token, lookup)
    return lookup
  }

  const again = ({ authorization, remoteAddress, host }: Credentials): GatewayCaller | Promise<GatewayCaller> => {
    if (authorization === undefined || authorization === '') throw refused('missing_authorization')
    const known = remembered.peek(authorization) ?? remembered.peek(headerOf(bearerToken(authorization)))
    if (known === undefined || known.until <= now() || !hears())
      return lookUpOnce(bearerToken(authorization), { remote: remoteAddress, host })
    known.caller = reached(known.caller, remoteAddress, host)
    return known.caller
  }
  const authenticate = (credentials: Credentials): GatewayCaller | Promise<GatewayCaller> => {
    const caller = again(credentials)
    return caller instanceof Promise
      ? caller.then((known) => metered(known, credentials.wire))
      : metered(caller, credentials.wire)
  }

  return Object.assign(authenticate, {
    again,
    forget(matches: Matches): void {
      for (const since of forgotten) since.push(matches)
      for (const [authorization, { caller }] of remembered.entries()) if (matches(caller)) remembered.delete(authorization)
    },
    soonestExpiry(): number {
      let soonest = Infinity
      for (const [, { caller }] of remembered.entries()) soonest = Math.min(soonest, caller.expiresAt ?? Infinity)
      return soonest
    },
  })
}

/** As most clients write it. There are many ways to write one token, and it is remembered once. */
const headerOf = (token: string): string => `Bearer ${token}`

/** Where a call came from, and under which name it reached us: the same token may be used by many. */
type From = Pick<GatewayCaller, 'remote' | 'host'>

function reached(caller: GatewayCaller, remote: string, host: string | undefined): GatewayCaller {
  return caller.remote === remote && caller.host === host ? caller : { ...caller, remote, host }
}

/** On HTTP a person who has used up their calls is told so before the body is read; calls themselves are counted later. */
function metered(caller: GatewayCaller, wire: Credentials['wire']): GatewayCaller {
  if (wire === 'http' && !caller.meter.open)
    throw new Denied(429, 'rate_limited', 'you make too many calls; slow down', caller.meter.waitSeconds)
  return caller
}
