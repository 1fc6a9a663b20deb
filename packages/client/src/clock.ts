import { WireError } from '@parley/rpc/browser'

/** Time, as far as it is needed: a clock that nobody sets, and a wait. */
export interface Clock {
  now(): number
  /** Waits. The signal ends it early, with a `WireError` `aborted`. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** The clock of whatever this runs in, Node or a browser. */
export const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const abort = (): void => {
        clearTimeout(timer)
        reject(new WireError('aborted', 'aborted while waiting'))
      }
      const timer = setTimeout(() => {
        signal.removeEventListener('abort', abort)
        resolve()
      }, ms)
      if (signal.aborted) abort()
      else signal.addEventListener('abort', abort, { once: true })
    }),
}
