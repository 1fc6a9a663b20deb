import { type JsonValue, RPC_CODES, RpcError } from '@parley/protocol'
import type { ActiveCall } from '../core/active-call.ts'
import type { Holding } from '../limit/callers.ts'
import { charge } from '../limit/charge.ts'
import { type Envelope, readEnvelope, unsupportedVersion } from '../core/envelope.ts'
import type { ServedWire } from '../core/served-wire.ts'
import { Listen } from '../core/listen.ts'
import { isModernMethod, serveModern, statusOf } from '../core/modern-call.ts'
import { serviceIn } from '../door.ts'
import type { RequestMessage } from '../message/message.ts'
import { errorText } from '../message/text.ts'
import { META } from '../revision.ts'
import type { Caller, HeaderParam, Service } from '../service.ts'
import { answerJson } from './answer.ts'
import type { EventStream } from './event-stream.ts'
import type { Exchange } from './exchange.ts'
import { checkMirroredHeaders, checkParamHeaders } from './mirrored-headers.ts'
import { PostReply } from './post-reply.ts'
import type { UnreadAnswers } from './unread-answers.ts'

/** Requests that say everything about themselves: no session, closing the connection cancels. */
export class ModernEndpoint<C extends Caller> {
  readonly #served: ServedWire<C>
  readonly #openStreams: Set<EventStream>
  readonly #answers: UnreadAnswers
  readonly #mayBeSlow: (reply: PostReply<C>) => void

  constructor(
    served: ServedWire<C>,
    openStreams: Set<EventStream>,
    answers: UnreadAnswers,
    mayBeSlow: (reply: PostReply<C>) => void,
  ) {
    this.#served = served
    this.#answers = answers
    this.#openStreams = openStreams
    this.#mayBeSlow = mayBeSlow
  }

  serve(exchange: Exchange<C>, message: RequestMessage, claims: boolean): void {
    try {
      if (!claims) throw unclaimed(message)
      const envelope = envelopeOf(exchange, message)
      const service = serviceIn(this.#served.door, exchange.caller, 'modern')
      const params = headerParamsOf(service, message, exchange.caller)
      if (!(params instanceof Promise)) return this.#checked(exchange, message, envelope, service, params)
      params.then(
        (known) => this.#checked(exchange, message, envelope, service, known),
        (error: unknown) => this.#refuse(exchange, message, error),
      )
    } catch (error) {
      this.#refuse(exchange, message, error)
    }
  }

  #checked(
    exchange: Exchange<C>,
    message: RequestMessage,
    envelope: Envelope,
    service: Service<C>,
    headerParams: readonly HeaderParam[],
  ): void {
    const { response, headers, caller, request } = exchange
    const { callers, limits } = this.#served
    // Gone while the headers' names were looked up: nobody would hear of its end, so nothing may begin.
    if (response.destroyed) return
    try {
      if (headerParams.length > 0) checkParamHeaders(request, message.params['arguments'], headerParams)
      if (callers.callsOf(caller) >= limits.callsPerCaller) {
        throw new RpcError('overloaded', `at most ${limits.callsPerCaller} requests of one person at once`)
      }
    } catch (error) {
      return this.#refuse(exchange, message, error)
    }
    const reply = new PostReply<C>({
      response,
      caller,
      served: this.#served,
      answers: this.#answers,
      openStreams: this.#openStreams,
      headers,
      session: undefined,
    })
    if (message.method === 'subscriptions/listen') return void this.#listen(exchange, { message, envelope, service }, reply)
    let holding: Holding<C> | undefined
    const call = serveModern<C>({
      served: this.#served,
      service,
      caller,
      link: undefined,
      message,
      envelope,
      outlet: reply,
      finish: ({ text, errorCode }) => {
        reply.finish(text, statusOf(errorCode))
        if (holding !== undefined) callers.remove(holding)
      },
    })
    if (!reply.finished) holding = this.#hold(exchange, call, reply)
  }

  /** While it runs, closing the connection cancels it, and a revoked token cuts it. */
  #hold({ response, over, caller }: Exchange<C>, call: ActiveCall<C>, reply: PostReply<C>): Holding<C> {
    const { callers } = this.#served
    const holding: Holding<C> = {
      caller,
      lasting: false,
      end: (reason) => {
        call.cancel(new Error(reason))
        // An answer that is ready is on its way out: it tells the client why its token ended, or that its last call was done.
        if (!reply.finished) response.destroy()
      },
    }
    callers.add(holding)
    over.add(() => {
      callers.remove(holding)
      if (!reply.finished) call.cancel(new Error('the client closed the stream'))
    })
    this.#mayBeSlow(reply)
    return holding
  }

  async #listen(
    exchange: Exchange<C>,
    {
      message,
      envelope,
      service,
    }: { readonly message: RequestMessage; readonly envelope: Envelope; readonly service: Service<C> },
    reply: PostReply<C>,
  ): Promise<void> {
    const { callers, limits } = this.#served
    const { caller } = exchange
    try {
      charge(caller)
      if (callers.isFull(caller, limits)) {
        throw new RpcError('overloaded', 'too many streams are open')
      }
      const listen = new Listen<C>({
        served: this.#served,
        service,
        caller,
        message,
        envelope,
        outlet: reply,
        finish: (text) => reply.finish(text, 200),
      })
      // Before it is open: it counts from the start, and a client that leaves meanwhile leaves nothing behind.
      callers.add(listen)
      exchange.over.add(() => listen.cancel())
      await listen.open()
    } catch (error) {
      this.#refuse(exchange, message, error)
    }
  }

  #refuse({ response, headers }: Exchange<C>, message: RequestMessage, error: unknown): void {
    if (!(error instanceof RpcError)) {
      this.#served.observer.failed?.({ wire: this.#served.wire, method: message.method, error })
      return answerJson(response, 200, errorText(message.id, RPC_CODES.internal_error, 'Internal error'), headers)
    }
    const status = error.code === RPC_CODES.invalid_params ? 400 : statusOf(error.code)
    answerJson(response, status, errorText(message.id, error.code, error.message, error.data), headers)
  }
}

/** The order matters: what is missing, then what disagrees, then what we do not serve. */
function envelopeOf<C extends Caller>({ request }: Exchange<C>, message: RequestMessage): Envelope {
  let envelope: Envelope | undefined
  let fault: RpcError | undefined
  try {
    envelope = readEnvelope(message.params)
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    if (error.code !== RPC_CODES.unsupported_protocol_version) throw error
    fault = error
  }
  checkMirroredHeaders(request, message.method, message.params)
  if (envelope === undefined) throw fault ?? unsupportedVersion('')
  return envelope
}

function unclaimed(message: RequestMessage): RpcError {
  if (message.method === 'initialize') {
    return new RpcError('header_mismatch', 'Header mismatch: MCP-Protocol-Version names a revision that has no initialize')
  }
  return new RpcError('invalid_params', `params._meta must carry ${META.protocolVersion} and ${META.clientCapabilities}`)
}

const NONE: readonly HeaderParam[] = []

function headerParamsOf<C extends Caller>(
  service: Service<C>,
  message: RequestMessage,
  caller: C,
): readonly HeaderParam[] | Promise<readonly HeaderParam[]> {
  const name: JsonValue | undefined = message.params['name']
  if (message.method !== 'tools/call' || typeof name !== 'string' || service.headerParams === undefined) return NONE
  return isModernMethod(message.method) ? service.headerParams(name, caller) : NONE
}
