import { isJsonObject, type JsonObject, RPC_CODES, RpcError, type JsonValue } from '@parley/protocol/wire'
import type { Task, TaskTable } from '@parley/task'
import type { RequestMessage } from '../message/message.ts'
import { dress, type JsonText, type Dressing, dressing, errorText, resultText } from '../message/text.ts'
import { type Holding, personOf } from '../limit/callers.ts'
import { type Caller, InputRequired, type ServiceResult } from '../service.ts'
import { type ActiveCall, LeftAlone } from './active-call.ts'
import { missingCapability } from './capability.ts'
import type { ServedWire } from './served-wire.ts'

/** How a request ended: the text to send, or nothing because it was cancelled. */
export interface Ending {
  readonly text: string | undefined
  readonly errorCode: number | undefined
}

/** A call that is still held, after one of several requests for it. */
export class StillHeld {
  readonly id: string
  readonly questions: Readonly<Record<string, JsonObject>>
  constructor(id: string, questions: Readonly<Record<string, JsonObject>> = {}) {
    this.id = id
    this.questions = questions
  }
}
type Served = ServiceResult | StillHeld

export interface Serving<C extends Caller> {
  readonly served: ServedWire<C>
  readonly message: RequestMessage
  readonly call: ActiveCall<C>
  readonly dressing: Dressing
  /** Whether a cancelled call is answered, too. */
  readonly answersCancelled?: boolean
  /** The handler; called again with the answers when it asked for input in the legacy era. */
  readonly run: () => Served | Promise<Served>
  /** Where it goes on when it is held, if its client takes a task for an answer. */
  readonly tasks?: TaskTable | undefined
  /** Whether its client asks again for a call that is held for long. */
  readonly hasRounds?: boolean
  readonly finish: (ending: Ending) => void
}

/** What a call would have had for an answer; the task around it says who we are. */
const IN_TASK = dressing({ resultType: 'complete' }, undefined)

/** Runs one request to its end. Stays synchronous when the handler does: a promise costs more than most handlers. */
export function serve<C extends Caller>(serving: Serving<C>): void {
  const { served, message, call, finish } = serving
  const startedAt = performance.now()
  served.active.calls += 1
  served.callers.callBegan(call.caller)
  let rounds = 0
  let task: Task | undefined
  let round: NodeJS.Timeout | undefined

  const end = (text: string, errorCode: number | undefined): void => {
    if (call.isHeld) served.held.delete(call)
    clearTimeout(round)
    call.whenHeld = undefined
    served.active.calls -= 1
    served.callers.callEnded(call.caller)
    served.observer.served?.({
      wire: served.wire,
      era: call.era,
      caller: call.caller,
      method: message.method,
      errorCode,
      ms: performance.now() - startedAt,
    })
    finish({ text: call.cancelled && serving.answersCancelled !== true ? leftAloneText(serving) : text, errorCode })
  }
  const fail = (error: unknown): void => {
    const { code, message: words, data } = wireError(serving, error)
    if (task !== undefined) return task.fail({ code, message: words, data })
    end(errorText(message.id, code, words, data), code)
  }
  /** The last message, or what the client must be asked first. */
  const textOf = (result: Served): string | InputRequired => {
    if (result instanceof StillHeld) return stillHeldText(serving, result)
    if (!(result instanceof InputRequired)) {
      const text =
        task === undefined ? resultText(message.id, cleaned(result, call.era), serving.dressing) : dress(result, IN_TASK)
      return withinBound(text, served.limits.answerBytes)
    }
    rounds += 1
    if (rounds > served.limits.inputRounds) throw new RpcError('internal_error', 'the server asked for input too many times')
    for (const request of Object.values(result.requests)) requireCapability(call, request)
    return call.era === 'modern' && task === undefined ? inputRequiredText(serving, result) : result
  }
  const succeed = (result: Served): void => {
    let next: string | InputRequired
    try {
      next = textOf(result)
    } catch (error) {
      return fail(error)
    }
    if (typeof next === 'string') return task === undefined ? end(next, undefined) : task.complete(next)
    const { state } = next
    const asked = task === undefined ? askAll(call, next) : task.ask(questions(next))
    asked.then((answers) => {
      call.answers = answers
      call.state = state
      run()
    }, fail)
  }
  // Only the handler stands inside `try`: what goes wrong after an ending must not end the call a second time.
  const run = (): void => {
    let result: Served | Promise<Served>
    try {
      result = serving.run()
    } catch (error) {
      return fail(error)
    }
    if (result instanceof Promise) result.then(succeed, fail)
    else succeed(result)
  }
  // The request is answered now, and whatever ends it any more does not end the call.
  const goOnAs = (opened: Task, text: string): void => {
    end(text, undefined)
    task = opened
  }
  const askAgain = (words: string | undefined): void => {
    const opened = openTask(served.tasks, serving, words)
    if (opened === undefined) return
    goOnAs(opened, stillHeldText(serving, new StillHeld(opened.id)))
    served.rounds.begin(opened)
  }
  call.whenHeld = (words) => {
    const opened = serving.tasks === undefined ? undefined : openTask(serving.tasks, serving, words)
    if (opened !== undefined)
      return goOnAs(opened, resultText(message.id, { ...opened.view(), resultType: 'task' }, serving.dressing))
    served.held.add(call)
    if (serving.hasRounds === true) round = setTimeout(() => askAgain(words), served.rounds.roundMs).unref()
  }
  run()
}

