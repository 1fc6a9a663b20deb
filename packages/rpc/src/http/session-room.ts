import { personOf } from '../limit/callers.ts'
import type { ServedWire } from '../core/served-wire.ts'
import { longestUnattended } from '../limit/unattended.ts'
import type { Caller } from '../service.ts'
import type { HttpSession } from './session.ts'

/**
 * Ends a session that a client left behind, if there is no room for one more. Who has as many as one person may have makes room
 * among their own; only where all room is taken, anybody's that nobody uses will do.
 */
export function makeSessionRoom<C extends Caller>(sessions: Iterable<HttpSession<C>>, served: ServedWire<C>, caller: C): void {
  const { callers, limits } = served
  const full = callers.fullFor(caller, limits)
  if (full === undefined) return
  const links = Iterator.from(sessions).map(({ link }) => link)
  const person = full === 'person' ? personOf(caller) : undefined
  longestUnattended(links, { forMs: limits.sessionUnattendedMs, person })?.end('given up for another: nobody was there')
}
