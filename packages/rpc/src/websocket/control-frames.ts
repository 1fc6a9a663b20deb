import { note } from '../limit/charge.ts'
import type { Caller } from '../service.ts'
import type { Inbox } from './inbox.ts'

/** A control frame carries at most so many bytes (RFC 6455), behind a head of so many. */
const CONTROL_BYTES = 125
const HEAD_BYTES = 6

/**
 * The pings and pongs of one socket. Each costs its sender; those that come while one waits for its turn wait with it, and of
 * several pings the last one is answered, as RFC 6455 allows: what waits does not grow with what is sent.
 */
export class ControlFrames<C extends Caller> {
  readonly #caller: C
  readonly #inbox: Inbox<C>
  readonly #pong: (data: Buffer) => void
  #waiting = 0
  #ping: Buffer | undefined

  constructor(caller: C, inbox: Inbox<C>, pong: (data: Buffer) => void) {
    this.#caller = caller
    this.#inbox = inbox
    this.#pong = pong
  }

  ping(data: Buffer): void {
    this.#ping = data
    this.#received(data)
  }

  pong(data: Buffer): void {
    this.#received(data)
  }

  #received(data: Buffer): void {
    this.#inbox.wasControl(HEAD_BYTES + data.length)
    this.#waiting += 1
    if (this.#waiting === 1) this.#inbox.receive({ bytes: CONTROL_BYTES, asksDoor: false, serve: () => this.#serve() })
  }

  #serve(): void {
    for (; this.#waiting > 0; this.#waiting -= 1) note(this.#caller)
    const ping = this.#ping
    this.#ping = undefined
    if (ping !== undefined) this.#pong(ping)
  }
}
