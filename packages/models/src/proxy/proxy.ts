import { type RandomBytes, ToolError } from '@parley/protocol'
import { openHttpFetcher } from '@parley/fetch'
import { type HttpReply, type HttpRequest, type Route } from '@parley/rpc'
import { Conflict, type FoundModelKey, type Store, StoreUnavailable, unavailableWords } from '@parley/store'
import type { Logger } from 'pino'
import type { ModelDirectory } from '../channel/directory.ts'
import type { QuotaBook } from '../quota/quota-book.ts'
import { ActiveCalls } from './active-calls.ts'
import { askModel } from './ask-model.ts'
import { readAsked } from './asked/asked.ts'
import { AttemptBounds } from './attempt-bounds.ts'
import { Booking } from './booking.ts'
import type { CallCounts } from './call-counts.ts'
import { checkWire, endpointAt } from './endpoint.ts'
import type { ModelCall } from './model-call.ts'
import { openKey, shownKeyHash } from './model-key.ts'
import { BodyReader } from './read-body.ts'
import { JSON_HEADERS, ModelRefusal, refusalReply } from './refusal.ts'
import { reserveCall } from './reserve.ts'

const CONNECT_MS = 10_000
const CONNECTIONS_PER_HOST = 512
const CALL_ID_BYTES = 12
const RETRY_SECONDS = 2

/** The model proxy below `/v1`: short-lived keys in, upstream keys out, every token counted on the way. */
export interface ModelProxy {
  readonly route: Route
  /** Takes no more; what is under way goes on. */
  drain(): void
  /** Cuts what is left and books it. */
  close(): Promise<void>
}

/** What the proxy works with. */
export interface ProxyParts {
  readonly store: Store
  readonly directory: ModelDirectory
  readonly quotas: QuotaBook
  readonly counts: CallCounts
  readonly log: Logger
  readonly now: () => number
  readonly random: RandomBytes
}

export function openModelProxy(parts: ProxyParts): ModelProxy {
  const { store, directory, counts, log, now } = parts
  const http = openHttpFetcher({ connectMs: CONNECT_MS, connections: CONNECTIONS_PER_HOST })
  const calls = new ActiveCalls({ store, counts, log, now })
  const bounds = new AttemptBounds()
  const bodies = new BodyReader()
  let isDraining = false

  const answer = async (request: HttpRequest, callId: string): Promise<HttpReply> => {
    const endpoint = endpointAt(request.method, request.path)
    if (isDraining) throw DRAINING
    const found = await openKey(store.modelKeys, shownKeyHash(request.headers.authorization), now())
    if (endpoint === 'models') return modelList(found)
    const call = calls.enter(callId, endpoint, found)
    request.signal.addEventListener('abort', () => call.cut('client_gone'), { once: true })
    if (request.signal.aborted) call.cut('client_gone')
    try {
      return await ask(request, call)
    } catch (error) {
      const refusal = call.cutRefusal
      await call.end()
      throw refusal ?? error
    }
  }

  const ask = async (request: HttpRequest, call: ModelCall): Promise<HttpReply> => {
    const { id: callId, wire, found } = call
    const { key } = found
    const reachable = await directory.resolve(key.model, key.channel)
    checkWire(wire, reachable.channel.wire)
    bounds.take(found, now())
    const { bytes, release } = await bodies.read(request, found)
    try {
      // The body may have taken a minute; what the key was good for may be over.
      await openKey(store.modelKeys, found.key.hash, now())
      const asked = readAsked(bytes, wire, key.model)
      const { id, outputTokens, outputTokensMax } = await reserveCall(parts, found, { id: callId, asked, reachable, now: now() })
      const { inputTokens } = asked
      // A script has written what was seen of it, and nothing else.
      const reserved = {
        id,
        callId,
        inputTokens,
        outputTokens: reachable.script === null ? outputTokens : 0,
        prices: reachable.prices,
      }
      call.reserved(new Booking({ usages: store.usages, ...reserved, counts, log }))
      if (call.signal.aborted) {
        // It was cut while the reservation was made: nobody else will settle that.
        await call.drop()
        throw new ModelRefusal(502, 'cut', 'the call was cut before it was sent')
      }
      return await askModel({ http, directory, log, now }, { call, asked, reachable, outputTokensMax })
    } finally {
      release()
    }
  }

  const route: Route = async (request) => {
    if (request.path !== '/v1' && !request.path.startsWith('/v1/')) return undefined
    const callId = `call_${Buffer.from(parts.random(CALL_ID_BYTES)).toString('base64url')}`
    const reply = await answer(request, callId).catch((error: unknown) => {
      const refusal = refusalFor(error)
      if (refusal === undefined) log.error({ err: error, call: callId }, 'a request for a model failed by a fault of ours')
      const { status, code } = refusal ?? INTERNAL
      counts.refused(status, code)
      return refusalReply(refusal ?? INTERNAL)
    })
    return { ...reply, headers: { ...reply.headers, 'x-parley-call': callId } }
  }

  return {
    route,
    drain() {
      isDraining = true
    },
    async close() {
      isDraining = true
      await calls.close()
      await http.close()
    },
  }
}

/** The one model that the key works for. */
function modelList({ key }: FoundModelKey): HttpReply {
  const created = Math.floor(key.createdAt / 1_000)
  const data = [{ id: key.model, object: 'model', created, owned_by: key.channel }]
  return { status: 200, headers: JSON_HEADERS, body: JSON.stringify({ object: 'list', data }) }
}

const INTERNAL = new ModelRefusal(500, 'internal', 'something went wrong on our side', { closes: true })
const DRAINING = new ModelRefusal(503, 'draining', 'shutting down; come back in a moment', {
  retryAfterSeconds: RETRY_SECONDS,
  closes: true,
})

/** What an error means for a client of these wires; `undefined` for a fault of ours. */
function refusalFor(error: unknown): ModelRefusal | undefined {
  if (error instanceof ModelRefusal) return error
  if (error instanceof StoreUnavailable)
    return new ModelRefusal(503, 'unavailable', `${unavailableWords(error)}; try again shortly`, {
      retryAfterSeconds: RETRY_SECONDS,
      closes: true,
      cause: error,
    })
  // The store bounds the calls of one job, and of one turn.
  if (error instanceof Conflict) return new ModelRefusal(429, 'budget_exceeded', error.message, { cause: error })
  if (!(error instanceof ToolError)) return undefined
  const more = { param: 'model', closes: true, cause: error }
  if (error.code === 'not_found') return new ModelRefusal(404, 'model_not_found', error.message, more)
  return error.code === 'unavailable' ? new ModelRefusal(502, 'upstream_unreachable', error.message, more) : undefined
}
