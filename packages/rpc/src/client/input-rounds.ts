import { WireError } from '@parley/fetch/browser'
import { isJsonObject, type JsonObject, messageOf } from '@parley/protocol'
import { sleep } from './sleep.ts'
import type { ClientLimits } from './client-limits.ts'
import type { Reply } from './connection.ts'
import { type ClientHandlers, answerAsk } from './ask/handlers.ts'

export interface InputRoundsParts {
  readonly handlers: ClientHandlers
  readonly limits: ClientLimits
  readonly signal: AbortSignal | undefined
  readonly send: (params: JsonObject) => Promise<Reply>
}

/** Whether a modern result asks for something before it can go on. */
export function needsInput(result: JsonObject): boolean {
  return result.resultType === 'input_required'
}

/**
 * Answers what the server asks and sends the request again, until it has what it needs. Each round carries only its
 * own answers, and the server's state byte for byte.
 */
export async function runInputRounds(params: JsonObject, first: Reply, parts: InputRoundsParts): Promise<Reply> {
  let reply = first
  for (let round = 0; needsInput(reply.result); round++) {
    if (round === parts.limits.inputRounds) {
      throw new WireError('too_many_rounds', `the server asked for input ${round} times, the most that inputRounds allows`)
    }
    reply = await parts.send(await nextParams(params, reply.result, parts))
  }
  return reply
}

async function nextParams(params: JsonObject, result: JsonObject, parts: InputRoundsParts): Promise<JsonObject> {
  const { inputRequests, requestState } = result
  const next: JsonObject = { ...params }
  if (typeof requestState === 'string') next.requestState = requestState
  if (isJsonObject(inputRequests)) next.inputResponses = await answerAll(inputRequests, parts)
  else if (requestState === undefined) throw new WireError('bad_message', 'input_required without inputRequests or requestState')
  else await sleep(parts.limits.inputPauseMs, parts.signal)
  return next
}

async function answerAll(requests: JsonObject, { handlers, signal }: InputRoundsParts): Promise<JsonObject> {
  const answers: JsonObject = {}
  for (const [key, request] of Object.entries(requests)) {
    if (!isJsonObject(request) || typeof request.method !== 'string')
      throw new WireError('bad_message', `inputRequests.${key} is not a request`)
    const params = isJsonObject(request.params) ? request.params : {}
    try {
      answers[key] = await answerAsk(handlers, { method: request.method, params, signal: signal ?? new AbortController().signal })
    } catch (cause) {
      throw new WireError('cannot_answer', `the server asked for ${request.method}: ${messageOf(cause)}`, { cause })
    }
  }
  return answers
}
