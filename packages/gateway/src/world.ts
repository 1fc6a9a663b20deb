import type { Store } from '@parley/store'
import type { Logger } from 'pino'
import { openRecorder } from './audit/recorder.ts'
import { openOneTimeLinks } from './auth/one-time-link.ts'
import { openPasswords } from './auth/password.ts'
import type { RandomBytes } from './auth/token-text.ts'
import { openCreations } from './job/inputs-share.ts'
import { openJobWatch } from './job/watch.ts'
import { type ClaimOutcome, openJudgeDesk } from './judge/desk.ts'
import { SignInLimit, type SignInRates } from './limit/sign-in-limit.ts'
import type { World } from './tool/served-tool.ts'

/** Puts together what the tools work with, for a gateway and for a store without one. */
export function openWorld(options: {
  readonly store: Store
  readonly log: Logger
  readonly now: () => number
  readonly random: RandomBytes
  readonly signInRates: SignInRates
  /** Where people reach us; asked when a link is made, because a port may be known only after listening. */
  readonly baseUrl: () => string
  /** How long a judge holds a job without a call, and who counts what becomes of claims. */
  readonly leaseMs?: number
  readonly countClaim?: (outcome: ClaimOutcome) => void
}): World {
  const { store, log, now, random, leaseMs, countClaim } = options
  return {
    store,
    audit: openRecorder({ audit: store.audit, log, now }),
    links: openOneTimeLinks({ signIns: store.signIns, baseUrl: options.baseUrl, now, random }),
    passwords: openPasswords(random),
    creations: openCreations(),
    watch: openJobWatch(store, log),
    desk: openJudgeDesk({ store, log, now, ...(leaseMs && { leaseMs }), ...(countClaim && { count: countClaim }) }),
    signInLimit: new SignInLimit(options.signInRates, now),
    now,
    random,
  }
}
