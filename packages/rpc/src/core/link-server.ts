import { randomBytes } from 'node:crypto'
import { type JsonObject, PassingMap, RPC_CODES, RpcError, isJsonObject } from '@parley/protocol/wire'
import { serviceIn } from '../door.ts'
import {
  classify,
  type InvalidMessage,
  type Message,
  type NotificationMessage,
  type RequestId,
  type RequestMessage,
} from '../message/message.ts'
import { errorText, resultText } from '../message/text.ts'
import { type Era, LATEST_LEGACY } from '../revision.ts'
import type { Caller, Service } from '../service.ts'
import type { ActiveCall } from './active-call.ts'
import type { Holding } from '../limit/callers.ts'
import { readBatch, serveBatch } from './batch.ts'
import { charge, note } from '../limit/charge.ts'
import { clientOf } from './client-view.ts'
import { claimsModern, type Envelope } from './envelope.ts'
import type { ServedWire } from './served-wire.ts'
import { type IncomingFault, readIncoming } from './incoming.ts'
import { LegacyLink, revisionFor } from './legacy-link.ts'
import { Listen } from './listen.ts'
import { whyCancelled } from './why-cancelled.ts'
import { type MessageRoom, TOO_MANY_BYTES, roomFor } from '../limit/message-room.ts'
import { admitModern } from './modern-admission.ts'
import { serveModern } from './modern-call.ts'
import type { Outlet } from './outlet.ts'

/** Where the messages of one link go: a socket, a pipe or a pair in memory, one message per frame or line. */
export interface LinkOutlet extends Outlet {
  /** An answer is taken when notifications are not any more, up to a bound of its own. Left out: as `send`. */
  answer?(text: string): boolean
  close(reason: string): void
}

export interface LinkServerStart<C extends Caller> {
  readonly served: ServedWire<C>
  readonly caller: C
  readonly outlet: LinkOutlet
  /** What is done about text that is not JSON: a socket answers; a pipe must not, for its peer may just be printing. */
  readonly onGarbage?: () => void
}

type Modern<C extends Caller> = { readonly call: ActiveCall<C> } | { readonly listen: Listen<C> }

/**
 * The server's end of a WebSocket, a pipe or a pair in memory. `initialize` opens a legacy session; a request with
 * the modern envelope is served by itself; both may share the link. Closing it cancels everything.
 */
export class LinkServer<C extends Caller> implements Holding<C> {
  readonly caller: C
  readonly lasting = true
  readonly #start: LinkServerStart<C>
  readonly #service: Readonly<Record<Era, Service<C>>>
  readonly #modern = new PassingMap<RequestId, Modern<C>>()
  #link: LegacyLink<C> | undefined
  #isGreeted = false
  #closed = false

  constructor(start: LinkServerStart<C>) {
    this.#start = start
    this.caller = start.caller
    const { door } = start.served
    this.#service = { legacy: serviceIn(door, start.caller, 'legacy'), modern: serviceIn(door, start.caller, 'modern') }
    start.served.callers.add(this)
  }

  /** One frame or line, decoded. */
  receive(text: string): void {
    if (this.#closed) return
    const { limits } = this.#start.served
    const read = readIncoming(text, this.caller, limits)
    if (read.kind === 'fault') return this.#garbage(read)
    const room = roomFor(this.#start.served.bodies, this.caller, text)
    if (Array.isArray(read.value)) return this.#batch({ values: read.value, bytes: text.length }, room)
    this.#message(classify(read.value, limits.nestingDepth, text.length), room)
  }

  /** The link is gone: nothing can be answered any more. */
  closed(reason: string): void {
    if (this.#closed) return
    this.#closed = true
    for (const held of this.#modern.values()) {
      if ('listen' in held) held.listen.cancel()
      else held.call.cancel(new Error(reason))
    }
    this.#modern.clear()
    this.#link?.end(reason)
    this.#start.served.callers.remove(this)
  }

  end(reason: string): void {
    for (const held of this.#modern.values()) if ('listen' in held) held.listen.end(reason)
    this.#start.outlet.close(reason)
    this.closed(reason)
  }

  /** Whether somebody who is now so would be given the server that this link was opened on. */
  serves(caller: C): boolean {
    return serviceIn(this.#start.served.door, caller, 'legacy') === this.#service.legacy
  }

  #message(message: Message, room: MessageRoom): void {
    if (message.kind === 'request') return this.#request(message, room)
    room.release()
    note(this.caller)
    switch (message.kind) {
      case 'invalid':
        this.#malformed(message.code)
        this.#send(errorText(message.id, message.code, message.message))
        return this.#failAsk(message)
      case 'response':
        return this.#link?.response(message)
      case 'notification':
        return this.#notification(message)
      default:
        return message satisfies never
    }
  }

  #request(message: RequestMessage, room: MessageRoom): void {
    if (room.isFull) {
      note(this.caller)
      return this.#refuse(message, new RpcError('overloaded', TOO_MANY_BYTES))
    }
    if (claimsModern(message.params)) return this.#modernRequest(message, room)
    const isOwn = (message.method === 'initialize' && !this.#isGreeted) || (message.method === 'ping' && this.#link === undefined)
    if (isOwn) {
      room.release()
      return message.method === 'ping' ? this.#ping(message) : this.#initialize(message)
    }
    this.#legacy().request(message, this.#start.outlet, ({ text }) => {
      room.release()
      this.#send(text)
    })
  }

  /** Whoever asked must not wait for an answer that came broken. */
  #failAsk({ answers, code, message }: InvalidMessage): void {
    if (answers !== undefined)
      this.#link?.response({ kind: 'response', id: answers, result: undefined, error: { code, message } })
  }

  #notification(message: NotificationMessage): void {
    const { requestId } = message.params
    if (message.method === 'notifications/cancelled' && (typeof requestId === 'string' || typeof requestId === 'number')) {
      const held = this.#modern.get(requestId)
      if (held !== undefined && 'listen' in held) held.listen.cancel()
      else held?.call.cancel(whyCancelled(message.params))
    }
    this.#link?.notification(message)
  }

