import { type Store, onceAtATime } from '@parley/store'

/** How long somebody waits at most, and what ends it sooner. */
export interface Wait {
  readonly waitMs: number
  readonly signal: AbortSignal
}

/** What is waited for: read again whenever its topic says that it changed. */
export interface Awaited<Thing> {
  readonly topic: string
  readonly read: () => Promise<Thing | undefined>
  readonly isWanted: (thing: Thing) => boolean | Promise<boolean>
}

/**
 * Reads something until it is as wanted, the time is over or the signal fires, and answers it as it was last; `undefined` when it is
 * gone. Nothing is polled.
 */
export async function untilSo<Thing>(
  { topics }: Pick<Store, 'topics'>,
  { topic, read, isWanted }: Awaited<Thing>,
  { waitMs, signal }: Wait,
): Promise<Thing | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Thing | undefined>()
  const over = AbortSignal.any([signal, AbortSignal.timeout(waitMs)])
  const look = onceAtATime(async () => {
    const thing = await read()
    if (thing === undefined || (await isWanted(thing)) || over.aborted) resolve(thing)
  }, reject)
  const off = topics.subscribe(topic, look)
  over.addEventListener('abort', look)
  look()
  try {
    return await promise
  } finally {
    off()
    over.removeEventListener('abort', look)
  }
}
