/** How time goes by for what waits by itself. Handed in where a run must be repeated step by step. */
export interface Timers {
  /** Milliseconds, by a clock that nobody sets. */
  now(): number
  /** Does something later; the answer calls it off. */
  after(ms: number, act: () => void): () => void
}

export const MACHINE_TIMERS: Timers = {
  now: () => performance.now(),
  after: (ms, act) => {
    const timer = setTimeout(act, ms)
    return () => clearTimeout(timer)
  },
}
