import { LogChanges } from './log-changes.ts'
import { type FeedParts, StateFeeds } from './follow-state.ts'
import { JobStreams } from './streams.ts'

/** Everybody who follows or waits for a job on this gateway. Nothing here must survive a restart. */
export interface JobWatch {
  readonly streams: JobStreams
  readonly states: StateFeeds
  readonly logs: LogChanges
  /** Fires when the gateway closes: who waits is answered with what there is. */
  readonly closing: AbortSignal
  close(): void
}

export function openJobWatch(parts: FeedParts): JobWatch {
  const { store, log } = parts
  const states = new StateFeeds(parts)
  const controller = new AbortController()
  return {
    streams: new JobStreams(store, states, log),
    states,
    logs: new LogChanges(store.logs, log),
    closing: controller.signal,
    close: () => controller.abort(),
  }
}
