import type { Call } from '@parley/rpc'
import { type JudgeRecord, type SeenJudge, type Store, onceAtATime, ownMachineId } from '@parley/store'

/** How far back the list of judges is read when one of them changed; one that waits now was seen since. */
const LISTED_MS = 86_400_000

/** One judge that waits for work. Its `signal` fires when there is something to look at: it may have ended, or drained. */
export class Poll {
  readonly #judge: SeenJudge
  /** It has one of these: which one, the store decides. */
  readonly #entries: readonly string[]
  /** The claims on whose end it looks again. */
  #claims: readonly string[] = []
  #drained = false
  #ended = false
  #wake = new AbortController()

  constructor(judge: SeenJudge) {
    this.#judge = judge
    this.#entries = [ownMachineId(judge), judge.machineId]
  }

  get drained(): boolean {
    return this.#drained
  }
  /** Nobody waits for the answer any more, or we shut down. */
  get ended(): boolean {
    return this.#ended
  }
  /** Taken before looking at the rest, so that nothing is missed in between. */
  get signal(): AbortSignal {
    return this.#wake.signal
  }

  /** What the store says of all judges, by machine; only its own entry counts. */
  look(judges: ReadonlyMap<string, JudgeRecord>): void {
    const entries = this.#entries.flatMap((machineId) => judges.get(machineId) ?? [])
    const own = entries.find(({ tokenId }) => tokenId === this.#judge.tokenId)
    if (own !== undefined) this.drain(own.drain)
  }

  drain(drained: boolean): void {
    if (drained === this.#drained || this.#ended) return
    this.#drained = drained
    this.#lookAgain()
  }

  /** What it may take depends on these claims: when one of them ends, there is something to look at. */
  dependsOn(claimIds: readonly string[]): void {
    this.#claims = claimIds
  }
  get isDependent(): boolean {
    return this.#claims.length > 0
  }
  released(claimId: string): void {
    if (this.#claims.includes(claimId)) this.#lookAgain()
  }
  /** All claims that hold now. */
  held(claimIds: ReadonlySet<string>): void {
    if (!this.#claims.every((claimId) => claimIds.has(claimId))) this.#lookAgain()
  }

  #lookAgain(): void {
    if (this.#ended) return
    const woken = this.#wake
    this.#wake = new AbortController()
    woken.abort()
  }

  readonly end = (): void => {
    this.#ended = true
    this.#wake.abort()
  }
}

/** Every judge that waits for work here. Told by one subscription, however many wait. */
export class Polls {
  readonly #store: Pick<Store, 'jobs' | 'judges' | 'topics'>
  readonly #now: () => number
  readonly #open = new Set<Poll>()
  readonly #look: () => void
  #off: (() => void) | undefined
  #closed = false

  constructor(store: Pick<Store, 'jobs' | 'judges' | 'topics'>, now: () => number, failed: (error: unknown) => void) {
    this.#store = store
    this.#now = now
    // When it fails, the next change, or the next time a judge asks for work, says it again.
    this.#look = onceAtATime(() => this.#lookAtAll(), failed)
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Calls `wait` with a poll that ends with the call and with the gateway, and that hears of every drain from now on. */
  async run<Answer>(
    judge: SeenJudge,
    call: Call['cancellation'] | undefined,
    wait: (poll: Poll) => Promise<Answer>,
  ): Promise<Answer> {
    const poll = new Poll(judge)
    this.#open.add(poll)
    this.#off ??= this.#store.topics.subscribe('judges', this.#look)
    call?.addEventListener('abort', poll.end, { once: true })
    if (call?.aborted === true || this.#closed) poll.end()
    try {
      return await wait(poll)
    } finally {
      call?.removeEventListener('abort', poll.end)
      this.#open.delete(poll)
      if (this.#open.size === 0) {
        this.#off?.()
        this.#off = undefined
      }
    }
  }

  /** A claim ended here; of those that end at other gateways the judges' topic tells, a little later. */
  released(claimId: string): void {
    for (const poll of this.#open) poll.released(claimId)
  }

  /** Ends all that wait: they answer at once, and nobody waits from now on. */
  close(): void {
    this.#closed = true
    for (const poll of this.#open) poll.end()
  }

  async #lookAtAll(): Promise<void> {
    if (this.#open.size === 0) return
    const judges = await this.#store.judges.list(this.#now() - LISTED_MS)
    const byMachine = new Map(judges.map((judge) => [judge.machineId, judge]))
    for (const poll of this.#open) poll.look(byMachine)
    await this.#lookAtClaims()
  }

  async #lookAtClaims(): Promise<void> {
    if (![...this.#open].some(({ isDependent }) => isDependent)) return
    const held = new Set((await this.#store.jobs.heldBy()).map(({ claimId }) => claimId))
    for (const poll of this.#open) poll.held(held)
  }
}

/** Answers, with nothing, when the signal fires or the time is over. */
export async function wokenOrLate(signal: AbortSignal, waitMs: number): Promise<undefined> {
  if (signal.aborted || waitMs <= 0) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const wake = (): void => resolve()
  const timer = setTimeout(wake, waitMs)
  signal.addEventListener('abort', wake, { once: true })
  await promise
  clearTimeout(timer)
  signal.removeEventListener('abort', wake)
}
