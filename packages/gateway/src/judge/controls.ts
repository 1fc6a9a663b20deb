import type { JudgeAction } from '@parley/protocol'
import type { Link } from '@parley/rpc'
import { type ClaimKey, type Store, onceAtATime } from '@parley/store'

/** Claims that are watched for their judges; past that a judge learns of a cancel from its next result alone. */
const CLAIMS_MAX = 10_000

interface Watched {
  readonly link: Link
  end(): void
}

/**
 * Tells judges, on the connection they use, that the job they hold was cancelled or is theirs no more. Told once per
 * connection; the same stands in every result.
 */
export class Controls {
  readonly #store: Pick<Store, 'jobs' | 'topics'>
  readonly #failed: (error: unknown) => void
  readonly #claims = new Map<string, Watched>()

  constructor(store: Pick<Store, 'jobs' | 'topics'>, failed: (error: unknown) => void) {
    this.#store = store
    this.#failed = failed
  }

  get size(): number {
    return this.#claims.size
  }

  /** A call about this claim came over this connection: from now on its words go there. */
  watch(key: ClaimKey, link: Link): void {
    const known = this.#claims.get(key.claimId)
    if (known?.link === link) return
    known?.end()
    if (this.#claims.size >= CLAIMS_MAX || link.signal.aborted) return
    const watched = new WatchedClaim(key, link, this.#store, this.#failed, () => {
      if (this.#claims.get(key.claimId) === watched) this.#claims.delete(key.claimId)
    })
    this.#claims.set(key.claimId, watched)
  }

  /** The judge gave the job back: nothing more is said about it. */
  forget(claimId: string): void {
    this.#claims.get(claimId)?.end()
  }

  close(): void {
    for (const watched of this.#claims.values()) watched.end()
  }
}

class WatchedClaim implements Watched {
  readonly link: Link
  readonly #key: ClaimKey
  readonly #store: Pick<Store, 'jobs' | 'topics'>
  readonly #ended: () => void
  readonly #off: () => void
  #isOver = false
  #isTold = false

  constructor(
    key: ClaimKey,
    link: Link,
    store: Pick<Store, 'jobs' | 'topics'>,
    failed: (error: unknown) => void,
    ended: () => void,
  ) {
    this.link = link
    this.#key = key
    this.#store = store
    this.#ended = ended
    const look = onceAtATime(() => this.#look(), failed)
    this.#off = store.topics.subscribe(`job/${key.jobId}`, look)
    link.signal.addEventListener('abort', this.#onAbort, { once: true })
    // The job may have been cancelled after the call looked at it and before anybody listened.
    look()
  }

  readonly #onAbort = (): void => this.end()

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#off()
    this.link.signal.removeEventListener('abort', this.#onAbort)
    this.#ended()
  }

  async #look(): Promise<void> {
    if (this.#isOver || this.#isTold) return
    const job = await this.#store.jobs.byId(this.#key.jobId)
    const isTheirs = job?.claim?.id === this.#key.claimId
    if (isTheirs && job.status !== 'cancelled') return
    await this.#tell('cancel')
    // Of a job that is theirs no more there is nothing else to say; a cancelled one stays until it is given back,
    // so that the calls of its last flush do not make us say it again.
    if (!isTheirs) this.end()
  }

  async #tell(action: JudgeAction): Promise<void> {
    const { jobId, claimId } = this.#key
    while (!this.#isOver && !this.#isTold) {
      this.#isTold = this.link.notify('judge_control', { job_id: jobId, claim_id: claimId, action })
      if (!this.#isTold) await this.link.drained()
    }
  }
}
