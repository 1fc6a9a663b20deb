import { type JobId, type JobState, type JsonObject, messageOf, type Moves, Place, ToolError } from '@parley/protocol'
import { type Client, WireError } from '@parley/rpc/browser'
import { afterFailure } from '../after-failure.ts'
import type { SteadyClient } from '../steady-client.ts'
import type { LinkListener } from '../steady-options.ts'
import type { JobListener } from './job-listener.ts'
import { JobTeller } from './job-teller.ts'
import { type PolledJob, QUEUED_WAIT_MS, WAIT_MS, readState, readToEnd, waitForEnd } from './poll-job.ts'

export interface FollowOptions {
  /**
   * `end`: for whoever waits for how it ends. The end is told after everything that came before it, what a judge flushes after a
   * cancellation included, and a refusal is thrown. `closed`: for a view that stays open. The end is told at once, because the person
   * who cancelled looks at it, and a refusal is told as trouble and asked again, because the view would stay empty.
   */
  readonly until: 'end' | 'closed'
  /** How much of the terminal's end is wanted. Left out: nothing of it. */
  readonly terminalBytes?: number
  readonly signal?: AbortSignal
}

export interface Following {
  /** The last state of a job that was followed to its end. Rejects when there is no such job, when it is closed, or as `until` says. */
  readonly ended: Promise<JobState>
  close(): void
}

/** A gateway that refuses for the moment is asked again after this. */
const AGAIN_MS = 2_000
/** A log that is shorter than what was told of it is read anew. One that stays too short, also from its beginning, is a refusal like others. */
const RESTARTS_MAX = 3

/**
 * Where following a job stands:
 * - `away`: there is no connection yet.
 * - `asking`: it is asked from where to follow, and to be told.
 * - `pushed`: the gateway tells it as it happens, on a wire that has sessions.
 * - `read`: its logs are read with long polls: elsewhere, and for the rest of a job whose end is known.
 * - `over`: told to its end, refused or closed.
 * A new connection leads back to `asking` from everywhere, since what was asked of the one before is forgotten.
 */
type FollowPlace = 'away' | 'asking' | 'pushed' | 'read' | 'over'
const FOLLOW_MOVES: Moves<FollowPlace> = {
  away: ['asking', 'over'],
  asking: ['asking', 'pushed', 'read', 'over'],
  pushed: ['asking', 'read', 'over'],
  read: ['asking', 'over'],
  over: [],
}

/** Follows a job from its beginning by the byte offsets of its logs, so that a lost connection neither repeats nor loses anything. */
export function followJob(client: SteadyClient, jobId: JobId, listener: JobListener, options: FollowOptions): Following {
  const follower = new JobFollower(client, jobId, listener, options)
  follower.begin()
  return { ended: follower.end, close: () => follower.close() }
}

class JobFollower implements LinkListener {
  readonly #client: SteadyClient
  readonly #jobId: JobId
  readonly #listener: JobListener
  readonly #options: FollowOptions
  readonly #teller: JobTeller
  readonly #place = new Place<FollowPlace>(FOLLOW_MOVES, 'away')
  readonly #end = Promise.withResolvers<JobState>()
  readonly #leave: (() => void)[] = []
  #connection: Client | undefined
  /** What is asked on this connection; it ends with it. */
  #round = new AbortController()
  #isSubscribed = false
  #isTerminalPlaced = false
  #isTroubled = false

  constructor(client: SteadyClient, jobId: JobId, listener: JobListener, options: FollowOptions) {
    this.#client = client
    this.#jobId = jobId
    this.#listener = listener
    this.#options = options
    this.#teller = new JobTeller(jobId, listener, options.until === 'end' ? 'last' : 'at-once')
    // Who closes it need not want to hear that it was closed.
    this.#end.promise.catch(() => {})
  }

  get end(): Promise<JobState> {
    return this.#end.promise
  }

  begin(): void {
    const { signal } = this.#options
    const abort = (): void => this.close()
    signal?.addEventListener('abort', abort, { once: true })
    this.#leave.push(() => signal?.removeEventListener('abort', abort))
    this.#leave.push(this.#client.follow(this))
    if (signal?.aborted === true) this.close()
    // A connection that is made only when it is needed is needed now.
    this.#client.ready(signal).catch(() => {})
  }

  connected(connection: Client): void {
    this.#round.abort()
    this.#round = new AbortController()
    this.#connection = connection
    this.#isSubscribed = false
    this.#teller.reconnected()
    void this.#follow(connection, this.#round.signal)
  }

