import { timingSafeEqual } from 'node:crypto'
import {
  type Caller,
  DEFAULT_LIMITS,
  DEFAULT_RELAY_LIMITS,
  Denied,
  type Door,
  type Limits,
  type RelayLimits,
  type Service,
} from '@parley/rpc'

/** All clients show the same token, so what is bounded for one caller is bounded for all of them together. */
export const ONE_CALLER_LIMITS: Partial<Limits> = {
  linksPerCaller: DEFAULT_LIMITS.links,
  callsPerCaller: DEFAULT_LIMITS.links,
  subscriptionsPerCaller: DEFAULT_LIMITS.links,
  bodyBytesPerCaller: DEFAULT_LIMITS.bodyBytes,
}

/** The same of what stands behind it. */
export const ONE_CALLER_RELAY_LIMITS: Partial<RelayLimits> = { ownUpstreamsPerCaller: DEFAULT_RELAY_LIMITS.ownUpstreams }

/** Everybody who shows the one token is the same caller; without a token, everybody is. */
export function oneTokenDoor(token: string | undefined, service: Service): Door {
  const caller: Caller = { key: 'proxy', hasKeptRoom: true }
  if (token === undefined) return { authenticate: () => caller, serviceFor: () => service }
  const expected = Buffer.from(token)
  return {
    authenticate: ({ authorization }) => {
      if (authorization === undefined || authorization === '')
        throw new Denied(401, 'missing_authorization', 'no Authorization header; send "Authorization: Bearer <token>"')
      const shown = /^bearer +(\S+) *$/i.exec(authorization)?.[1]
      if (shown === undefined)
        throw new Denied(401, 'malformed_authorization', 'the Authorization header is not "Bearer <token>"')
      const given = Buffer.from(shown)
      if (given.length !== expected.length || !timingSafeEqual(given, expected))
        throw new Denied(401, 'unknown_token', 'the token is not the one of this proxy')
      return caller
    },
    serviceFor: () => service,
  }
}
