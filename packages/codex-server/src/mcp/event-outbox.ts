import type { EngineEvent } from '@parley/agent'
import type { EventMessage } from '@parley/codex/port'
import { JsonText } from '@parley/rpc/stdio'
import type { EventTranslator, TranslatorOptions } from '../event/translator.ts'
import type { CallPort } from './call-port.ts'
import type { DialectFacts } from './dialect-facts.ts'

export interface EventOutboxOptions {
  readonly threadId: string
  readonly dialect: DialectFacts
  readonly openTranslator: (later: NonNullable<TranslatorOptions['later']>) => EventTranslator
  /** Of deltas that may wait. */
  readonly laggingBytes: number
  /** Deltas had to be left out: called once for each call. */
  readonly lost: () => void
}

/** A call whose turn has come. */
export interface ToldCall {
  readonly port: Pick<CallPort, 'id' | 'notify' | 'drained' | 'isGone'>
  readonly prompt: string
  /** Whether it goes on with a conversation that it did not open. */
  readonly isReply: boolean
}

/** What belongs to the conversation rather than to a turn has no id. */
const WITHOUT_ID: ReadonlySet<string> = new Set(['session_configured', 'mcp_startup_update', 'mcp_startup_complete'])
const EVENT = 'codex/event'

type Waiting = { readonly message: EventMessage } | { event: EngineEvent }

/**
 * The events of a conversation, in Codex's words, on their way to the call whose turn it is. Its client may read slowly.
 * While it does, what comes in pieces is put together, and past a bound left out: the whole follows at its end. Nothing else
 * is ever left out or changes places.
 */
export class EventOutbox {
  readonly #options: EventOutboxOptions
  readonly #translator: EventTranslator
  readonly #heads = new Map<string, string>()
  #headsFor: string | number = ''
  #call: ToldCall | undefined
  #eventId = ''
  #replies = 0
  #isOver = false
  #waiting: Waiting[] = []
  #deltaBytes = 0
  #draining: Promise<void> | undefined
  #hasLost = false

  constructor(options: EventOutboxOptions) {
    this.#options = options
    this.#translator = options.openTranslator((messages) => this.#late(messages))
  }

  /** Of the turn under way. */
  get eventId(): string {
    return this.#eventId
  }

  /** What is told from here on is of this call. The one before has been flushed. */
  begins(call: ToldCall): void {
    this.#call = call
    // The older dialect has the id of the call, and numbers replies; the newer one has that of the turn.
    this.#eventId = String(call.isReply ? this.#replies++ : call.port.id)
    this.#isOver = false
    this.#hasLost = false
    if (!call.isReply) this.#send([this.#translator.configured()])
  }

  event(event: EngineEvent): void {
    if (this.#draining === undefined) this.#send(this.#translate(event))
    else this.#enqueue(event)
  }

  /** Settles when everything so far has gone out, or nobody is there to take it. */
  async flushed(): Promise<void> {
    await this.#draining
  }

  /** What was translated already, and was before all that waits untranslated. */
  #late(messages: readonly EventMessage[]): void {
    if (this.#draining === undefined) return this.#send(messages)
    const at = this.#waiting.findIndex((waiting) => 'event' in waiting)
    this.#waiting.splice(at === -1 ? this.#waiting.length : at, 0, ...messages.map((message) => ({ message })))
  }

  #translate(event: EngineEvent): readonly EventMessage[] {
    if (event.type !== 'turn_started') return this.#translator.translate(event)
    this.#eventId = this.#options.dialect.eventId(this.#eventId, event.turn)
    return [...this.#translator.translate(event), ...this.#translator.said(this.#call?.prompt ?? '')]
  }

  #send(messages: readonly EventMessage[]): void {
    for (const [index, message] of messages.entries()) {
      if (this.#isTaken(message)) continue
      this.#waiting.unshift(...messages.slice(index).map((each) => ({ message: each })))
      this.#draining ??= this.#drain()
      return
    }
  }

  #isTaken(message: EventMessage): boolean {
    const { port } = this.#call ?? {}
    if (port === undefined || this.#isOver) return true
    const head = this.#head(port.id, WITHOUT_ID.has(message.type) ? '' : this.#eventId)
    const isTaken = port.notify(EVENT, new JsonText(`${head}${JSON.stringify(message)}}`))
    // Codex answers a call that failed right after saying so.
    if (isTaken && message.type === 'error') this.#isOver = true
    return isTaken
  }

  /** The parameters up to the message, made once for each id: all else differs from event to event. */
  #head(requestId: string | number, id: string): string {
    if (requestId !== this.#headsFor) this.#heads.clear()
    this.#headsFor = requestId
    let head = this.#heads.get(id)
    if (head === undefined) {
      const meta = { requestId, ...this.#options.dialect.ofThread(this.#options.threadId) }
      head = `{"_meta":${JSON.stringify(meta)},"id":${JSON.stringify(id)},"msg":`
      this.#heads.set(id, head)
    }
    return head
  }

  async #drain(): Promise<void> {
    // Never over before it is known to have begun: whoever waits for it would wait for ever.
    await Promise.resolve()
    try {
      while (this.#waiting.length > 0 && this.#call?.port.isGone === false) {
        await this.#call.port.drained()
        this.#sendWaiting()
      }
    } finally {
      this.#waiting = []
      this.#deltaBytes = 0
      this.#draining = undefined
    }
  }

  #sendWaiting(): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if ('event' in next) this.#deltaBytes -= weightOf(next.event)
      const before = this.#waiting.length
      this.#send('event' in next ? this.#translate(next.event) : [next.message])
      if (this.#waiting.length > before) return
    }
  }

  #enqueue(event: EngineEvent): void {
    if (event.type === 'tool_output') return
    const weight = weightOf(event)
    if (weight > 0 && this.#deltaBytes + weight > this.#options.laggingBytes) {
      if (!this.#hasLost) this.#options.lost()
      this.#hasLost = true
      return
    }
    this.#deltaBytes += weight
    const last = this.#waiting.at(-1)
    const merged = last !== undefined && 'event' in last ? together(last.event, event) : undefined
    if (last !== undefined && 'event' in last && merged !== undefined) last.event = merged
    else this.#waiting.push({ event })
  }
}

/** Of what may be left out. */
function weightOf(event: EngineEvent): number {
  if (event.type === 'message_delta' || event.type === 'reasoning_delta') return event.delta.length
  return event.type === 'command_output' ? event.bytes.byteLength : 0
}

/** Two pieces of the same thing as one. */
function together(first: EngineEvent, second: EngineEvent): EngineEvent | undefined {
  if (first.type === 'message_delta' && second.type === 'message_delta')
    return first.item === second.item ? { ...first, delta: first.delta + second.delta } : undefined
  if (first.type === 'reasoning_delta' && second.type === 'reasoning_delta') {
    const isSame = first.item === second.item && first.part === second.part && first.raw === second.raw
    return isSame ? { ...first, delta: first.delta + second.delta } : undefined
  }
  if (first.type === 'command_output' && second.type === 'command_output') {
    if (first.call !== second.call || first.stream !== second.stream) return undefined
    return { ...first, bytes: Buffer.concat([first.bytes, second.bytes]) }
  }
  return first.type === 'diff' && second.type === 'diff' ? second : undefined
}