  lost(): void {
    // What was heard is still true; of whom nothing was heard there is nothing to look at.
    if (this.#teller.state === undefined) this.#trouble('away')
  }

  /** The way to the gateway is over, and so is this. */
  ended(why: Error): void {
    this.#over(why)
  }

  notified(method: string, params: JsonObject): void {
    if (this.#place.at === 'pushed' || this.#place.at === 'asking') this.#teller.heard(method, params)
  }

  close(): void {
    this.#over(new WireError('aborted', 'the job is not followed any more'))
  }

  async #follow(connection: Client, signal: AbortSignal): Promise<void> {
    for (let refusals = 0, restarts = 0; ; refusals += 1) {
      const step = new AbortController()
      try {
        await this.#step(connection, AbortSignal.any([signal, step.signal]))
        return
      } catch (error) {
        // With the connection gone, the next one asks again.
        if (signal.aborted || connection.isClosed) return
        if (isPastTheEnd(error) && restarts < RESTARTS_MAX) {
          restarts += 1
          this.#isTerminalPlaced = false
          this.#teller.restart()
        } else if (this.#isOver(error, refusals)) return this.#over(error)
        else this.#trouble('refused', error)
      } finally {
        step.abort()
      }
      await this.#client.clock.sleep(AGAIN_MS, signal).catch(() => {})
      if (signal.aborted) return
    }
  }

  async #step(connection: Client, signal: AbortSignal): Promise<void> {
    const { until, terminalBytes } = this.#options
    const asked: PolledJob = { client: this.#client, jobId: this.#jobId, teller: this.#teller, signal }
    this.#place.to('asking')
    if (terminalBytes !== undefined && !this.#isTerminalPlaced) await this.#placeTerminal(connection, terminalBytes, signal)
    if (hasSessions(connection) && !(until === 'end' && this.#teller.hasEnded)) {
      await this.#subscribe(connection, signal)
      this.#place.to('pushed')
      this.#trouble('none')
      if (until === 'closed') return
      // Also where it is told: of a job that was deleted nothing is told any more.
      await waitForEnd(asked, WAIT_MS)
      this.#place.to('read')
      await this.#readLogs(asked)
    } else {
      await readState(asked)
      this.#place.to('read')
      this.#trouble('none')
      await Promise.all([this.#readLogs(asked), this.#teller.hasEnded ? undefined : waitForEnd(asked, QUEUED_WAIT_MS)])
    }
    this.#teller.tellEnd()
    if (until === 'end' && this.#teller.state !== undefined) {
      this.#end.resolve(this.#teller.state)
      this.#over(undefined)
    }
  }

  async #readLogs(asked: PolledJob): Promise<void> {
    await Promise.all([
      readToEnd(asked, 'cases'),
      readToEnd(asked, 'agent_status', () => readState(asked)),
      this.#options.terminalBytes === undefined ? undefined : readToEnd(asked, 'terminal'),
    ])
  }

  async #subscribe(connection: Client, signal: AbortSignal): Promise<void> {
    const { agent_status_offset, cases_offset, terminal_offset } = this.#teller.offsets
    const hasTerminal = this.#options.terminalBytes !== undefined
    await connection.callTool(
      'job.subscribe',
      {
        job_id: this.#jobId,
        streams: ['state', 'agent_status', 'cases', ...(hasTerminal ? (['terminal'] as const) : [])],
        agent_status_offset,
        cases_offset,
        ...(hasTerminal ? { terminal_offset } : {}),
      },
      { signal },
    )
    signal.throwIfAborted()
    this.#isSubscribed = true
  }

  /** Of a long terminal only the end is wanted. */
  async #placeTerminal(connection: Client, wantedBytes: number, signal: AbortSignal): Promise<void> {
    const { ends } = await connection.callTool(
      'job.read_log',
      { job_id: this.#jobId, stream: 'terminal', max_bytes: 1 },
      { signal },
    )
    signal.throwIfAborted()
    this.#teller.terminalFrom(Math.max(0, ends.terminal - wantedBytes))
    this.#isTerminalPlaced = true
  }

  /** A job that is not there will not come; whatever else is refused is asked again as `until` says. */
  #isOver(error: unknown, refusals: number): boolean {
    if (error instanceof ToolError && error.code === 'not_found') return true
    if (this.#options.until === 'closed') return false
    const after = afterFailure(error)
    return after === 'final' || after === 'refused' || (after === 'few' && refusals >= this.#client.limits.internalFailures)
  }

  #trouble(kind: 'none' | 'away' | 'refused', error?: unknown): void {
    if (kind === 'none' && !this.#isTroubled) return
    this.#isTroubled = kind !== 'none'
    if (kind !== 'refused') this.#listener.trouble?.({ kind })
    else this.#listener.trouble?.({ kind, message: messageOf(error) })
  }

  #over(error: unknown): void {
    if (this.#place.at === 'over') return
    this.#place.to('over')
    for (const leave of this.#leave) leave()
    this.#round.abort()
    this.#end.reject(error)
    void this.#unsubscribe()
  }

  /** The connection stays for whoever uses it next, and they want nothing of this job. */
  async #unsubscribe(): Promise<void> {
    if (!this.#isSubscribed || this.#connection?.isClosed !== false) return
    try {
      await this.#connection.callTool('job.unsubscribe', { job_id: this.#jobId })
    } catch {
      // It ends with the connection in any case.
    }
  }
}

/**
 * Whether the gateway can tell a job on this connection. Over HTTP it could in the legacy era, but an event stream that is resumed too
 * late has lost what the gateway no longer keeps for it, and nobody says so.
 */
const hasSessions = ({ era, kind }: Client): boolean => era === 'legacy' && kind !== 'http'

/** The log is shorter than what was told of it. */
const isPastTheEnd = (error: unknown): boolean =>
  error instanceof ToolError && error.code === 'invalid_argument' && /(?:^|_)offset$/.test(error.field ?? '')
