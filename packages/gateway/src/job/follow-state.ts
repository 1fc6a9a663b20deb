import { type JobId, type JobOffsets, isEnd } from '@parley/protocol'
import { JsonText } from '@parley/rpc'
import type { Store } from '@parley/store'
import type { Logger } from 'pino'
import { logEnds } from './log-read.ts'
import { jobStateOf } from './state-view.ts'

/** A state as it goes out. Once the job has ended it says where its logs ended: all of that goes out first. */
export interface StateSnapshot {
  readonly params: JsonText
  readonly ends: JobOffsets | undefined
}

/** How long to wait when the store failed, before the state is read again. */
const RETRY_MS = 1_000

/** The newest state of a job for everybody here who follows it: one read per change, however many they are. */
export class StateFeed {
  readonly #store: Pick<Store, 'jobs' | 'logs' | 'topics'>
  readonly #id: JobId
  readonly #log: Logger
  readonly #off: () => void
  readonly #listeners = new Set<() => void>()
  #latest: StateSnapshot | undefined
  #deleted = false
  #closed = false
  #reading = false
  #again = false

  constructor(store: Pick<Store, 'jobs' | 'logs' | 'topics'>, id: JobId, log: Logger) {
    this.#store = store
    this.#id = id
    this.#log = log
    this.#off = store.topics.subscribe(`job/${id}`, () => void this.#read())
    void this.#read()
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
  }

  async #read(): Promise<void> {
    this.#again = true
    if (this.#reading) return
    this.#reading = true
    try {
      while (this.#again && !this.#closed) {
        this.#again = false
        await this.#step()
      }
    } catch (error) {
      this.#log.warn({ err: error, job: this.#id }, 'the state of a job cannot be read now; trying again')
      setTimeout(() => void this.#read(), RETRY_MS).unref()
    } finally {
      this.#reading = false
    }
  }

  async #step(): Promise<void> {
    const job = await this.#store.jobs.byId(this.#id)
    if (job === undefined) this.#deleted = true
    else {
      const text = `{"job_id":"${job.id}","state":${JSON.stringify(jobStateOf(job))}}`
      if (text === this.#latest?.params.text) return
      // Read after the state was: what was written before the end is before these.
      const ends = isEnd(job.status) ? await logEnds(this.#store, job.id) : undefined
      this.#latest = { params: new JsonText(text), ends }
    }
    for (const listener of this.#listeners) listener()
  }
}

/** The feeds of the jobs that somebody follows now. */
export class StateFeeds {
  readonly #store: Pick<Store, 'jobs' | 'logs' | 'topics'>
  readonly #log: Logger
  readonly #feeds = new Map<JobId, StateFeed>()

  constructor(store: Pick<Store, 'jobs' | 'logs' | 'topics'>, log: Logger) {
    this.#store = store
    this.#log = log
  }

  join(id: JobId, changed: () => void): { readonly feed: StateFeed; readonly leave: () => void } {
    const feed = this.#feeds.get(id) ?? new StateFeed(this.#store, id, this.#log)
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
