import type { IncomingMessage } from 'node:http'
import type { ServedWire } from '../core/served-wire.ts'
import { Denied, SHUTDOWN_REASON, restarting } from '../door.ts'
import type { BodyShare, RoomFull } from '../limit/body-room.ts'
import { type Holding, personOf } from '../limit/callers.ts'
import type { Caller } from '../service.ts'
import { connectionOf } from './connections.ts'
import type { Exchange } from './exchange.ts'

type Body = { readonly kind: 'body'; readonly bytes: Buffer }

export type BodyOutcome =
  | Body
  | { readonly kind: 'too-large' }
  /** Too many bytes of this sender, or of all, are held already. */
  | { readonly kind: 'no-room'; readonly full: RoomFull }
  /** The client went away half-way: there is nobody to answer. */
  | { readonly kind: 'gone' }

/** How a body came in, unless nobody is there any more or may not be. */
export type Arrived = Exclude<BodyOutcome, { kind: 'gone' }>

/**
 * A POST whose body is on its way, which may take a minute. Whoever loses access meanwhile is cut like a session, and the
 * door is asked again when the body is there: nothing is done for somebody who was let in only when the headers came.
 */
export class Arrival<C extends Caller> implements Holding<C> {
  readonly caller: C
  readonly lasting = false
  readonly #served: ServedWire<C>
  readonly #exchange: Exchange<C>
  readonly #done: (exchange: Exchange<C>, arrived: Arrived) => void
  #isCut = false

  constructor(served: ServedWire<C>, exchange: Exchange<C>, done: (exchange: Exchange<C>, arrived: Arrived) => void) {
    this.#served = served
    this.#exchange = exchange
    this.#done = done
    this.caller = exchange.caller
  }

  read(): void {
    const { callers, bodies, turns, limits } = this.#served
    const { request, over } = this.#exchange
    const share = bodies.ofCaller(this.caller)
    // Until its exchange is over, what the body said may be in use.
    over.add(() => share.release())
    callers.add(this)
    readBody(request, { limitBytes: limits.messageBytes, share }, (outcome) => {
      callers.remove(this)
      if (outcome.kind === 'gone' || this.#isCut) return
      if (outcome.kind !== 'body') return this.#done(this.#exchange, outcome)
      // The door comes last: whoever waits for a turn may lose access in that time, too.
      turns.run(personOf(this.caller), outcome.bytes.length, () => this.#enter(outcome))
    })
  }

  end(reason: string): void {
    this.#isCut = true
    // The rest of the body must not be read as the next request.
    const refuse = (error: unknown): void => this.#exchange.refuse(error, { connection: 'close' })
    const ended =
      reason === SHUTDOWN_REASON
        ? restarting()
        : new Denied(401, reason, 'what this token may do has changed while the body was on its way; send it again')
    // The door has the words for why somebody may not come in any more.
    const stillLetIn = async (): Promise<C> => this.#exchange.again()
    void stillLetIn().then(() => refuse(ended), refuse)
  }

  #enter(body: Body): void {
    const exchange = this.#exchange
    const entered = (caller: C): void => {
      if (!exchange.response.destroyed) this.#done(caller === exchange.caller ? exchange : { ...exchange, caller }, body)
    }
    try {
      const caller = exchange.again()
      if (caller instanceof Promise) caller.then(entered).catch((error: unknown) => exchange.refuse(error))
      else entered(caller)
    } catch (error) {
      exchange.refuse(error)
    }
  }
}

export interface BodyLimits {
  readonly limitBytes: number
  /** Where the bytes are counted, as they come. What it holds in the end stays held until whoever reads the body lets go. */
  readonly share: BodyShare
}

/** Reads a body up to a limit. Calls back rather than promises: it is on the path of every call. */
export function readBody(
  request: IncomingMessage,
  { limitBytes, share }: BodyLimits,
  done: (outcome: BodyOutcome) => void,
): void {
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > limitBytes) return done({ kind: 'too-large' })
  let body: Buffer | undefined
  let size = 0
  let settled = false
  let isInPieces = false
  const connection = connectionOf(request.socket)
  const settle = (outcome: BodyOutcome): void => {
    if (settled) return
    settled = true
    if (isInPieces) share.arrived()
    connection?.bodyOver()
    // What was gathered is of no use any more, however long the client goes on.
    body = undefined
    done(outcome)
  }
  const order = connection?.order ?? Number.POSITIVE_INFINITY
  connection?.bodyAwaited()
  request.on('data', (chunk: Buffer) => {
    if (settled) return
    const end = size + chunk.length
    if (end > limitBytes) return settle({ kind: 'too-large' })
    // Most bodies come in one piece.
    if (!isInPieces && end !== announced) {
      isInPieces = true
      share.arrives(order, () => settle({ kind: 'no-room', full: 'own' }))
    }
    const room = body === undefined ? chunk.length : roomFor(body, end, limitBytes)
    const full = share.hold(room, order)
    if (full !== undefined) return settle({ kind: 'no-room', full })
    body = body === undefined ? chunk : joined(body, size, chunk, room)
    size = end
  })
  request.on('end', () => settle({ kind: 'body', bytes: body?.subarray(0, size) ?? Buffer.alloc(0) }))
  request.on('close', () => settle({ kind: 'gone' }))
  request.on('error', () => settle({ kind: 'gone' }))
}

const roomFor = (body: Buffer, end: number, limitBytes: number): number =>
  end <= body.length ? body.length : Math.min(limitBytes, end * 2)

/** One buffer that doubles, not a list of chunks: a chunk may be a single byte, and would cost hundreds in a list. */
function joined(body: Buffer, size: number, chunk: Buffer, roomBytes: number): Buffer {
  const room = roomBytes === body.length ? body : Buffer.allocUnsafe(roomBytes)
  if (room !== body) body.copy(room, 0, 0, size)
  chunk.copy(room, size)
  return room
}
