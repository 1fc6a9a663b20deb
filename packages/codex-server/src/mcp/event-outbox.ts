import type { EngineEvent } from '@parley/agent'
import type { EventMessage } from '@parley/codex/port'

export interface OutboxPort {
  translate(event: EngineEvent): readonly EventMessage[]
  /** False: not taken, and `drained` tells when to try again. */
  send(message: EventMessage): boolean
  drained(): Promise<void>
  readonly isGone: boolean
  readonly laggingBytes: number
  /** Called once, when deltas had to be left out. */
  lost(): void
}

type Waiting = { readonly message: EventMessage } | { event: EngineEvent }

/**
 * The events of one call on their way to a client that may read slowly. While it does, what comes in pieces is put
 * together, and past a bound left out: the whole follows at its end. Nothing else is ever left out or changes places.
 */
export class EventOutbox {
  readonly #port: OutboxPort
  #waiting: Waiting[] = []
  #deltaBytes = 0
  #draining: Promise<void> | undefined
  #hasLost = false

  constructor(port: OutboxPort) {
    this.#port = port
  }

  event(event: EngineEvent): void {
    if (this.#draining === undefined) this.#send(this.#port.translate(event))
    else this.#enqueue(event)
  }

  /** What is in Codex's words already, and was before all that waits untranslated. */
  messages(messages: readonly EventMessage[]): void {
    if (this.#draining === undefined) return this.#send(messages)
    const at = this.#waiting.findIndex((waiting) => 'event' in waiting)
    this.#waiting.splice(at === -1 ? this.#waiting.length : at, 0, ...messages.map((message) => ({ message })))
  }

  /** Settles when everything so far has gone out, or nobody is there to take it. */
  async flushed(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining
  }

  #send(messages: readonly EventMessage[]): void {
    for (const [index, message] of messages.entries()) {
      if (this.#port.send(message)) continue
      this.#waiting.unshift(...messages.slice(index).map((each) => ({ message: each })))
      this.#draining ??= this.#drain()
      return
    }
  }

  async #drain(): Promise<void> {
    // Never over before it is known to have begun: whoever waits for it would wait for ever.
    await Promise.resolve()
    while (this.#waiting.length > 0 && !this.#port.isGone) {
      await this.#port.drained()
      this.#sendWaiting()
    }
    this.#waiting = []
    this.#deltaBytes = 0
    this.#draining = undefined
  }

  #sendWaiting(): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if ('event' in next) this.#deltaBytes -= weightOf(next.event)
      const before = this.#waiting.length
      this.#send('event' in next ? this.#port.translate(next.event) : [next.message])
      if (this.#waiting.length > before) return
    }
  }

  #enqueue(event: EngineEvent): void {
    if (event.type === 'tool_output') return
    const weight = weightOf(event)
    if (weight > 0 && this.#deltaBytes + weight > this.#port.laggingBytes) {
      if (!this.#hasLost) this.#port.lost()
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
