import { randomUUID } from 'node:crypto'
import { type JsonObject, RpcError } from '@parley/protocol'
import type { ServerRequest } from '../client/ask/inbound.ts'
import { type Call, type Caller, InputRequired, type InputRequest, type ServiceResult } from '../service.ts'
import { isQuestion, modernQuestion } from './translate.ts'

interface Question {
  readonly request: InputRequest
  readonly answered: PromiseWithResolvers<JsonObject>
}
type Outcome = { readonly result: ServiceResult } | { readonly error: unknown }

/**
 * A modern client's call at a legacy server. It goes on upstream while the client is asked by an answer to its call and
 * comes back with another: the tool runs once, however many rounds that takes.
 */
export class ParkedCall {
  readonly id = randomUUID()
  readonly callerKey: string
  readonly #questions = new Map<string, Question>()
  readonly #controller = new AbortController()
  readonly #parkedMs: number
  #outcome: Outcome | undefined
  /** The one request that waits for news. */
  #waiter: PromiseWithResolvers<void> | undefined
  #waitingCall: Pick<Call, 'held'> | undefined
  /** What the next request waits for as well. */
  #heldFor: { readonly words: string | undefined } | undefined
  #timer: NodeJS.Timeout | undefined
  /** When its client was asked, and has not come back since. */
  #parkedAt: number | undefined
  #asked = 0

  constructor(callerKey: string, parkedMs: number) {
    this.callerKey = callerKey
    this.#parkedMs = parkedMs
  }

  /** Whether the client still has something to come back for. */
  get isOpen(): boolean {
    return this.#outcome === undefined && !this.#controller.signal.aborted
  }

  /** For how long its client has been away; `undefined` while it waits here. */
  unattendedMs(): number | undefined {
    return this.#parkedAt === undefined ? undefined : performance.now() - this.#parkedAt
  }

  /** Ends it as if its client had never come back. */
  giveUp(): void {
    clearTimeout(this.#timer)
    this.#controller.abort()
  }

  /** Aborted when nobody will come back for the result. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The upstream asks. The client hears of it as soon as it waits. */
  ask({ method, params, signal }: ServerRequest): Promise<JsonObject> {
    if (!isQuestion(method)) return Promise.reject(new RpcError('method_not_found', `${method} cannot be asked here`))
    const key = `q${this.#asked++}`
    const question: Question = { request: modernQuestion(method, params), answered: Promise.withResolvers() }
    this.#questions.set(key, question)
    this.#heldFor = undefined
    signal.addEventListener('abort', () => {
      this.#questions.delete(key)
      question.answered.reject(new RpcError('internal_error', 'taken back'))
    })
    this.#waiter?.resolve()
    return question.answered.promise
  }

  /** It waits long, for somebody else than its client: so does each request that waits for it, until there is a question again. */
  held(words?: string): void {
    this.#heldFor = { words }
    this.#waitingCall?.held(words)
  }

  answer(answers: Readonly<Record<string, JsonObject>>): void {
    clearTimeout(this.#timer)
    this.#parkedAt = undefined
    for (const [key, answer] of Object.entries(answers)) {
      this.#questions.get(key)?.answered.resolve(answer)
      this.#questions.delete(key)
    }
  }

  finish(outcome: Outcome): void {
    this.#outcome = outcome
    this.#waiter?.resolve()
  }

  /** Waits for the result or the next question. A client that goes away while it waits has cancelled. */
  async next<C extends Caller>(call: Call<C>): Promise<ServiceResult> {
    if (this.#outcome === undefined && this.#questions.size === 0) await this.#news(call)
    clearTimeout(this.#timer)
    if (this.#outcome !== undefined) {
      if ('error' in this.#outcome) throw this.#outcome.error
      return this.#outcome.result
    }
    this.#parkedAt = performance.now()
    this.#timer = setTimeout(() => this.#controller.abort(), this.#parkedMs)
    this.#timer.unref()
    return new InputRequired(Object.fromEntries([...this.#questions].map(([key, { request }]) => [key, request])), {
      parked: this.id,
    })
  }

  /** A client that lost its connection sends the same again: the later request waits, and the earlier one cancels nothing. */
  async #news<C extends Caller>(call: Call<C>): Promise<void> {
    this.#waiter?.reject(
      new RpcError('invalid_request', 'requestState was sent again; the later request is the one that is answered'),
    )
    const waiter = Promise.withResolvers<void>()
    this.#waiter = waiter
    this.#waitingCall = call
    if (this.#heldFor !== undefined) call.held(this.#heldFor.words)
    const gone = (): void => {
      if (this.#waiter === waiter) this.#controller.abort()
      waiter.reject(new RpcError('internal_error', 'the client has gone'))
    }
    call.signal.addEventListener('abort', gone, { once: true })
    if (call.signal.aborted) gone()
    try {
      await waiter.promise
    } finally {
      call.signal.removeEventListener('abort', gone)
      if (this.#waiter === waiter) this.#waiter = this.#waitingCall = undefined
    }
  }
}

/** The parked calls of one relay. Bounded, and each caller finds only their own. */
export class ParkedCalls {
  readonly #calls = new Map<string, ParkedCall>()
  readonly #limit: number
  readonly #parkedMs: number

  constructor(limit: number, parkedMs: number) {
    this.#limit = limit
    this.#parkedMs = parkedMs
  }

  /** Starts a call that may be parked. `run` sends it upstream. */
  start(callerKey: string, run: (parked: ParkedCall) => Promise<ServiceResult>): ParkedCall {
    if (this.#calls.size >= this.#limit)
      throw new RpcError('overloaded', `at most ${this.#limit} calls may wait for answers of their clients`)
    const parked = new ParkedCall(callerKey, this.#parkedMs)
    this.#calls.set(parked.id, parked)
    parked.signal.addEventListener('abort', () => this.#calls.delete(parked.id))
    run(parked).then(
      (result) => parked.finish({ result }),
      (error: unknown) => parked.finish({ error }),
    )
    return parked
  }

  find(id: string, callerKey: string): ParkedCall {
    const parked = this.#calls.get(id)
    if (parked === undefined || parked.callerKey !== callerKey) {
      throw new RpcError('invalid_params', 'requestState names a call that is over; send the call again without it', {
        field: 'requestState',
      })
    }
    return parked
  }

  /** Takes the answers that a call came back with; its result, or its next question. */
  async next<C extends Caller>(id: string, call: Call<C>): Promise<ServiceResult> {
    const parked = this.find(id, call.caller.key)
    parked.answer(call.answers ?? {})
    try {
      return await parked.next(call)
    } finally {
      if (!parked.isOpen) this.#calls.delete(parked.id)
    }
  }
}
