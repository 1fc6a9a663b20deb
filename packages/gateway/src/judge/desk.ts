import { JOB_LIMITS } from '@parley/protocol'
import type { Store } from '@parley/store'
import type { Logger } from 'pino'
import { Controls } from './controls.ts'
import { InputShelf } from './inputs.ts'
import { JudgesHere } from '../presence/judges-here.ts'
import { Polls } from './polls.ts'
import { Presence } from '../presence/presence.ts'

/** How often it is written down at most who is there. */
const ALIVE_MS = 10_000
/** Changes of the judges' load within this time are told as one. */
const LOAD_MS = 200

/** What becomes of a look at the queue: counted, never with a name. */
export type ClaimOutcome = 'claimed' | 'engine' | 'given_back' | 'language' | 'lost' | 'poisoned'

/** What this gateway keeps about judges while it runs. Nothing here must survive a restart. */
export interface JudgeDesk {
  /** How long a judge holds a job without a call. */
  readonly leaseMs: number
  readonly polls: Polls
  readonly presence: Presence
  readonly here: JudgesHere
  readonly controls: Controls
  readonly inputs: InputShelf
  count(outcome: ClaimOutcome): void
  /** A judge took a job or gave one back: whoever looks at the list of judges is told soon. */
  loadChanged(): void
  /** A judge broke off its wait for work: it is on its way out, unless it comes back. */
  left(machineId: string): Promise<void>
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
  const here = new JudgesHere({ store, log, now, leaseMs })
  const controls = new Controls(store, failed)
  let telling: NodeJS.Timeout | undefined
  let told: Promise<void> = Promise.resolve()
  let isClosed = false
  return {
    leaseMs,
    polls,
    presence,
    here,
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
    async left(machineId) {
      // One that waits on another connection is here; when we close, all of them were sent away by us.
      if (polls.closed || presence.isWaiting(machineId)) return
      await store.judges.left(machineId).catch(failed)
    },
    async close() {
      isClosed = true
      clearTimeout(telling)
      await told
      polls.close()
      here.close()
      controls.close()
      await presence.close()
    },
  }
}
