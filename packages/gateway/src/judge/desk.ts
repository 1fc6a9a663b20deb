import { JOB_LIMITS } from '@parley/protocol'
import type { Store } from '@parley/store'
import type { Logger } from 'pino'
import { Controls } from './controls.ts'
import { InputShelf } from './inputs.ts'
import { Polls } from './polls.ts'
import { Presence } from './presence.ts'

/** How often it is written down at most who is there. */
const ALIVE_MS = 10_000
/** Changes of the judges' load within this time are told as one. */
const LOAD_MS = 200

/** What becomes of a look at the queue: counted, never with a name. */
export type ClaimOutcome = 'claimed' | 'given_back' | 'language' | 'lost' | 'poisoned'

/** What this gateway keeps about judges while it runs. Nothing here must survive a restart. */
export interface JudgeDesk {
  /** How long a judge holds a job without a call. */
  readonly leaseMs: number
  readonly polls: Polls
  readonly presence: Presence
  readonly controls: Controls
  readonly inputs: InputShelf
  count(outcome: ClaimOutcome): void
  /** A judge took a job or gave one back: whoever looks at the list of judges is told soon. */
  loadChanged(): void
  close(): Promise<void>
}

export function openJudgeDesk(options: {
  readonly store: Store
  readonly log: Logger
  readonly now: () => number
  readonly leaseMs?: number
  readonly count?: (outcome: ClaimOutcome) => void
}): JudgeDesk {
  const { store, log, now, leaseMs = JOB_LIMITS.leaseMs, count = () => undefined } = options
  const failed = (error: unknown): void => log.warn({ err: error }, 'the database does not answer about judges')
  const polls = new Polls(store, now, failed)
  const presence = new Presence({ judges: store.judges, now, everyMs: Math.min(ALIVE_MS, leaseMs / 3), failed })
  const controls = new Controls(store, failed)
  let telling: NodeJS.Timeout | undefined
  let told: Promise<void> = Promise.resolve()
  let isClosed = false
  return {
    leaseMs,
    polls,
    presence,
    controls,
    inputs: new InputShelf(store),
    count,
    loadChanged() {
      if (isClosed) return
      telling ??= setTimeout(() => {
        telling = undefined
        told = store.topics.publish('judges').catch(failed)
      }, LOAD_MS).unref()
    },
    async close() {
      isClosed = true
      clearTimeout(telling)
      await told
      polls.close()
      controls.close()
      await presence.close()
    },
  }
}
