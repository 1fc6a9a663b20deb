import { LegacyLink } from '../core/legacy-link.ts'
import type { ServedWire } from '../core/served-wire.ts'
import type { LegacyRevision } from '../revision.ts'
import { hasPrimingEvents } from '../revision.ts'
import type { Caller, ClientView, Service } from '../service.ts'
import type { EventStream } from './event-stream.ts'
import { Replay, STANDALONE } from './replay.ts'
import { SessionStream } from './session-stream.ts'

/** One legacy session over HTTP: the link, its streams, and what a client that was cut off may still want. */
export class HttpSession<C extends Caller> {
  readonly id: string
  readonly link: LegacyLink<C>
  readonly service: Service<C>
  readonly #served: ServedWire<C>
  readonly #streams = new Map<number, SessionStream>()
  readonly #standalone: SessionStream
  readonly #replay: Replay
  #lastStream = STANDALONE
  /** When it was last in use, its calls included; when its client was last there, by a request or an open stream. */
  #lastUsedAt: number
  #lastHeldAt: number

  constructor(start: {
    readonly id: string
    readonly served: ServedWire<C>
    readonly service: Service<C>
    readonly caller: C
    readonly client: ClientView
    readonly revision: LegacyRevision
    readonly onEnd: (session: HttpSession<C>) => void
  }) {
    this.id = start.id
    this.#served = start.served
    this.service = start.service
    this.#lastUsedAt = start.served.now()
    this.#lastHeldAt = this.#lastUsedAt
    this.#replay = new Replay(start.served.limits, start.served.replays.ofCaller(start.caller))
    this.#standalone = new SessionStream(STANDALONE, this.#replay, false)
    this.link = new LegacyLink<C>({
      id: start.id,
      served: start.served,
      service: start.service,
      caller: start.caller,
      revision: start.revision,
      client: start.client,
      standalone: this.#standalone,
      unattendedMs: () => this.#unattendedMs(),
      onEnd: () => {
        this.#standalone.finish(undefined)
        for (const stream of this.#streams.values()) stream.finish(undefined)
        this.#replay.release()
        start.onEnd(this)
      },
    })
  }

  /** True when nobody would notice its end: no call, no reader, no sign of life for a while. */
  isIdle(now: number): boolean {
    if (this.#isHeld) this.#lastHeldAt = now
    // In use counts as seen: a reader that is cut off has the whole time to come back.
    if (this.link.busy || this.#standalone.attached) this.#lastUsedAt = now
    return now - this.#lastUsedAt > this.#served.limits.sessionIdleMs
  }

  /** Whether a client reads a stream of it now: the standalone one, or an answer. */
  get #isHeld(): boolean {
    return this.#standalone.attached || this.#streams.values().some(({ attached }) => attached)
  }

  /** A call under way is no sign of its client: it goes on when the connection is lost. */
  #unattendedMs(): number | undefined {
    if (this.#isHeld) return undefined
    return this.#served.now() - this.#lastHeldAt
  }

  /** Its client sent a request. */
  seen(): void {
    this.#lastUsedAt = this.#served.now()
    this.#lastHeldAt = this.#lastUsedAt
  }

  /** A stream for the answer to one request, joined to its connection. */
  openStream(connection: EventStream): SessionStream {
    this.#lastStream += 1
    const stream = new SessionStream(this.#lastStream, this.#replay, true)
    this.#streams.set(stream.number, stream)
    stream.attach(connection, 0)
    if (hasPrimingEvents(this.link.revision)) stream.prime()
    return stream
  }

  /** A finished stream is kept by its events alone. */
  closeStream(stream: SessionStream, text: string | undefined): void {
    stream.finish(text)
    this.#streams.delete(stream.number)
  }

  /** The standalone stream: messages that belong to no request. A new reader takes over from an old one. */
  listen(connection: EventStream): void {
    this.#standalone.attach(connection, Number.POSITIVE_INFINITY)
    if (hasPrimingEvents(this.link.revision)) this.#standalone.prime()
  }

  endListening(): void {
    this.#standalone.endConnection()
  }

  /** Goes on after the event that the client saw last. False when the id is none of ours. */
  resume(lastEventId: string, connection: () => EventStream): boolean {
    const match = /^(\d{1,12})-(\d{1,12})$/.exec(lastEventId)
    if (match === null) return false
    const number = Number(match[1])
    const seq = Number(match[2])
    if (number > this.#lastStream) return false
    if (number === STANDALONE) {
      const { gap } = this.#standalone.attach(connection(), seq)
      if (gap) this.link.markAllChanged()
      return true
    }
    const live = this.#streams.get(number)
    if (live !== undefined) {
      live.attach(connection(), seq)
      return true
    }
    // Its result may be among what is gone, and that it is gone is not known for ever; an end without it would look like an answer.
    const { events, gap } = this.#replay.after(number, seq)
    if (gap || events.length === 0) return false
    const ended = new SessionStream(number, this.#replay, true)
    ended.attach(connection(), seq)
    ended.finish(undefined)
    return true
  }
}
