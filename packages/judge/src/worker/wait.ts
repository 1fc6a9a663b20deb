import { setTimeout as wait } from 'node:timers/promises'

/** Waits; the signal ends it early by throwing its reason. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal })
}
