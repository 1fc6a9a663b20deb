import { Denied, type HttpServer } from '@parley/rpc'
import type { Topics } from '@parley/store'
import type { Logger } from 'pino'
import { type GatewayCaller, isLocal } from '../caller.ts'
import type { Authenticate } from './authenticate.ts'
import type { Identify } from './identify.ts'

/** How late a connection may be cut after its token expired. */
const EXPIRY_TICK_MS = 500
/** How often everybody who is connected is checked again, in case the database's word of a change got lost. */
export const RECHECK_MS = 60_000
const RECHECKS_AT_ONCE = 8
/** How often that is done while no word of a change is heard at all. */
const DEAF_RECHECK_MS = 500

/** Ends what a token opened when the token ends: revoked here or by another gateway, expired, its user disabled. */
export interface TokenWatch {
  stop(): void
}

export function openTokenWatch(options: {
  readonly topics: Topics
  readonly authenticate: Authenticate
  readonly identify: Identify
  readonly servers: readonly HttpServer<GatewayCaller>[]
  readonly log: Logger
  readonly now: () => number
  readonly recheckMs: number
}): TokenWatch {
  const { topics, authenticate, identify, servers, log, now, recheckMs } = options

  const cut = (matches: (caller: GatewayCaller) => boolean, reason: string): number => {
    let ended = 0
    for (const server of servers) ended += server.cut(matches, reason)
    return ended
  }
  const connected = (matches: (caller: GatewayCaller) => boolean): Map<string, GatewayCaller> => {
    const found = new Map<string, GatewayCaller>()
    cut((caller) => {
      // Nothing that happens to an account or a token takes the admin socket from whoever may open it.
      if (matches(caller) && !isLocal(caller)) found.set(caller.key, caller)
      return false
    }, 'none')
    return found
  }

  const changed = (matches: (caller: GatewayCaller) => boolean, whenUnsure: 'cut' | 'keep'): void => {
    authenticate.forget(matches)
    for (const caller of connected(matches).values()) void recheck(caller, whenUnsure)
  }
  const recheck = async (caller: GatewayCaller, whenUnsure: 'cut' | 'keep'): Promise<void> => {
    try {
      await identify.again(caller)
    } catch (error) {
      if (!(error instanceof Denied) && whenUnsure === 'keep') return
      const code = error instanceof Denied ? error.code : 'unavailable'
      authenticate.forget(({ key }) => key === caller.key)
      const ended = cut(({ key }) => key === caller.key, code)
      log.info({ role: caller.role, key: caller.key, code, ended }, 'connections cut')
    }
  }

  const expire = (): void => {
    const time = now()
    if (time < Math.min(soonest, authenticate.soonestExpiry())) return
    let next = Infinity
    const ended = cut(({ expiresAt }) => {
      if (expiresAt === null) return false
      if (expiresAt <= time) return true
      next = Math.min(next, expiresAt)
      return false
    }, 'expired_token')
    authenticate.forget(({ expiresAt }) => expiresAt !== null && expiresAt <= time)
    if (ended > 0) log.info({ code: 'expired_token', ended }, 'connections cut')
    soonest = next
  }
  /** When the next token of somebody connected ends; 0 until the first look. */
  let soonest = 0

  let rechecking = false
  const recheckAll = async (): Promise<void> => {
    if (rechecking) return
    rechecking = true
    const waiting = [...connected(() => true).values()].values()
    const lane = async () => {
      for (const caller of waiting) await recheck(caller, 'keep')
    }
    await Promise.all(Array.from({ length: RECHECKS_AT_ONCE }, lane))
    rechecking = false
  }

  /** The prefix alone means that the word may have got lost: any of them may have changed. */
  const follow = (prefix: string, idOf: (caller: GatewayCaller) => string | null): (() => void) =>
    topics.subscribePrefix(prefix, (topic) => {
      const isAny = topic === prefix
      const matches = (caller: GatewayCaller): boolean => {
        const id = idOf(caller)
        return id !== null && (isAny || topic === `${prefix}${id}`)
      }
      changed(matches, isAny ? 'keep' : 'cut')
    })
  const ends = [
    follow('token/', ({ tokenId }) => tokenId),
    follow('sign-in/', ({ signInId }) => signInId),
    follow('user/', ({ userId }) => userId),
  ]
  const expiry = setInterval(expire, EXPIRY_TICK_MS)
  const rechecks = setInterval(() => void recheckAll(), recheckMs)
  const deafRechecks = setInterval(() => {
    if (!topics.hears()) void recheckAll()
  }, DEAF_RECHECK_MS)
  deafRechecks.unref()
  expiry.unref()
  rechecks.unref()

  return {
    stop() {
      for (const end of ends) end()
      clearInterval(expiry)
      clearInterval(rechecks)
      clearInterval(deafRechecks)
    },
  }
}
