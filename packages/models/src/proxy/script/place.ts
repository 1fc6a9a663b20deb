import { type JsonObject, type ModelWire, isJsonObject } from '@parley/protocol'

/** How many answers of the model a conversation already holds: the place of the next one in a script. */
export function answersIn(body: JsonObject, wire: ModelWire): number {
  const list = wire === 'responses' ? body['input'] : body['messages']
  if (!Array.isArray(list)) return 0
  if (wire === 'chat') return list.filter((message) => isJsonObject(message) && message['role'] === 'assistant').length
  let answers = 0
  let isInAnswer = false
  for (const item of list) {
    const isModels = isJsonObject(item) && isOfModel(item)
    if (isModels && !isInAnswer) answers += 1
    isInAnswer = isModels
  }
  return answers
}

/** One answer may be many items in a row: reasoning, messages, calls. What the client adds parts it from the next. */
function isOfModel({ type, role }: JsonObject): boolean {
  if (type === undefined || type === 'message') return role === 'assistant'
  return type === 'reasoning' || (typeof type === 'string' && type.endsWith('_call'))
}
