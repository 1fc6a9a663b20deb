import { untilSo, type Wait } from '@parley/access'
import type { JobId } from '@parley/protocol'
import type { JobRecord, Store } from '@parley/store'

/** The job once it is as wanted, or as it was when the time was over. */
export function untilJob(
  store: Pick<Store, 'jobs' | 'topics'>,
  id: JobId,
  isWanted: (job: JobRecord) => boolean | Promise<boolean>,
  wait: Wait,
): Promise<JobRecord | undefined> {
  return untilSo(store, { topic: `job/${id}`, read: () => store.jobs.byId(id), isWanted }, wait)
}
