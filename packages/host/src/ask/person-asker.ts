import type { MountDecision } from '@parley/agent'
import {
  APPROVAL_LIMITS,
  type ApprovalId,
  type ApprovalStep,
  CallCancelled,
  type HeldApproval,
  messageOf,
  RecentMap,
  ToolError,
  type ToolInput,
  type ToolOutput,
} from '@parley/protocol'
import * as z from 'zod'
import type { AgentOfGateway } from '../gateway-calls.ts'
import { type Alike, AlikeCalls } from './alike-calls.ts'
import { MACHINE_TIMERS, type Timers } from '../timers.ts'

/** One call asks so long; then the next asks on. */
const WAIT_MS = 20_000
/** After a failure to hear, it is tried again so much later. */
const RETRY_MS = 1_000
/** More than an agent is held for when its gateways cannot be reached. */
const STEP_TRIES = 120

/** What came of asking. `changed`: other policies are active now, and nothing was decided. */
export type PersonSaid = MountDecision | { readonly kind: 'changed' }

/** What a person is asked about. */
export type Question = Omit<ToolInput<'host.ask'>, 'agent_id' | 'claim_id' | 'attended'>

const CHANGED = { kind: 'changed' } as const
const LET_GO = { kind: 'deny', reason: 'the agent is let go of; ask again', endsTurn: false } as const
/** So many that were dispatched are known: more than can be asked and approved while the first of them counts. */
const DISPATCHED_KEPT = 10_000
/** A JSON object in a text. */
const JsonObjectText = z.string().transform((text) => z.record(z.string(), z.json()).parse(JSON.parse(text)))

/** What policies say of a call again, later. */
export interface AskedAgain {
  /** Why arguments that a person changed may not be sent. */
  readonly refusalOf: (edited: string) => string | undefined
  /** Whether nobody has to be asked any more. */
  readonly isSettled: () => boolean
}

export interface PersonAskerOptions extends AgentOfGateway {
  readonly log: (level: 'info' | 'warn', message: string) => void
  /** Somebody is asked now. */
  readonly asked?: (question: Question, id: ApprovalId) => void
  readonly timers?: Timers
}

interface Waiting {
  readonly decided: (approval: HeldApproval | 'changed' | undefined) => void
  readonly isSettled: () => boolean
}

/**
 * Asks people about the calls of one agent and waits for what they say. One request at a time waits for all that are open. A caller that is
 * cut off leaves its approval behind, and the same call takes it up again; one that cancels withdraws it.
 */
export class PersonAsker {
  readonly #options: PersonAskerOptions
  /** Two callers may wait for the same one: whoever is first told sends it, and the other hears that. */
  readonly #waiting = new Map<ApprovalId, Set<Waiting>>()
  /** Those that went out under this claim: each once. */
  readonly #dispatched = new RecentMap<ApprovalId, true>(DISPATCHED_KEPT)
  readonly #alike = new AlikeCalls()
  /** How often policies have changed. */
  #changes = 0
  #isListening = false
  /** Another host goes on with what is asked: nothing is taken back from here. */
  #isLetGo = false
  /** Fires when another one is waited for. */
  #changed = new AbortController()

  constructor(options: PersonAskerOptions) {
    this.#options = options
  }

  /**
   * What a person says to this very call. Where it is yes, it counts as sent from then on: whoever called this sends it.
   */
  decide(about: Question, signal: AbortSignal, again: AskedAgain): Promise<PersonSaid> {
    return this.#alike.among(JSON.stringify(about), (alike) => this.#decideAmong(alike, about, signal, again))
  }

