import type { SteadyCallOptions, SteadyClient } from '@parley/client'
import {
  JOB_LOGS,
  type JobId,
  type JobOffsets,
  type JobPatch,
  type Moves,
  Place,
  ToolError,
  type ToolInput,
  type ToolOutput,
  type WrittenLog,
} from '@parley/protocol'
import type { WorkerLimits } from './worker-limits.ts'

/** What `judge.claim_next` answers for a job. */
export interface Claim {
  readonly jobId: JobId
  readonly claimId: string
  readonly claim: number
  readonly leaseMs: number
  readonly offsets: JobOffsets
  /** The claim before this one, where the gateway knows that nobody else has written since. */
  readonly previousClaimId?: string
}

/**
 * Where a held job stands:
 * - `working`: the work goes on.
 * - `stopping`: it is to end early, and why is its reason. The first one counts. Calls still go through.
 * - `lost`: it is not ours any more. That outdoes every other reason: nothing may be sent.
 * - `over`: it was given back or left; there are no more heartbeats, and nothing stops it any more.
 */
type HeldState = 'working' | 'stopping' | 'lost' | 'over'

const HELD_MOVES: Moves<HeldState> = {
  working: ['stopping', 'lost', 'over'],
  stopping: ['lost', 'over'],
  lost: ['over'],
  over: [],
}

/**
 * Why work on a job stops before its end. `cancel`: a person said so. `lost`: it is not ours any more, nothing may be sent.
 * `unfinished`: this judge ends. `timeout`: the whole job took longer than a job may.
 */
export type StopReason = 'cancel' | 'lost' | 'unfinished' | 'timeout'

export type Artifacts = Omit<ToolInput<'judge.job.put_artifacts'>, 'job_id' | 'claim_id'>

/** The fence did not hold: another judge has the job, or it is gone. */
export class ClaimLost extends Error {
  readonly code = 'lease_lost'
  constructor(jobId: JobId, options?: ErrorOptions) {
    super(`the claim on ${jobId} is lost`, options)
    this.name = 'ClaimLost'
  }
}

/** One job under our claim: every call about it shows the claim, renews the lease, and may bring the word to stop. */
export class HeldJob {
  readonly claim: Claim
  readonly #link: SteadyClient
  readonly #limits: WorkerLimits
  readonly #stopped = new AbortController()
  readonly #lost = new AbortController()
  readonly #place = new Place(HELD_MOVES, 'working')
  #reason: StopReason | undefined
  /** By a clock that nobody sets: a jump of the other one must neither silence the heartbeats nor look like a long silence. */
  #acceptedAt: number
  #timer: NodeJS.Timeout | undefined
  #isBeating = false

  constructor(claim: Claim, parts: { readonly link: SteadyClient; readonly limits: WorkerLimits }) {
    this.claim = claim
    this.#link = parts.link
    this.#limits = parts.limits
    this.#acceptedAt = performance.now()
    this.#schedule()
  }

  /** Fires when the work is to stop; `reason` says why. Calls still go through, unless the claim is lost. */
  get signal(): AbortSignal {
    return this.#stopped.signal
  }
  get reason(): StopReason | undefined {
    return this.#reason
  }