/** A cancelled call is not answered, unless its client may still come back and wait for it. */
function leftAloneText<C extends Caller>({ call, message }: Serving<C>): string | undefined {
  const { reason } = call
  if (!(reason instanceof LeftAlone)) return undefined
  const words = `${reason.message}; make the same call again, which finds what was decided meanwhile`
  return errorText(message.id, RPC_CODES.internal_error, words)
}

/** The task is found, and is cut off with its caller's token, before anybody hears of it. */
function openTask<C extends Caller>(
  tasks: TaskTable,
  { served, call, message }: Serving<C>,
  words: string | undefined,
): Task | undefined {
  const { caller } = call
  const holding: Holding<C> = {
    caller,
    lasting: false,
    end: (reason) => opened === undefined || tasks.forget(opened.id, reason),
  }
  const opened = tasks.open({
    owner: { key: caller.key, person: personOf(caller) },
    words,
    requestBytes: message.bytes,
    stop: (why) => call.cancel(why),
    over: () => served.callers.remove(holding),
  })
  if (opened !== undefined) served.callers.add(holding)
  return opened
}

/** No client of ours takes more, and what is written is in memory until it is read. */
function withinBound(text: string, limitBytes: number): string {
  if (text.length <= limitBytes) return text
  throw new RpcError('internal_error', `the answer has more than ${limitBytes} bytes: ask for less at once`)
}

/** In the legacy era the questions are requests of ours, answered one by one; then the handler runs again with the answers. */
async function askAll<C extends Caller>(call: ActiveCall<C>, { requests }: InputRequired): Promise<Record<string, JsonObject>> {
  const answers: Record<string, JsonObject> = {}
  for (const [key, request] of Object.entries(requests)) answers[key] = await call.ask(request.method, request.params)
  return answers
}

/** As a modern client is asked. */
function questions({ requests }: InputRequired): Record<string, JsonObject> {
  return Object.fromEntries(
    Object.entries(requests).map(([key, { method, params }]): [string, JsonObject] => [key, { method, params: params ?? {} }]),
  )
}

/** Before the sealed state of a call that is still held; no sealed text has a dot. */
export const HELD_STATE = 'held.'

function stillHeldText<C extends Caller>({ served, message, call, dressing: worn }: Serving<C>, held: StillHeld): string {
  const { id, questions: inputRequests } = held
  // What a service has sealed is of another kind: neither is to be taken for the other.
  const binding = { callerKey: call.caller.key, method: HELD_STATE + message.method, params: message.params }
  const requestState = `${HELD_STATE}${served.seal.seal(id, binding)}`
  const asked = Object.keys(inputRequests).length > 0 ? { inputRequests } : {}
  return inputText(message.id, { ...asked, requestState }, worn)
}

const inputText = (id: RequestMessage['id'], result: JsonObject, { meta }: Dressing): string =>
  resultText(id, { resultType: 'input_required', ...result }, { front: {}, frontText: '', meta })

function inputRequiredText<C extends Caller>(
  { served, message, call, dressing: worn }: Serving<C>,
  required: InputRequired,
): string {
  const { requests, state } = required
  const result: JsonObject = {}
  if (Object.keys(requests).length > 0) result['inputRequests'] = questions(required)
  if (state !== undefined) {
    result['requestState'] = served.seal.seal(state, {
      callerKey: call.caller.key,
      method: message.method,
      params: message.params,
    })
  }
  return inputText(message.id, result, worn)
}

function requireCapability<C extends Caller>(call: ActiveCall<C>, request: InputRequired['requests'][string]): void {
  const missing = missingCapability(call.client.capabilities, request)
  if (missing !== undefined) {
    throw new RpcError('missing_client_capability', `the client did not declare what ${request.method} needs`, {
      requiredCapabilities: missing,
    })
  }
}

/** The legacy revisions know neither `resultType` nor cache hints, and strict clients refuse what they do not know. */
function cleaned(result: JsonObject | JsonText, era: 'legacy' | 'modern'): JsonObject | JsonText {
  if (era === 'modern' || !('resultType' in result)) return result
  const { resultType: _resultType, ttlMs: _ttlMs, cacheScope: _cacheScope, ...rest } = result
  return rest
}

function wireError<C extends Caller>(
  { served, message, call }: Serving<C>,
  error: unknown,
): { code: number; message: string; data: JsonValue | undefined } {
  if (!(error instanceof RpcError)) {
    if (!call.cancelled) served.observer.failed?.({ wire: served.wire, method: message.method, error })
    return { code: RPC_CODES.internal_error, message: 'Internal error', data: undefined }
  }
  return { code: codeIn(call.era, message.method, error), message: error.message, data: error.data }
}

/** A missing resource is -32002 in the legacy era and -32602 in the modern one; handlers need not know. */
function codeIn(era: 'legacy' | 'modern', method: string, error: RpcError): number {
  if (era === 'modern' && error.code === RPC_CODES.resource_not_found_legacy) return RPC_CODES.invalid_params
  const missesResource = method === 'resources/read' && isJsonObject(error.data) && error.data['uri'] !== undefined
  return era === 'legacy' && missesResource && error.code === RPC_CODES.invalid_params
    ? RPC_CODES.resource_not_found_legacy
    : error.code
}