  async #decideAmong(
    alike: Alike,
    about: Question,
    signal: AbortSignal,
    { refusalOf, isSettled }: AskedAgain,
  ): Promise<PersonSaid> {
    const changes = this.#changes
    let asked: HeldApproval
    try {
      asked = await alike.inTurn(() => this.#ask(alike, about, signal))
    } catch (error) {
      if (!(error instanceof ToolError) || signal.aborted) throw error
      if (error.code === 'conflict' && error.field === 'policy') return CHANGED
      return { kind: 'deny', reason: `nobody can be asked about it: ${error.message}`, endsTurn: false }
    }
    const id = asked.approval_id
    if (asked.status === 'pending') this.#options.asked?.(about, id)
    try {
      // They may have changed while it was asked, when nobody waited yet.
      const isStale = changes !== this.#changes
      const said = isStale ? 'changed' : asked.status === 'pending' ? await this.#answerTo(id, alike, isSettled, signal) : asked
      if (said !== 'changed') return await this.#decision(id, said, refusalOf)
      // The change may be the yes itself, which made a rule: whether it is still good is known where it is dispatched.
      const now = await this.#look(id)
      if (now?.status === 'approved') return await this.#decision(id, now, refusalOf)
      await this.#step(id, 'withdraw')
      return CHANGED
    } finally {
      if (alike.attended.get(id) === signal) alike.attended.delete(id)
    }
  }

  async #ask({ attended }: Alike, about: Question, signal: AbortSignal): Promise<HeldApproval> {
    const { claim, call, signal: untilLetGo } = this.#options
    signal.throwIfAborted()
    // A caller that goes away meanwhile does not end it: whether it was asked would not be known, and nobody could take it up again.
    const asked = await call('host.ask', { ...claim, ...about, attended: [...attended.keys()] }, untilLetGo)
    if (signal.aborted) {
      await this.#step(asked.approval_id, 'leave')
      throw new Error('whoever called is gone')
    }
    attended.set(asked.approval_id, signal)
    return asked
  }

  /** Who waits is asked about under other policies. */
  policiesChanged(): void {
    this.#changes += 1
    for (const { decided } of this.#allWaiting()) decided('changed')
  }

  /** People have allowed more, or less. Who needs nobody's leave any more waits no longer; the others stay as they were asked. */
  allowancesChanged(): void {
    this.#changes += 1
    for (const { decided, isSettled } of this.#allWaiting()) if (isSettled()) decided('changed')
  }

  /** The agent is let go of: whoever is stopped now is cut off, whatever it says. */
  letGo(): void {
    this.#isLetGo = true
  }

  /** What became of a call that was sent. */
  settle(id: ApprovalId, end: 'returned' | 'failed'): void {
    void this.#step(id, end)
  }

  async #decision(
    id: ApprovalId,
    said: HeldApproval | undefined,
    refusalOf: (edited: string) => string | undefined,
  ): Promise<PersonSaid> {
    if (said?.status === 'approved') {
      const edited = said.edited_json
      const refusal = edited === null ? undefined : refusalOf(edited)
      if (refusal !== undefined) {
        await this.#step(id, 'withdraw')
        return { kind: 'deny', reason: refusal, endsTurn: false }
      }
      if (this.#dispatched.get(id) === true)
        return { kind: 'deny', reason: 'it was sent already, for another caller', endsTurn: false }
      this.#dispatched.set(id, true)
      const { ok, status } = await this.#step(id, 'dispatch')
      // Under this claim nobody else dispatches: where it is dispatched already, our own word arrived and its answer was lost.
      if (ok || status === 'dispatched')
        return {
          kind: 'allow',
          approval: id,
          ...(edited === null ? {} : { arguments: JsonObjectText.parse(edited) }),
          ...(said.reason === null || said.reason === '' ? {} : { said: said.reason }),
        }
      if (status === 'withdrawn') return CHANGED
      if (status === null) return LET_GO
    }
    if (said?.status === 'denied') {
      const why = said.reason === null || said.reason === '' ? '' : `: ${said.reason}`
      return { kind: 'deny', reason: `${said.by ?? 'somebody'} said no${why}`, endsTurn: said.decision === 'deny_abort' }
    }
    // Nobody heard what was said: the agent is let go of. What was asked stands, and the same call takes it up again.
    if (said === undefined) return LET_GO
    return { kind: 'deny', reason: 'nobody approved it in time', endsTurn: false, isExpired: true }
  }

  async #answerTo(
    id: ApprovalId,
    alike: Alike,
    isSettled: () => boolean,
    signal: AbortSignal,
  ): Promise<HeldApproval | 'changed' | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<HeldApproval | 'changed' | undefined>()
    const waiting: Waiting = { decided: resolve, isSettled }
    const gone = (): void => {
      this.#waitNoMore(id, waiting)
      alike.attended.delete(id)
      const step = !this.#isLetGo && signal.reason instanceof CallCancelled ? 'withdraw' : 'leave'
      // Nobody asks meanwhile: said again because its answer was lost, it would come after somebody had taken this one up.
      void alike.inTurn(() => this.#step(id, step)).then(() => reject(new Error('whoever called is gone')))
    }
    this.#waiting.set(id, (this.#waiting.get(id) ?? new Set()).add(waiting))
    signal.addEventListener('abort', gone, { once: true })
    if (signal.aborted) gone()
    this.#changed.abort()
    if (!this.#isListening) void this.#listen()
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', gone)
      this.#waitNoMore(id, waiting)
    }
  }

  #allWaiting(): readonly Waiting[] {
    return [...this.#waiting.values()].flatMap((waiting) => [...waiting])
  }

  #waitNoMore(id: ApprovalId, waiting: Waiting): void {
    const all = this.#waiting.get(id)
    if (all?.delete(waiting) === true && all.size === 0) this.#waiting.delete(id)
  }

  /** Hears for as long as somebody waits. */
  async #listen(): Promise<void> {
    const { claim, call, signal, log, timers = MACHINE_TIMERS } = this.#options
    this.#isListening = true
    while (this.#waiting.size > 0 && !signal.aborted) {
      this.#changed = new AbortController()
      const ids = [...this.#waiting.keys()].slice(0, APPROVAL_LIMITS.pendingPerAgent)
      try {
        const unlessChanged = AbortSignal.any([signal, this.#changed.signal])
        const { items } = await call('host.approvals', { ...claim, approval_ids: ids, wait_ms: WAIT_MS }, unlessChanged)
        for (const id of ids) {
          const item = items.find((each) => each.approval_id === id)
          if (item?.status !== 'pending') for (const { decided } of this.#waiting.get(id) ?? []) decided(item)
        }
      } catch (error) {
        if (signal.aborted) break
        if (this.#changed.signal.aborted) continue
        log('warn', `what people decide cannot be heard: ${messageOf(error)}`)
        await new Promise<void>((resolve) => timers.after(RETRY_MS, resolve))
      }
    }
    this.#isListening = false
    for (const { decided } of this.#allWaiting()) decided(undefined)
  }

  async #look(id: ApprovalId): Promise<HeldApproval | undefined> {
    const { claim, call, signal } = this.#options
    const found = call('host.approvals', { ...claim, approval_ids: [id], wait_ms: 0 }, signal)
    return (await found.catch(() => undefined))?.items.find(({ approval_id }) => approval_id === id)
  }

  /**
   * One step of an approval. Tried again for as long as the agent is held here: a step that is not written down would leave it open, and that a
   * gateway takes the claim for lost in one moment does not mean that it is.
   */
  async #step(id: ApprovalId, step: ApprovalStep): Promise<Pick<ToolOutput<'host.approval_step'>, 'ok' | 'status'>> {
    const { claim, call, signal, log, timers = MACHINE_TIMERS } = this.#options
    for (let tries = 1; ; tries += 1) {
      try {
        return await call('host.approval_step', { ...claim, approval_id: id, step }, signal)
      } catch (error) {
        if (signal.aborted || tries === STEP_TRIES) return { ok: false, status: null }
        log('warn', `the step ${step} of ${id} is not written down yet: ${messageOf(error)}`)
        await new Promise<void>((resolve) => timers.after(RETRY_MS, resolve))
      }
    }
  }
}
