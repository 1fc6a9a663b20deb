import type { Caller } from '../service.ts'
import { personOf } from './callers.ts'

/** Something that a client left behind, perhaps. */
export interface Leavable {
  readonly caller: Caller
  /** For how long nobody has been at its other end; `undefined` while somebody is. */
  unattendedMs(): number | undefined
}

/**
 * What may be ended to make room: of those at whose other end nobody has been for so long, the one that has waited the longest. Never
 * one that somebody uses. With `person`, theirs alone: who has used up a share of their own takes nothing from others.
 */
export function longestUnattended<Held extends Leavable>(
  all: Iterable<Held>,
  { forMs, person }: { readonly forMs: number; readonly person?: string | undefined },
): Held | undefined {
  let found: { readonly held: Held; readonly ms: number } | undefined
  for (const held of all) {
    if (person !== undefined && personOf(held.caller) !== person) continue
    const ms = held.unattendedMs()
    if (ms !== undefined && ms >= forMs && (found === undefined || ms > found.ms)) found = { held, ms }
  }
  return found?.held
}
