import { type JsonObject, RPC_CODES, RpcError } from '@parley/protocol/wire'
import { answerTask, noSuchTask, offersTasks, responsesOf, TASK_METHODS, taskIdOf, tasksNotDeclared } from '@parley/task'
import type { RequestMessage } from '../message/message.ts'
import { type Dressing, dressing, JsonText } from '../message/text.ts'
import { HELD, META, MODERN_REVISIONS } from '../revision.ts'
import type { Caller, Link, Service, ServiceResult } from '../service.ts'
import { ActiveCall } from './active-call.ts'
import { charge } from '../limit/charge.ts'
import type { Envelope } from './envelope.ts'
import { type ServedWire, taskOf } from './served-wire.ts'
import { longWord } from '../limit/kept-words.ts'
import type { Outlet } from './outlet.ts'
import { sizeRefusal } from '../limit/request-size.ts'
import { type Ending, HELD_STATE, serve, StillHeld } from './serve.ts'

/** All of core; what is not here does not exist in the modern era, whatever a legacy server would answer. */
const METHODS: ReadonlySet<string> = new Set([
  'server/discover',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'completion/complete',
  'subscriptions/listen',
])
const CACHED: ReadonlySet<string> = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
])
/** What may need something from the client first. */
export const MAY_ASK: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read'])

export interface ModernStart<C extends Caller> {
  readonly served: ServedWire<C>
  readonly service: Service<C>
  readonly caller: C
  readonly link: Link<C> | undefined
  readonly message: RequestMessage
  readonly envelope: Envelope
  readonly outlet: Outlet
  readonly finish: (ending: Ending) => void
}

export function isModernMethod(method: string): boolean {
  return METHODS.has(method)
}

/** Serves one stateless request. `subscriptions/listen` has its own way: it does not end by itself. */
export function serveModern<C extends Caller>(start: ModernStart<C>): ActiveCall<C> {
  const { served, service, caller, link, message, envelope, outlet, finish } = start
  const call = new ActiveCall<C>({
    era: 'modern',
    revision: envelope.revision,
    caller,
    client: envelope.client,
    link,
    id: message.id,
    params: message.params,
    outlet,
    logLevel: envelope.logLevel,
  })
  serve({
    served,
    message,
    call,
    dressing: dressingFor(service, message.method),
    run: () => {
      const refusal = refusalOf(service, message)
      if (refusal !== undefined) {
        charge(caller)
        throw refusal
      }
      if (message.method === 'server/discover') {
        charge(caller)
        return discover(service)
      }
      if (TASK_METHODS.has(message.method)) return aboutTask(start)
      const round = takeInputs(served, call, message)
      if (round !== undefined) {
        charge(caller)
        return nextRound(served, call, round)
      }
      return service.call(message.method, message.params, call)
    },
    // Only a call of a tool may be one, of a client that said so with this very request.
    tasks: message.method === 'tools/call' && isOffered(service, envelope) ? served.tasks : undefined,
    hasRounds: MAY_ASK.has(message.method) && call.meta['progressToken'] === undefined && call.meta[HELD.meta] !== true,
    finish,
  })
  return call
}

/** Waits on for a call that was begun by an earlier request. */
async function nextRound<C extends Caller>(
  { rounds }: ServedWire<C>,
  call: ActiveCall<C>,
  id: string,
): Promise<JsonObject | StillHeld> {
  const end = await rounds.next(id, call.caller.key, call.answers ?? {}, call.cancellation)
  return end.kind === 'again' ? new StillHeld(id, end.questions) : end.result
}

function refusalOf<C extends Caller>(service: Service<C>, message: RequestMessage): RpcError | undefined {
  const isKnown = METHODS.has(message.method) || (TASK_METHODS.has(message.method) && offersTasks(service.capabilities))
  if (!isKnown) return new RpcError('method_not_found', `Method not found: ${message.method}`)
  return sizeRefusal(service, message) ?? longWord(message.params)
}

function isOffered<C extends Caller>({ capabilities }: Pick<Service<C>, 'capabilities'>, { client }: Envelope): boolean {
  return offersTasks(capabilities) && offersTasks(client.capabilities)
}

async function aboutTask<C extends Caller>({
  served,
  service,
  caller,
  envelope,
  message,
}: ModernStart<C>): Promise<ServiceResult> {
  charge(caller)
  if (!isOffered(service, envelope)) throw tasksNotDeclared(message.method)
  const id = taskIdOf(message.params)
  const task = await taskOf(served, service, id, caller)
  if (task === undefined) throw noSuchTask(id)
  return new JsonText(await answerTask(task, message.method, message.params))
}

function discover<C extends Caller>(service: Service<C>): JsonObject {
  return { supportedVersions: [...MODERN_REVISIONS], capabilities: service.capabilities, instructions: service.instructions }
}

/**
 * The answers to what this call asked before. They come from the client, so they are checked like any other input. Answers with the id of a call
 * that is still held, where this is about one.
 */
function takeInputs<C extends Caller>(served: ServedWire<C>, call: ActiveCall<C>, message: RequestMessage): string | undefined {
  const { inputResponses, requestState } = message.params
  if (inputResponses === undefined && requestState === undefined) return undefined
  if (!MAY_ASK.has(message.method))
    throw new RpcError('invalid_params', `${message.method} takes no inputResponses or requestState`)
  if (inputResponses !== undefined) call.answers = responsesOf(inputResponses)
  if (requestState === undefined) return undefined
  if (typeof requestState !== 'string')
    throw new RpcError('invalid_params', 'requestState must be a string', { field: 'requestState' })
  const { method, params } = message
  const callerKey = call.caller.key
  if (requestState.startsWith(HELD_STATE)) {
    const id = served.seal.open(requestState.slice(HELD_STATE.length), { callerKey, method: HELD_STATE + method, params })
    if (typeof id === 'string') return id
  }
  call.state = served.seal.open(requestState, { callerKey, method, params })
  return undefined
}

interface ServiceDressings {
  readonly plain: Dressing
  readonly cached: Dressing
}
const dressings = new WeakMap<object, ServiceDressings>()

/** What goes on every modern result of a service; made once per service, for it is on the hot path. */
function dressingFor<C extends Caller>(service: Service<C>, method: string): Dressing {
  let both = dressings.get(service)
  if (both === undefined) {
    const meta = { [META.serverInfo]: service.info }
    both = {
      plain: dressing({ resultType: 'complete' }, meta),
      // Zero is never wrong. A handler that knows its answer stays good for longer says so: its own members win.
      cached: dressing({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' }, meta),
    }
    dressings.set(service, both)
  }
  return CACHED.has(method) ? both.cached : both.plain
}

/** The HTTP status of a modern error that comes before any stream. */
export function statusOf(errorCode: number | undefined): number {
  switch (errorCode) {
    case RPC_CODES.method_not_found:
      return 404
    case RPC_CODES.parse_error:
    case RPC_CODES.invalid_request:
    case RPC_CODES.header_mismatch:
    case RPC_CODES.missing_client_capability:
    case RPC_CODES.unsupported_protocol_version:
      return 400
    case RPC_CODES.overloaded:
      return 429
    case undefined:
    default:
      return 200
  }
}
