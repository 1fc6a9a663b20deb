import type { JobId } from '@parley/protocol'
import type { HeldBy, JudgeRecord, Store } from '@parley/store'
import type { Logger } from 'pino'
import type { JudgeHere } from './waiting.ts'

/** A judge that was silent for so many leases is gone. */
const GONE_LEASES = 3
/** Changes of the judges within this time are told to those who wait as one. */
const TELL_MS = 500
/** How long to wait when the store failed, before it is asked again. */
const RETRY_MS = 1_000

export interface JudgesNow {
  readonly judges: readonly JudgeHere[]
  /** Jobs that a judge holds, whatever their status says. */
  readonly held: ReadonlySet<JobId>
  /** When the first of the judges will count as gone if nothing is heard of it; `undefined` when there is none. */
  readonly changesAt: number | undefined
}

/** How long a judge may be silent before it counts as gone. */
const silentMsOf = (leaseMs: number): number => GONE_LEASES * leaseMs

/** Whether a judge asks for work, or is so full of it that it does not. */
export function isHere({ lastSeenAt, leftAt }: JudgeRecord, now: number, leaseMs: number): boolean {
  return leftAt === null && lastSeenAt >= now - silentMsOf(leaseMs)
}

/** The judges that are here, over all gateways: what the store knows, read once for all who ask in the same moment. */
export class JudgesHere {
  readonly #store: Pick<Store, 'judges' | 'jobs' | 'topics'>
  readonly #log: Logger
  readonly #now: () => number
  readonly #leaseMs: number
  readonly #followers = new Set<() => void>()
  #reading: Promise<JudgesNow> | undefined
  #next: Promise<JudgesNow> | undefined
  #off: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined
  /** When the timer fires, by the process's own clock. */
  #dueAt = Number.POSITIVE_INFINITY
  #told = ''
  #closed = false

  constructor(options: {
    readonly store: Pick<Store, 'judges' | 'jobs' | 'topics'>
    readonly log: Logger
    readonly now: () => number
    readonly leaseMs: number
  }) {
    this.#store = options.store
    this.#log = options.log
    this.#now = options.now
    this.#leaseMs = options.leaseMs
  }

  /** As they are now. Whoever asks while one read is under way shares the next: the first may be older than their question. */
  read(): Promise<JudgesNow> {
    if (this.#reading === undefined) return this.#begin()
    this.#next ??= this.#reading.then(
      () => this.#begin(),
      () => this.#begin(),
    )
    return this.#next
  }

  /** Calls back when judges came, went or changed their load, at most every `TELL_MS`. The answer ends it. */
  follow(changed: () => void): () => void {
    this.#followers.add(changed)
    if (!this.#closed && this.#off === undefined) {
      this.#off = this.#store.topics.subscribe('judges', () => this.#lookIn(TELL_MS))
      this.#lookIn(0)
    }
    return () => {
      this.#followers.delete(changed)
      if (this.#followers.size === 0) this.#rest()
    }
  }

  close(): void {
    this.#closed = true
    this.#rest()
  }

  #begin(): Promise<JudgesNow> {
    this.#next = undefined
    const reading = this.#read().finally(() => {
      if (this.#reading === reading) this.#reading = undefined
    })
    this.#reading = reading
    return reading
  }

  async #read(): Promise<JudgesNow> {
    const now = this.#now()
    const [known, held] = await Promise.all([this.#store.judges.list(now - silentMsOf(this.#leaseMs)), this.#store.jobs.heldBy()])
    const loads = Map.groupBy(held, ({ machineId }) => machineId)
    const here = known.filter((judge) => isHere(judge, now, this.#leaseMs))
    return {
      judges: here.map((judge) => viewOf(judge, loads.get(judge.machineId) ?? [])),
      held: new Set(held.map(({ jobId }) => jobId)),
      changesAt:
        here.length === 0 ? undefined : Math.min(...here.map(({ lastSeenAt }) => lastSeenAt)) + silentMsOf(this.#leaseMs) + 1,
    }
  }

  /** Looks after a time, unless a look comes sooner anyway. */
  #lookIn(ms: number): void {
    const dueAt = performance.now() + ms
    if (this.#off === undefined || this.#dueAt <= dueAt) return
    clearTimeout(this.#timer)
    this.#dueAt = dueAt
    this.#timer = setTimeout(() => void this.#look(), ms).unref()
  }

  async #look(): Promise<void> {
    this.#dueAt = Number.POSITIVE_INFINITY
    try {
      const { judges, changesAt } = await this.read()
      if (this.#off === undefined) return
      // A judge that goes without a word is told by nobody: it is looked for when its time is over.
      if (changesAt !== undefined) this.#lookIn(Math.max(TELL_MS, changesAt - this.#now()))
      const text = JSON.stringify(judges)
      if (text === this.#told) return
      this.#told = text
      for (const changed of [...this.#followers]) changed()
    } catch (error) {
      this.#log.warn({ err: error }, 'it cannot be read now which judges are here; trying again')
      this.#lookIn(RETRY_MS)
    }
  }

  #rest(): void {
    this.#off?.()
    this.#off = undefined
    clearTimeout(this.#timer)
    this.#dueAt = Number.POSITIVE_INFINITY
    this.#told = ''
  }
}

/** A judge that does not say how much it takes is taken for one that takes one job at a time. */
function viewOf({ name, drain, facts }: JudgeRecord, held: readonly HeldBy[]): JudgeHere {
  const told = facts === null ? null : { languages: facts.languages, ...(facts.engines && { engines: facts.engines }) }
  const owners = [...new Set(held.map(({ ownerId }) => ownerId))]
  return { name, told, drain, jobs: held.length, slots: facts?.slots ?? 1, guests: facts?.guests ?? 0, owners }
}
