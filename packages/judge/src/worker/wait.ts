import { setTimeout as wait } from 'node:timers/promises'

/** Waits; the signal ends it early by throwing its reason. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal })
}

/** How long to wait after so many failures: doubled each time, and up to a half less, so that many judges do not come at once. */
export function backoffMs(failures: number, minMs: number, maxMs: number, random: () => number): number {
  const grown = Math.min(maxMs, minMs * 2 ** Math.min(failures, 30))
  return Math.max(minMs / 2, grown * (0.5 + random() / 2))
}