  /** What the state does not allow any more has no effect. */
  stop(reason: StopReason): void {
    const next = reason === 'lost' ? 'lost' : 'stopping'
    if (!this.#place.may(next)) return
    this.#place.to(next)
    this.#reason = reason
    if (reason === 'lost') this.#lost.abort()
    this.#stopped.abort()
  }

  /** The worker has a new connection: the gateway must learn where to push, and we what we missed. */
  reconnected(): void {
    void this.#beat()
  }

  list(): Promise<ToolOutput<'judge.input.list'>> {
    return this.#send((options) => this.#link.call('judge.input.list', this.#claimed(), options))
  }

  readChunk(path: string, offset: number): Promise<ToolOutput<'judge.input.read_chunk'>> {
    return this.#send((options) => this.#link.call('judge.input.read_chunk', { ...this.#claimed(), path, offset }, options))
  }

  async patch(patch: JobPatch): Promise<void> {
    await this.#send((options) => this.#link.call('judge.job.patch_state', { ...this.#claimed(), patch: { ...patch } }, options))
  }

  append(log: WrittenLog, offset: number, bytes: Buffer, onRetry: () => void): Promise<ToolOutput<'judge.job.append_terminal'>> {
    const input = { ...this.#claimed(), offset, chunk_b64: bytes.toString('base64') }
    return this.#send((options) => this.#link.call(JOB_LOGS[log].append, input, { ...options, onRetry }))
  }

  async putArtifacts(artifacts: Artifacts): Promise<void> {
    const timeoutMs = this.#limits.largeCallMs
    await this.#send((options) =>
      this.#link.call('judge.job.put_artifacts', { ...this.#claimed(), ...artifacts }, { ...options, timeoutMs }),
    )
  }

  /** Books a call of a model; answers what all calls of the job came to. */
  ingestUsage(usage: Omit<ToolInput<'judge.usage.ingest'>, 'job_id' | 'claim_id'>): Promise<ToolOutput<'judge.usage.ingest'>> {
    return this.#send((options) => this.#link.call('judge.usage.ingest', { ...this.#claimed(), ...usage }, options))
  }

  /** The key of an attempt. A gateway that has none now is asked again until the signal fires. */
  prepareGenerate(attempt: number, signal: AbortSignal): Promise<ToolOutput<'judge.prepare_generate'>> {
    const input = { ...this.#claimed(), attempt }
    return this.#send((options) =>
      this.#link.call('judge.prepare_generate', input, { ...options, signal: AbortSignal.any([this.#lost.signal, signal]) }),
    )
  }

  readTranscript(offset: number): Promise<ToolOutput<'judge.job.read_transcript'>> {
    return this.#send((options) => this.#link.call('judge.job.read_transcript', { ...this.#claimed(), offset }, options))
  }

  /** Ends the claim. After it nothing is sent any more. */
  async release(reason: 'done' | 'unfinished' | 'unsupported'): Promise<void> {
    this.end()
    await this.#send((options) => this.#link.call('judge.release_claim', { ...this.#claimed(), reason }, options))
  }

  /** No more heartbeats. */
  end(): void {
    if (this.#place.may('over')) this.#place.to('over')
    clearTimeout(this.#timer)
  }

  #claimed(): { job_id: JobId; claim_id: string } {
    return { job_id: this.claim.jobId, claim_id: this.claim.claimId }
  }

  async #send<Answer extends object>(send: (options: SteadyCallOptions) => Promise<Answer>): Promise<Answer> {
    try {
      const answer = await send({ signal: this.#lost.signal })
      this.#acceptedAt = performance.now()
      if ('action' in answer && answer.action === 'cancel') this.stop('cancel')
      return answer
    } catch (error) {
      if (this.#reason === 'lost') throw new ClaimLost(this.claim.jobId, { cause: error })
      if (!(error instanceof ToolError) || !isLost(error)) throw error
      this.stop('lost')
      throw new ClaimLost(this.claim.jobId, { cause: error })
    }
  }

  get #isSilent(): boolean {
    return this.#place.at === 'lost' || this.#place.at === 'over'
  }

  /** How long nothing may be heard of us. */
  get #everyMs(): number {
    return this.#link.hasPush ? this.claim.leaseMs / 3 : Math.min(this.#limits.pollMs, this.claim.leaseMs / 3)
  }

  #schedule(): void {
    if (this.#isSilent) return
    const everyMs = this.#everyMs
    const dueMs = this.#acceptedAt + everyMs - performance.now()
    clearTimeout(this.#timer)
    // Not sooner than a part of the interval: a call that fails for good must not make us spin.
    this.#timer = setTimeout(() => void this.#wake(), Math.max(dueMs, everyMs / 8))
  }

  async #wake(): Promise<void> {
    if (performance.now() - this.#acceptedAt >= this.#limits.silentMs) this.stop('lost')
    else if (performance.now() - this.#acceptedAt >= this.#everyMs * 0.9) void this.#beat()
    this.#schedule()
  }

  async #beat(): Promise<void> {
    if (this.#isBeating || this.#isSilent) return
    this.#isBeating = true
    try {
      await this.#send((options) => this.#link.call('judge.heartbeat', this.#claimed(), options))
    } catch {
      // A lost claim has stopped the job already; anything else the next heartbeat meets again.
    } finally {
      this.#isBeating = false
    }
  }
}

/** A job that was deleted under us is as lost as one that somebody else has. Models and files are missed without that. */
const isLost = ({ code, field }: ToolError): boolean =>
  code === 'lease_lost' || (code === 'not_found' && (field === undefined || field === 'job_id'))
