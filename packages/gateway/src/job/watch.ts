import type { Store } from '@parley/store'
import type { Logger } from 'pino'
import { LogChanges } from './log-changes.ts'
import { JobStreams } from './streams.ts'

/** Everybody who follows or waits for a job on this gateway. Nothing here must survive a restart. */
export interface JobWatch {
  readonly streams: JobStreams
  readonly logs: LogChanges
  /** Fires when the gateway closes: who waits is answered with what there is. */
  readonly closing: AbortSignal
  close(): void
}

export function openJobWatch(store: Pick<Store, 'jobs' | 'logs' | 'topics'>, log: Logger): JobWatch {
  const controller = new AbortController()
  return {
    streams: new JobStreams(store, log),
    logs: new LogChanges(store.logs, log),
    closing: controller.signal,
    close: () => controller.abort(),
  }
}
