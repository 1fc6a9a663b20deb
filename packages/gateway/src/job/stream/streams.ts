import { type GatewayCaller } from '@parley/access'
import { type JobId, type JobLogName, type JobStream, ToolError } from '@parley/protocol'
import type { Link } from '@parley/rpc'
import type { Store } from '@parley/store'
import type { Logger } from 'pino'
import type { StateFeeds } from './follow-state.ts'
import { StreamGate } from './gate.ts'
import { LinkJob } from './link.ts'
import { StreamMessages } from './message.ts'

/** Streams that one connection may follow at once, over all jobs. */
export const STREAMS_PER_LINK = 256

/** From which byte on each log is wanted, and whether the state is. */
export interface Wanted {
  readonly logs: ReadonlyMap<JobLogName, number>
  readonly state: boolean
}

/** What one connection follows. */
interface LinkStreams {
  readonly jobs: Map<JobId, LinkJob>
  readonly gate: StreamGate
}

/** Who follows what on which connection. Everything ends with its connection. */
export class JobStreams {
  readonly #store: Pick<Store, 'jobs' | 'logs' | 'topics'>
  readonly #log: Logger
  readonly #messages = new StreamMessages()
  readonly #feeds: StateFeeds
  readonly #links = new Map<Link<GatewayCaller>, LinkStreams>()

  constructor(store: Pick<Store, 'jobs' | 'logs' | 'topics'>, feeds: StateFeeds, log: Logger) {
    this.#store = store
    this.#feeds = feeds
    this.#log = log
  }

  /** Starts or replaces streams; answers those of the job that this link follows now. */
  subscribe(link: Link<GatewayCaller>, id: JobId, { logs, state }: Wanted): JobStream[] {
    if (link.signal.aborted) return []
    this.#checkRoom(link, id, [...logs.keys(), ...(state ? (['state'] as const) : [])])
    const job = this.#job(link, id)
    for (const [name, offset] of logs) job.followLog(name, offset)
    if (state) job.followState()
    const streams = job.streams
    if (streams.length === 0) this.#forget(link, id)
    return streams
  }

  /** Ends streams of a job on a link, or all of them; answers which there were. */
  unsubscribe(link: Link<GatewayCaller>, id: JobId, streams: readonly JobStream[] | undefined): JobStream[] {
    const job = this.#links.get(link)?.jobs.get(id)
    if (job === undefined) return []
    const ended = [...new Set(streams ?? job.streams)].filter((stream) => job.unfollow(stream))
    if (job.streams.length === 0) this.#forget(link, id)
    return ended
  }

  #checkRoom(link: Link<GatewayCaller>, id: JobId, wanted: readonly JobStream[]): void {
    let count = 0
    for (const job of this.#links.get(link)?.jobs.values() ?? []) count += job.streams.length
    const known = this.#links.get(link)?.jobs.get(id)?.streams ?? []
    const added = wanted.filter((stream) => !known.includes(stream)).length
    if (added > 0 && count + added > STREAMS_PER_LINK)
      throw new ToolError('quota_exceeded', `one connection follows at most ${STREAMS_PER_LINK} streams`, {
        field: 'streams',
        hint: 'job.unsubscribe from jobs that have ended, or open another connection',
      })
  }

  #job(link: Link<GatewayCaller>, id: JobId): LinkJob {
    const { jobs, gate } = this.#streams(link)
    const known = jobs.get(id)
    if (known !== undefined) return known
    const job = new LinkJob({
      store: this.#store,
      feeds: this.#feeds,
      messages: this.#messages,
      log: this.#log,
      link,
      gate,
      id,
      onGone: () => this.#forget(link, id),
    })
    jobs.set(id, job)
    return job
  }

  #streams(link: Link<GatewayCaller>): LinkStreams {
    const known = this.#links.get(link)
    if (known !== undefined) return known
    const streams: LinkStreams = { jobs: new Map(), gate: new StreamGate(link) }
    this.#links.set(link, streams)
    const end = () => {
      this.#links.delete(link)
      for (const job of streams.jobs.values()) job.end()
    }
    link.signal.addEventListener('abort', end, { once: true })
    return streams
  }

  /** The link keeps its empty map, which goes with the link. */
  #forget(link: Link<GatewayCaller>, id: JobId): void {
    const jobs = this.#links.get(link)?.jobs
    jobs?.get(id)?.end()
    jobs?.delete(id)
  }
}
