import type { BodyShare } from '../limit/body-room.ts'
import { personOf } from '../limit/callers.ts'
import type { ServedWire } from '../core/served-wire.ts'
import { Denied } from '../door.ts'
import type { Caller } from '../service.ts'

/** One frame of a socket: what it takes while it waits, whether the door is asked first, and what is done with it. */
export interface WaitingFrame {
  readonly bytes: number
  readonly asksDoor: boolean
  serve(): void
}

export interface InboxStart<C extends Caller> {
  readonly served: Pick<ServedWire<C>, 'bodies' | 'limits' | 'turns'>
  readonly caller: C
  /** Who the caller is now; throws `Denied`. */
  readonly again: () => C | Promise<C>
  /** Whether somebody who is now so may go on with what this socket was opened for. */
  readonly mayGoOn: (caller: C) => boolean
  readonly pause: () => void
  readonly resume: () => void
  readonly end: (reason: string) => void
}

/** How long a socket is not read whose sender has nothing left to pay with. */
const REST_MS = 1_000
/** What one frame takes beside its own bytes. */
const FRAME_BYTES = 128
const CHANGED = 'the rights of this token have changed'

/**
 * The frames of one socket, in order. A frame is served when it is its sender's turn and the door still lets the sender in;
 * until then nothing more is read from the socket. Nor is it while the sender has nothing left to pay with.
 */
export class Inbox<C extends Caller> {
  readonly #start: InboxStart<C>
  readonly #share: BodyShare
  readonly #person: string
  #waiting: WaitingFrame[] = []
  #waitingBytes = 0
  /** Bytes of a message whose end has not come, and since when they come. */
  #partBytes = 0
  #partSince = 0
  #isAsking = false
  #hasTurnComing = false
  #rest: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(start: InboxStart<C>) {
    this.#start = start
    this.#share = start.served.bodies.ofCaller(start.caller)
    this.#person = personOf(start.caller)
  }

  /** Bytes came from the network; until it is known what they are, they are a part of a message. */
  arrived(bytes: number): void {
    if (this.#partBytes === 0) this.#partSince = performance.now()
    this.#partBytes += bytes
    this.#hold()
  }

  /** Of what came, so many bytes were a frame of its own, which may stand between the parts of a message. */
  wasControl(bytes: number): void {
    this.#partBytes = Math.max(0, this.#partBytes - bytes)
    this.#hold()
  }

  /** What came was a message, and that is whole. */
  wasMessage(): void {
    this.#partBytes = 0
    this.#hold()
  }

  /** Whether a message has been on its way for too long. */
  isLate(limitMs: number): boolean {
    return this.#partBytes > 0 && performance.now() - this.#partSince > limitMs
  }

  receive(frame: WaitingFrame): void {
    if (this.#isClosed) return
    const { turns, limits } = this.#start.served
    if (this.#waiting.length === 0 && !this.#isHeld && turns.take(this.#person, frame.bytes)) return this.#serve(frame)
    if (this.#waiting.length >= limits.waitingFrames) return this.#start.end('too many messages at once')
    this.#waiting.push(frame)
    this.#waitingBytes += frame.bytes + FRAME_BYTES
    this.#hold()
    this.#waitForTurn()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#rest)
    this.#waiting = []
    this.#share.release()
  }

  get #isHeld(): boolean {
    return this.#isAsking || this.#rest !== undefined
  }

  #hold(): void {
    if (!this.#isClosed && this.#share.hold(this.#partBytes + this.#waitingBytes) !== undefined)
      this.#start.end('too many bytes of yours are on their way')
  }

  #waitForTurn(): void {
    this.#start.pause()
    if (this.#hasTurnComing || this.#isHeld) return
    this.#hasTurnComing = true
    this.#start.served.turns.next(() => {
      this.#hasTurnComing = false
      this.#goOn()
    })
  }

  #goOn(): void {
    while (!this.#isClosed && !this.#isHeld) {
      const next = this.#waiting[0]
      if (next === undefined) break
      if (!this.#start.served.turns.take(this.#person, next.bytes)) return this.#waitForTurn()
      this.#waiting.shift()
      this.#waitingBytes -= next.bytes + FRAME_BYTES
      this.#serve(next)
    }
    if (this.#isClosed || this.#isHeld) return
    this.#hold()
    this.#start.resume()
  }

  #serve(frame: WaitingFrame): void {
    if (!frame.asksDoor) return this.#served(frame)
    try {
      const caller = this.#start.again()
      if (!(caller instanceof Promise)) return this.#admitted(caller, frame)
      this.#isAsking = true
      this.#start.pause()
      caller.then(
        (known) => this.#asked(() => this.#admitted(known, frame)),
        (error: unknown) => this.#asked(() => this.#refused(error, frame)),
      )
    } catch (error) {
      this.#refused(error, frame)
    }
  }

  #asked(act: () => void): void {
    this.#isAsking = false
    if (this.#isClosed) return
    act()
    this.#goOn()
  }

  #admitted(caller: C, frame: WaitingFrame): void {
    if (this.#start.mayGoOn(caller)) this.#served(frame)
    else this.#start.end(CHANGED)
  }

  /** Where nobody can say who the caller is now, what was said last holds: whoever heard of a change cuts the socket. */
  #refused(error: unknown, frame: WaitingFrame): void {
    const isNoLongerLetIn = error instanceof Denied && (error.status === 401 || error.status === 403)
    if (isNoLongerLetIn) this.#start.end(error.code)
    else this.#served(frame)
  }

  /** A frame that its sender cannot pay is the last one for a while; whoever wanted an answer to it has been told. */
  #served(frame: WaitingFrame): void {
    const isPaid = this.#start.caller.meter?.open ?? true
    frame.serve()
    if (isPaid || this.#isClosed || this.#rest !== undefined) return
    this.#start.pause()
    this.#rest = setTimeout(() => {
      this.#rest = undefined
      this.#goOn()
    }, REST_MS)
  }
}
