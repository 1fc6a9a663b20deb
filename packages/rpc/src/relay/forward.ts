import { CallCancelled, isJsonObject, type JsonObject, messageOf, RPC_CODES, RpcError } from '@parley/protocol'
import type { Cancellation } from '../cancellation.ts'
import type { Client } from '../client/client.ts'
import type { ExchangeOptions } from '../client/client-options.ts'
import type { Reply } from '../client/connection.ts'
import { WireError } from '@parley/fetch/browser'
import { isLogLevel } from '../core/log-level.ts'
import { CUT_OFF, META } from '../revision.ts'
import { JsonText } from '../message/text.ts'
import { undressedText } from './undressed-text.ts'
import { type Call, type Caller, InputRequired, type LogLevel, type ServiceResult } from '../service.ts'
import type { Flight } from './flights.ts'
import type { OnBehalfOf } from './on-behalf-of.ts'
import type { ParkedCall } from './parked-call.ts'
import {
  type OutputWrapping,
  callerError,
  inputRequired,
  legacyParams,
  lostUnsent,
  urlQuestions,
  withoutInvalidTools,
} from './translate.ts'
import { type Upstream, logTo } from './upstream.ts'

export interface ForwardParts {
  readonly callMs: number
  readonly wrapping: OutputWrapping
  readonly log: (message: string) => void
  /** The level that a legacy session asked for. */
  readonly levelOf: (linkId: string) => LogLevel | undefined
  /** What a modern server is told of whose call it is: what of the client's capabilities, and what else is in `_meta`. */
  readonly onBehalfOf: (call: Call) => OnBehalfOf
  /** What the client sees of an answer; the result itself where nothing is to be changed. Left out: every result as it is. */
  readonly shown?: (method: string, reply: Reply) => JsonObject
}

export interface Sending<C extends Caller> {
  readonly method: string
  readonly params: JsonObject
  readonly call: Call<C>
  /** Where a legacy server's questions go. */
  readonly parked?: ParkedCall | undefined
  /** Aborted when it is over for us. Left out: when its caller, or who is parked, gives it up. */
  readonly until?: Cancellation | undefined
  /** The answers of this round to a modern server, where they are not those of the call. */
  readonly round?: Pick<Call, 'answers' | 'state'>
}

/** Where a call goes. */
interface Way<C extends Caller> {
  readonly parts: ForwardParts
  readonly upstream: Upstream<C>
  readonly client: Client
}

/** Sends one call upstream and brings its answer back, in whatever eras the two sides speak. */
export function forward<C extends Caller>(
  parts: ForwardParts,
  upstream: Upstream<C>,
  sending: Sending<C>,
): Promise<ServiceResult> {
  const { client } = upstream
  if (client !== undefined) return send({ parts, upstream, client }, sending)
  return upstream.open().then(
    (opened) => send({ parts, upstream, client: opened }, sending),
    (error: unknown) => {
      throw new RpcError('internal_error', `the upstream server cannot be reached: ${messageOf(error)}`)
    },
  )
}

function send<C extends Caller>(way: Way<C>, sending: Sending<C>): Promise<ServiceResult> {
  return way.client.era === 'legacy' ? sendLegacy(way, sending) : sendModern(way, sending)
}

/** The hot path: the parsed parameters go out as they are, and the text of the result comes back as it is. */
function sendLegacy<C extends Caller>({ parts, upstream, client }: Way<C>, sending: Sending<C>): Promise<ServiceResult> {
  const { method, params, call, parked, until } = sending
  const flight: Flight<C> = { id: 0, call, parked }
  const modern = call.era === 'modern'
  if (modern) wantLogs(upstream, call)
  return client
    .exchange(method, modern ? legacyParams(params) : params, {
      signal: until ?? parked?.signal ?? call.cancellation,
      ...followed(parts, upstream, flight),
    })
    .then(
      (reply) => {
        upstream.flights.remove(flight)
        upstream.succeeded()
        return modern && method === 'tools/list'
          ? withoutInvalidTools(reply.result, parts.log)
          : asText(reply, parts.shown?.(method, reply))
      },
      (error: unknown) => {
        upstream.flights.remove(flight)
        const questions = modern ? urlQuestions(error) : undefined
        if (questions !== undefined) return new InputRequired(questions, { visited: true })
        throw callerError(error, call, 'legacy')
      },
    )
}

