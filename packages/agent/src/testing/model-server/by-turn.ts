import { type JsonObject, type ModelWire, isJsonObject } from '@parley/protocol'
import type { Answer } from './answer.ts'
import type { ReceivedRequest } from './model-server.ts'

/**
 * Answers by how many answers the conversation already holds, so that a request that is sent again gets the same answer
 * again, from any server and in any order. Beyond the last one, the last one is repeated.
 */
export function byTurn(wire: ModelWire, answers: readonly Answer[]): (request: ReceivedRequest) => Answer {
  return ({ body }) => {
    const answer = answers[Math.min(turnsIn(wire, body), answers.length - 1)]
    if (answer === undefined) throw new TypeError('there is no answer to give')
    return answer
  }
}

/** An answer is a run of items that the model made; what others said stands between two of them. */
function turnsIn(wire: ModelWire, body: JsonObject): number {
  const list = wire === 'responses' ? body['input'] : body['messages']
  let turns = 0
  let isInside = false
  for (const item of Array.isArray(list) ? list.filter(isJsonObject) : []) {
    const isOurs = item['role'] === 'assistant' || item['type'] === 'reasoning' || item['type'] === 'function_call'
    if (isOurs && !isInside) turns += 1
    isInside = isOurs
  }
  return turns
}
