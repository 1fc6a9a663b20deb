import type { JobId } from '@parley/protocol'
import type { JobRecord, Store } from '@parley/store'

/**
 * Reads a job until it is as wanted, the time is over or the signal fires, and answers it as it was last; `undefined`
 * when it is gone. Nothing is polled: it is read again when its topic says that it changed.
 */
export async function untilJob(
  { jobs, topics }: Pick<Store, 'jobs' | 'topics'>,
  id: JobId,
  isWanted: (job: JobRecord) => boolean,
  { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
): Promise<JobRecord | undefined> {
  let wake: (() => void) | undefined
  let changed = false
  const tell = () => {
    changed = true
    wake?.()
  }
  const off = topics.subscribe(`job/${id}`, tell)
  const over = AbortSignal.any([signal, AbortSignal.timeout(waitMs)])
  over.addEventListener('abort', tell)
  try {
    for (;;) {
      changed = false
      const job = await jobs.byId(id)
      if (job === undefined || isWanted(job) || over.aborted) return job
      if (!changed) await new Promise<void>((resolve) => (wake = resolve))
      wake = undefined
    }
  } finally {
    off()
    over.removeEventListener('abort', tell)
  }
}
