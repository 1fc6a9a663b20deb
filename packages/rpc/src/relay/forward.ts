import { isJsonObject, type JsonObject, messageOf, RPC_CODES, RpcError } from '@parley/protocol'
import type { Client } from '../client/client.ts'
import type { Reply } from '../client/connection.ts'
import { isLogLevel } from '../core/log-level.ts'
import { META } from '../revision.ts'
import { JsonText } from '../message/text.ts'
import { type Call, type Caller, InputRequired, type LogLevel, type ServiceResult } from '../service.ts'
import { askable } from './askable.ts'
import type { Flight } from './flights.ts'
import type { ParkedCall } from './parked-call.ts'
import { type OutputWrapping, callerError, inputRequired, legacyParams, urlQuestions, withoutInvalidTools } from './translate.ts'
import { type Upstream, logTo } from './upstream.ts'

export interface ForwardParts {
  readonly callMs: number
  readonly wrapping: OutputWrapping
  readonly log: (message: string) => void
  /** The level that a legacy session asked for. */
  readonly levelOf: (linkId: string) => LogLevel | undefined
}

/** Sends one call upstream and brings its answer back, in whatever eras the two sides speak. */
export function forward<C extends Caller>(
  parts: ForwardParts,
  upstream: Upstream<C>,
  method: string,
  params: JsonObject,
  call: Call<C>,
  parked?: ParkedCall,
): Promise<ServiceResult> {
  const { client } = upstream
  if (client !== undefined) return send(parts, upstream, client, { method, params, call, parked })
  return upstream.open().then(
    (opened) => send(parts, upstream, opened, { method, params, call, parked }),
    (error: unknown) => {
      throw new RpcError('internal_error', `the upstream server cannot be reached: ${messageOf(error)}`)
    },
  )
}

interface Sending<C extends Caller> {
  readonly method: string
  readonly params: JsonObject
  readonly call: Call<C>
  readonly parked: ParkedCall | undefined
}

function send<C extends Caller>(
  parts: ForwardParts,
  upstream: Upstream<C>,
  client: Client,
  sending: Sending<C>,
): Promise<ServiceResult> {
  return client.era === 'legacy' ? sendLegacy(parts, upstream, client, sending) : sendModern(parts, upstream, client, sending)
}

/** The hot path: the parsed parameters go out as they are, and the text of the result comes back as it is. */
function sendLegacy<C extends Caller>(
  parts: ForwardParts,
  upstream: Upstream<C>,
  client: Client,
  sending: Sending<C>,
): Promise<ServiceResult> {
  const { method, params, call, parked } = sending
  const flight: Flight<C> = { id: 0, call, parked }
  const modern = call.era === 'modern'
  if (modern) wantLogs(upstream, call)
  return client
    .exchange(method, modern ? legacyParams(params) : params, {
      signal: parked?.signal ?? call.cancellation,
      timeoutMs: parts.callMs,
      onProgress:
        call.meta.progressToken === undefined
          ? undefined
          : ({ progress, total, message }) => call.progress(progress, total, message),
      onSent: (id) => {
        flight.id = id
        upstream.flights.add(flight)
      },
    })
    .then(
      (reply) => {
        upstream.flights.remove(flight)
        upstream.succeeded()
        return modern && method === 'tools/list' ? withoutInvalidTools(reply.result, parts.log) : asText(reply)
      },
      (error: unknown) => {
        upstream.flights.remove(flight)
        const questions = modern ? urlQuestions(error) : undefined
        if (questions !== undefined) return new InputRequired(questions, { visited: true })
        throw callerError(error, call, 'legacy')
      },
    )
}

/** Each era adds its own to `_meta`, so only a result without one can go on as text. */
function asText({ result, text }: Reply): ServiceResult {
  return text === undefined || result._meta !== undefined ? result : new JsonText(text)
}

async function sendModern<C extends Caller>(
  parts: ForwardParts,
  upstream: Upstream<C>,
  client: Client,
  sending: Sending<C>,
): Promise<ServiceResult> {
  const { method, params, call } = sending
  const flight: Flight<C> = { id: 0, call, parked: undefined }
  const logLevel = call.era === 'legacy' && call.link !== undefined ? (parts.levelOf(call.link.id) ?? 'info') : undefined
  try {
    const { result } = await client.exchange(method, withAnswers(params, call), {
      signal: call.cancellation,
      timeoutMs: parts.callMs,
      onProgress:
        call.meta.progressToken === undefined
          ? undefined
          : ({ progress, total, message }) => call.progress(progress, total, message),
      onNotification: (name, told) => (name === 'notifications/message' ? logTo(call, told) : undefined),
      onSent: (id) => {
        flight.id = id
        upstream.flights.add(flight)
      },
      onBehalfOf: { capabilities: askable(call.client.capabilities), info: call.client.info },
      ...(logLevel === undefined ? {} : { logLevel }),
    })
    upstream.succeeded()
    return modernResult(parts, result, sending)
  } catch (error) {
    if (
      call.era === 'legacy' &&
      method === 'tools/call' &&
      error instanceof RpcError &&
      error.code === RPC_CODES.missing_client_capability
    ) {
      return { isError: true, content: [{ type: 'text', text: `unavailable: ${error.message}` }] }
    }
    throw callerError(error, call, 'modern')
  } finally {
    upstream.flights.remove(flight)
  }
}

function modernResult<C extends Caller>(
  { wrapping }: ForwardParts,
  result: JsonObject,
  { method, params, call }: Sending<C>,
): ServiceResult {
  if (result.resultType === 'input_required') return inputRequired(result, call)
  if (result.resultType !== undefined && result.resultType !== 'complete') {
    throw new RpcError(
      'internal_error',
      `the upstream server answered with a result of an unknown type: ${JSON.stringify(result.resultType)}`,
    )
  }
  if (call.era === 'modern') return result
  if (method === 'tools/list') return wrapping.list(result)
  return method === 'tools/call' ? wrapping.call(params.name, result) : result
}

/**
 * The answers of this round and the state that the upstream gave for it, instead of what our own wire sealed. A client may
 * answer what it was not asked yet, without any state.
 */
function withAnswers<C extends Caller>(params: JsonObject, { state, answers }: Call<C>): JsonObject {
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
