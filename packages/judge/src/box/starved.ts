import type { RunLimits, RunOutcome } from '@parley/sandbox'

/**
 * How many times its clock a program may have on a machine that is too busy to let it run. Beside others one that computes is still told
 * from one that is idle when it gets a twelfth of a core, alone when it gets a thirtieth.
 */
export const STARVED_WALL = 5

/** These limits, the clock's end moved by what the program waits for a processor. */
export function sparing(limits: RunLimits): RunLimits & { readonly starvedWallMs: number } {
  return { ...limits, starvedWallMs: limits.wallMs * STARVED_WALL }
}

/** Of its clock, how long the one that a program talked with must have been starved for the program not to be called idle. */
const PARTNER_PART = 0.5

/** A run as far as the clock is concerned. */
export interface ClockedRun {
  readonly outcome: RunOutcome
  /** What the clock had to show, all waiting for a processor left out, before the program was called idle. */
  readonly clockMs: number
  /** How long the one that it talked with was starved; 0 if there is none, or nobody knows. */
  readonly partnerStarvedMs: number
}

/**
 * Whether the clock ended a program of which nothing can be said: it had waited for a processor and was moved as far as it may be, or
 * it had waited for one who did.
 */
export function wasStarved(run: ClockedRun): boolean {
  return run.outcome.status === 'wall-limit' && (isMovedToTheEnd(run) || isKeptByPartner(run))
}

function isMovedToTheEnd({ outcome: { wallMs, starvedMs }, clockMs }: ClockedRun): boolean {
  return starvedMs !== null && wallMs - starvedMs < clockMs
}

function isKeptByPartner({ clockMs, partnerStarvedMs }: ClockedRun): boolean {
  return partnerStarvedMs >= clockMs * PARTNER_PART
}

/** Why nothing can be said about it. */
export function starvedWords(run: ClockedRun): string {
  const { wallMs, starvedMs } = run.outcome
  const waited = isMovedToTheEnd(run)
    ? `it waited ${Math.round(starvedMs ?? 0)} of ${Math.round(wallMs)} ms for a processor`
    : `it waited for the interactor, and that for a processor, for ${Math.round(run.partnerStarvedMs)} ms`
  return `${waited}: this machine is too busy to tell`
}
