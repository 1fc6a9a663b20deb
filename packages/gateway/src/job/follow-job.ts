import type { JobId } from '@parley/protocol'
import { type JobRecord, type Store, onceAtATime } from '@parley/store'

/** How long somebody waits at most, and what ends it sooner. */
export interface Wait {
  readonly waitMs: number
  readonly signal: AbortSignal
}

/**
 * Reads a job until it is as wanted, the time is over or the signal fires, and answers it as it was last; `undefined`
 * when it is gone. Nothing is polled: it is read again when its topic says that it changed.
 */
export async function untilJob(
  { jobs, topics }: Pick<Store, 'jobs' | 'topics'>,
  id: JobId,
  isWanted: (job: JobRecord) => boolean | Promise<boolean>,
  { waitMs, signal }: Wait,
): Promise<JobRecord | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<JobRecord | undefined>()
  const over = AbortSignal.any([signal, AbortSignal.timeout(waitMs)])
  const look = onceAtATime(async () => {
    const job = await jobs.byId(id)
    if (job === undefined || (await isWanted(job)) || over.aborted) resolve(job)
  }, reject)
  const off = topics.subscribe(`job/${id}`, look)
  over.addEventListener('abort', look)
  look()
  try {
    return await promise
  } finally {
    off()
    over.removeEventListener('abort', look)
  }
}
