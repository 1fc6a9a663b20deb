import { type GatewayCaller } from '@parley/access'
import { type JobId, JobLogName, type JobOffsets, type JobStream } from '@parley/protocol'
import type { Link } from '@parley/rpc'
import { type Store, jobLog } from '@parley/store'
import type { Logger } from 'pino'
import { LogFollower } from './follow-log.ts'
import type { StateFeed, StateFeeds, StateSnapshot } from './follow-state.ts'
import type { StreamGate } from './gate.ts'
import type { StreamMessages } from './message.ts'

export interface LinkJobStart {
  readonly store: Pick<Store, 'logs'>
  readonly feeds: StateFeeds
  readonly messages: StreamMessages
  readonly log: Logger
  readonly link: Link<GatewayCaller>
  readonly gate: StreamGate
  readonly id: JobId
  /** The job was deleted. */
  readonly onGone: () => void
}

/** What one link follows of one job. The end of the job goes out after everything that its logs held by then. */
export class LinkJob {
  readonly #start: LinkJobStart
  readonly #logs = new Map<JobLogName, LogFollower>()
  readonly #feed: StateFeed
  readonly #leave: () => void
  #wantsState = false
  /** The answer to whoever subscribed is not out yet: it goes first. */
  #answering = false
  #sent: StateSnapshot | undefined
  #sending = false
  readonly #controller = new AbortController()

  constructor(start: LinkJobStart) {
    this.#start = start
    const { feed, leave } = start.feeds.join(start.id, () => this.#changed())
    this.#feed = feed
    this.#leave = leave
  }

  get streams(): JobStream[] {
    return [...this.#logs.keys(), ...(this.#wantsState ? (['state'] as const) : [])]
  }

  /** Follows a log from an offset on; a follower that is there already makes room. */
  followLog(name: JobLogName, offset: number): void {
    const { store, link, gate, messages, log, id } = this.#start
    this.#logs.get(name)?.stop()
    const maker = messages.maker(id, name, offset)
    this.#logs.set(name, new LogFollower({ logs: store.logs, name: jobLog(id, name), link, gate, maker, log }))
  }

  followState(): void {
    this.#wantsState = true
    this.#sent = undefined
    this.#answering = true
    setImmediate(() => {
      this.#answering = false
      void this.#sendState()
    })
  }

  /** Says whether it was followed. */
  unfollow(stream: JobStream): boolean {
    if (stream === 'state') {
      const wanted = this.#wantsState
      this.#wantsState = false
      return wanted
    }
    this.#logs.get(stream)?.stop()
    return this.#logs.delete(stream)
  }

  end(): void {
    this.#controller.abort()
    this.#leave()
    for (const follower of this.#logs.values()) follower.stop()
    this.#logs.clear()
  }

  #changed(): void {
    if (this.#feed.deleted) this.#start.onGone()
    else void this.#sendState()
  }

  /** Sends the newest state until the newest is sent: what changes meanwhile replaces what waits. */
  async #sendState(): Promise<void> {
    const { signal } = this.#controller
    if (this.#sending) return
    this.#sending = true
    while (!signal.aborted && this.#wantsState && !this.#answering) {
      const { latest } = this.#feed
      if (latest === undefined || latest === this.#sent) break
      if (latest.ends !== undefined) await this.#reached(latest.ends)
      // Much may have happened since; then it is looked at anew.
      if (signal.aborted || !this.#wantsState || this.#answering || latest !== this.#feed.latest) continue
      if (this.#start.link.notify('job_state', latest.params)) this.#sent = latest
      else await this.#start.gate.opened(signal)
    }
    this.#sending = false
  }

  async #reached(ends: JobOffsets): Promise<void> {
    for (const name of JobLogName.options) {
      for (let follower = this.#logs.get(name); follower !== undefined;) {
        await follower.reached(ends[name])
        // It may have been replaced by one that starts earlier.
        const now = this.#logs.get(name)
        follower = now === follower ? undefined : now
      }
    }
  }
}
