import { type JobId, type JobOffsets, isEnd } from '@parley/protocol'
import { JsonText } from '@parley/rpc'
import { type Store, onceAtATime } from '@parley/store'
import type { Logger } from 'pino'
import type { JudgesHere } from '../../presence/judges-here.ts'
import { logEnds } from '../log-read.ts'
import { currentState } from '../current-state.ts'

/** A state as it goes out. Once the job has ended it says where its logs ended: all of that goes out first. */
export interface StateSnapshot {
  readonly params: JsonText
  readonly ends: JobOffsets | undefined
}

export interface FeedParts {
  readonly store: Pick<Store, 'jobs' | 'logs' | 'topics'>
  readonly here: JudgesHere
  readonly log: Logger
}

/** How long to wait when the store failed, before the state is read again. */
const RETRY_MS = 1_000

/** The newest state of a job for everybody here who follows it: one read per change, however many they are. */
export class StateFeed {
  readonly #store: Pick<Store, 'jobs' | 'logs' | 'topics'>
  readonly #here: JudgesHere
  readonly #id: JobId
  readonly #read: () => void
  readonly #off: () => void
  #offJudges: (() => void) | undefined
  readonly #listeners = new Set<() => void>()
  #latest: StateSnapshot | undefined
  #deleted = false
  #closed = false

  constructor({ store, here, log }: FeedParts, id: JobId) {
    this.#store = store
    this.#here = here
    this.#id = id
    this.#read = onceAtATime(
      () => this.#step(),
      (error) => {
        log.warn({ err: error, job: id }, 'the state of a job cannot be read now; trying again')
        setTimeout(this.#read, RETRY_MS).unref()
      },
    )
    this.#off = store.topics.subscribe(`job/${id}`, this.#read)
    this.#read()
  }

  /** Undefined until it was read for the first time. */
  get latest(): StateSnapshot | undefined {
    return this.#latest
  }
  get deleted(): boolean {
    return this.#deleted
  }
  /** How many follow. */
  get size(): number {
    return this.#listeners.size
  }

  listen(changed: () => void): () => void {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  close(): void {
    this.#closed = true
    this.#off()
    this.#offJudges?.()
  }

  async #step(): Promise<void> {
    if (this.#closed) return
    const job = await this.#store.jobs.byId(this.#id)
    this.#followJudges(job?.status === 'queued')
    if (job === undefined) this.#deleted = true
    else {
      const text = `{"job_id":"${job.id}","state":${JSON.stringify(await currentState(this.#here, job))}}`
      if (text === this.#latest?.params.text) return
      // Read after the state was: what was written before the end is before these.
      const ends = isEnd(job.status) ? await logEnds(this.#store, job.id) : undefined
      this.#latest = { params: new JsonText(text), ends }
    }
    for (const listener of this.#listeners) listener()
  }

  /** Why a job waits changes with the judges; of any other job they say nothing. */
  #followJudges(isWaiting: boolean): void {
    if (isWaiting && !this.#closed) this.#offJudges ??= this.#here.follow(this.#read)
    else {
      this.#offJudges?.()
      this.#offJudges = undefined
    }
  }
}

/** The feeds of the jobs that somebody follows now. */
export class StateFeeds {
  readonly #parts: FeedParts
  readonly #feeds = new Map<JobId, StateFeed>()

  constructor(parts: FeedParts) {
    this.#parts = parts
  }

  join(id: JobId, changed: () => void): { readonly feed: StateFeed; readonly leave: () => void } {
    const feed = this.#feeds.get(id) ?? new StateFeed(this.#parts, id)
    this.#feeds.set(id, feed)
    const off = feed.listen(changed)
    return {
      feed,
      leave: () => {
        off()
        if (feed.size > 0) return
        feed.close()
        if (this.#feeds.get(id) === feed) this.#feeds.delete(id)
      },
    }
  }
}