  /** One may come before `initialize`; it opens nothing. */
  #ping(message: RequestMessage): void {
    try {
      charge(this.caller)
      this.#send(resultText(message.id, {}))
    } catch (error) {
      this.#refuse(message, error)
    }
  }

  #initialize(message: RequestMessage): void {
    try {
      charge(this.caller)
      const client = clientOf(message, this.#service.legacy)
      const revision = revisionFor(message.params['protocolVersion'])
      const link = this.#link ?? this.#open(client, revision)
      link.greet(client, revision)
      this.#isGreeted = true
      this.#send(resultText(message.id, link.initializeResult()))
    } catch (error) {
      this.#refuse(message, error)
    }
  }

  /** A client that never says `initialize` is served all the same: it gets the newest legacy revision and no questions. */
  #legacy(): LegacyLink<C> {
    return this.#link ?? this.#open({ info: undefined, capabilities: {} }, LATEST_LEGACY)
  }

  #open(client: ReturnType<typeof clientOf>, revision: ReturnType<typeof revisionFor>): LegacyLink<C> {
    const { served, caller, outlet } = this.#start
    this.#link = new LegacyLink<C>({
      id: randomBytes(12).toString('base64url'),
      served,
      service: this.#service.legacy,
      caller,
      revision,
      client,
      standalone: outlet,
      onEnd: (reason) => {
        if (!this.#closed) this.end(reason)
      },
    })
    return this.#link
  }

  #modernRequest(message: RequestMessage, room: MessageRoom): void {
    const { served, caller, outlet } = this.#start
    try {
      const envelope = admitModern(this.#start, message, this.#modern)
      if (message.method === 'subscriptions/listen') {
        charge(caller)
        room.release()
        return void this.#listen(message, envelope)
      }
      let finished = false
      const call = serveModern<C>({
        served,
        service: this.#service.modern,
        caller: served.callerIn === undefined ? caller : served.callerIn(metaOf(message.params)),
        link: this.#link,
        message,
        envelope,
        outlet,
        finish: ({ text }) => {
          finished = true
          room.release()
          this.#modern.take(message.id)
          this.#send(text)
        },
      })
      if (!finished) this.#modern.set(message.id, { call })
    } catch (error) {
      room.release()
      this.#refuse(message, error)
    }
  }

  async #listen(message: RequestMessage, envelope: Envelope): Promise<void> {
    const { served, caller, outlet } = this.#start
    const listen = new Listen<C>({
      served,
      service: this.#service.modern,
      caller,
      message,
      envelope,
      outlet,
      finish: (text) => {
        this.#modern.take(message.id)
        this.#send(text)
      },
    })
    // Entered before it is open: its id is taken, it counts, and it can be cancelled.
    this.#modern.set(message.id, { listen })
    try {
      await listen.open()
    } catch (error) {
      this.#modern.take(message.id)
      this.#refuse(message, error)
    }
  }

  #batch(sent: Parameters<typeof readBatch>[0], room: MessageRoom): void {
    note(this.caller)
    if (room.isFull) return this.#send(errorText(null, RPC_CODES.overloaded, TOO_MANY_BYTES))
    const batch = readBatch(sent, this.#link, this.#start.served)
    if ('refusal' in batch) {
      room.release()
      this.#malformed(RPC_CODES.invalid_request)
      return this.#send(errorText(null, RPC_CODES.invalid_request, `Invalid message: ${batch.refusal}`))
    }
    const answered = (text: string | undefined): void => {
      room.release()
      this.#send(text)
    }
    if (!serveBatch(batch, this.#start.outlet, answered)) room.release()
  }

  #garbage({ code, message }: IncomingFault): void {
    note(this.caller)
    this.#malformed(code)
    if (code === RPC_CODES.parse_error && this.#start.onGarbage !== undefined) this.#start.onGarbage()
    else this.#send(errorText(null, code, message))
  }

  #refuse(message: RequestMessage, error: unknown): void {
    if (error instanceof RpcError) return this.#send(errorText(message.id, error.code, error.message, error.data))
    this.#start.served.observer.failed?.({ wire: this.#start.served.wire, method: message.method, error })
    this.#send(errorText(message.id, RPC_CODES.internal_error, 'Internal error'))
  }

  #malformed(code: number): void {
    this.#start.served.observer.malformed?.({ wire: this.#start.served.wire, code, remoteAddress: '' })
  }

  /** A peer that asks and never reads is cut: its answers may not pile up. */
  #send(text: string | undefined): void {
    if (text === undefined || this.#closed) return
    const { outlet } = this.#start
    if (!(outlet.answer?.(text) ?? outlet.send(text))) this.end('the client does not read')
  }
}

const metaOf = ({ _meta }: JsonObject): JsonObject => (isJsonObject(_meta) ? _meta : {})
