import { sleep } from '@parley/rpc/browser'

/** Time, as far as it is needed: a clock that nobody sets, and a wait. */
export interface Clock {
  now(): number
  /** Waits. The signal ends it early, with a `WireError` `aborted`. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** The clock of whatever this runs in, Node or a browser. */
export const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  sleep,
}
