import type { Database } from '@parley/database'
import { MAX_TOPIC_BYTES, checkName } from '../limits.ts'
import type { Topics } from './topic.ts'

/** Names that one prefix subscriber may have waiting; past that it is told that anything below may have changed. */
const MAX_PENDING_NAMES = 1_000
const PREFIX = 'topic/'

/** The signal of a topic. */
export const topicSignal = (topic: string): string => PREFIX + topic

/** Topics as signals. A run of changes within one turn of the event loop is one call. */
export class SignalTopics implements Topics {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  async publish(topic: string): Promise<void> {
    checkName('topic', topic, MAX_TOPIC_BYTES)
    await this.#db.signal(topicSignal(topic))
  }

  hears(): boolean {
    return this.#db.hears()
  }

  subscribe(topic: string, changed: () => void): () => void {
    checkName('topic', topic, MAX_TOPIC_BYTES)
    return this.#collect((tell) => this.#db.signals.on(topicSignal(topic), () => tell(topic)), topic, changed)
  }

  subscribePrefix(prefix: string, changed: (topic: string) => void): () => void {
    const listen = (tell: (topic: string) => void) =>
      this.#db.signals.onAny((name) => {
        if (name === undefined) tell(prefix)
        else if (name.startsWith(PREFIX + prefix)) tell(name.slice(PREFIX.length))
      })
    return this.#collect(listen, prefix, changed)
  }

  /** Gathers names until the current work is done, then hands each over once. */
  #collect(
    listen: (tell: (topic: string) => void) => () => void,
    everything: string,
    changed: (topic: string) => void,
  ): () => void {
    let pending = new Set<string>()
    let active = true
    const flush = () => {
      const topics = pending
      pending = new Set()
      for (const topic of topics) if (active) changed(topic)
    }
    const off = listen((topic) => {
      if (this.#db.signals.ended) return
      if (pending.size === 0) setImmediate(flush)
      if (pending.size < MAX_PENDING_NAMES) pending.add(topic)
      else pending = new Set([everything])
    })
    return () => {
      active = false
      off()
    }
  }
}