/** How a call upstream is waited for, in either era. */
function followed<C extends Caller>({ callMs }: ForwardParts, { flights }: Upstream<C>, flight: Flight<C>): ExchangeOptions {
  const { call } = flight
  return {
    timeoutMs: callMs,
    // However much a server tells of how far it is.
    longestMs: callMs,
    onSent: (id) => {
      flight.id = id
      flights.add(flight)
    },
    ...(call.meta.progressToken === undefined
      ? {}
      : { onProgress: ({ progress, total, message }) => call.progress(progress, total, message) }),
  }
}

const metaOfEnd = ({ cancellation: { reason } }: Pick<Call, 'cancellation'>): JsonObject | undefined =>
  reason instanceof CallCancelled ? undefined : { [CUT_OFF]: true }

/** Each era adds its own to `_meta`, so only a result without one can go on as text. */
function asText({ result, text }: Reply, shown = result): ServiceResult {
  return text === undefined || shown !== result || result._meta !== undefined ? shown : new JsonText(text)
}

async function sendModern<C extends Caller>({ parts, upstream, client }: Way<C>, sending: Sending<C>): Promise<ServiceResult> {
  const { method, params, call } = sending
  const flight: Flight<C> = { id: 0, call, parked: undefined }
  const onBehalfOf = parts.onBehalfOf(call)
  const logLevel = call.era === 'legacy' && call.link !== undefined ? (parts.levelOf(call.link.id) ?? 'info') : undefined
  try {
    const reply = await client.exchange(method, withAnswers(params, sending.round ?? call), {
      signal: sending.until ?? call.cancellation,
      ...followed(parts, upstream, flight),
      onNotification: (name, told) => (name === 'notifications/message' ? logTo(call, told) : undefined),
      onBehalfOf,
      // Only who is told for whom is told this.
      ...(onBehalfOf.stamp === undefined ? {} : { metaWhenAbandoned: () => metaOfEnd(call) }),
      ...(logLevel === undefined ? {} : { logLevel }),
    })
    upstream.succeeded()
    return modernResult(parts, reply, sending)
  } catch (error) {
    if (
      call.era === 'legacy' &&
      method === 'tools/call' &&
      error instanceof RpcError &&
      error.code === RPC_CODES.missing_client_capability
    ) {
      return { isError: true, content: [{ type: 'text', text: `unavailable: ${error.message}` }] }
    }
    // Only a server that is told for whom it acts is one of ours, and believed.
    if (flight.isUnsent === true && onBehalfOf.stamp !== undefined && error instanceof WireError) throw lostUnsent(error)
    throw callerError(error, call, 'modern')
  } finally {
    upstream.flights.remove(flight)
  }
}

function modernResult<C extends Caller>(
  { wrapping, shown }: ForwardParts,
  reply: Reply,
  { method, params, call }: Sending<C>,
): ServiceResult {
  const result = shown?.(method, reply) ?? reply.result
  if (result.resultType === 'input_required') return inputRequired(result, call)
  if (result.resultType !== undefined && result.resultType !== 'complete') {
    throw new RpcError(
      'internal_error',
      `the upstream server answered with a result of an unknown type: ${JSON.stringify(result.resultType)}`,
    )
  }
  if (call.era === 'legacy' && method === 'tools/list') return wrapping.list(result)
  const given = call.era === 'legacy' && method === 'tools/call' ? wrapping.call(params.name, result) : result
  return (given === reply.result ? undressedText(reply) : undefined) ?? given
}

/**
 * The answers of this round and the state that the upstream gave for it, instead of what our own wire sealed. A client may
 * answer what it was not asked yet, without any state.
 */
function withAnswers(params: JsonObject, { state, answers }: Pick<Call, 'answers' | 'state'>): JsonObject {
  const { inputResponses, requestState } = params
  if (answers === undefined && state === undefined && inputResponses === undefined && requestState === undefined) return params
  const { inputResponses: _inputResponses, requestState: _requestState, ...rest } = params
  const given = isJsonObject(state) ? state.upstream : undefined
  return {
    ...rest,
    ...(answers === undefined ? {} : { inputResponses: { ...answers } }),
    ...(typeof given === 'string' ? { requestState: given } : {}),
  }
}

function wantLogs<C extends Caller>(upstream: Upstream<C>, { meta }: Call<C>): void {
  const level = meta[META.logLevel]
  if (isLogLevel(level)) upstream.lowerLevel(level)
}
