import { lineOf } from '@parley/access'
import type { RevokedToken } from '@parley/store'
import type { AccountContext } from './account-world.ts'

/** Tokens that went with another and have a line each in the audit log; the rest is told as a number. */
const TOLD_MAX = 1_000

/**
 * Writes down which tokens ended because the one that made them did, before the line of that one. They have ended by now: a line that cannot be
 * written yet stays queued, and the call is answered.
 */
export async function tellRevokedWith({ also }: RevokedToken, { caller, world }: AccountContext): Promise<void> {
  const more = also.length - TOLD_MAX
  const targets = [...also.slice(0, TOLD_MAX), ...(more > 0 ? [`${more} more`] : [])]
  const line = (target: string) => lineOf(caller, 'token.revoke', { at: world.now(), outcome: 'ok', code: 'with_maker', target })
  await Promise.allSettled(targets.map((target) => world.audit.record(line(target))))
}
