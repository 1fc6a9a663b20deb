import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'
import type { RecordedLine } from '../../registry/registry-types.ts'

/** A message in a word or two: who sends it, what it is, which event or item it tells. */
export type Word = string

/** One message of a replay, with what it is called. */
export interface Spoken {
  readonly word: Word
  readonly message: JsonObject
}

/** Names every message; an answer by what it answers. */
export function spoken(lines: readonly RecordedLine[]): readonly Spoken[] {
  const asked = new Map<string, string>()
  return lines.flatMap(({ dir, message }) => {
    if (!isJsonObject(message)) return []
    const { id, method } = message
    if (typeof method === 'string') {
      if (id !== undefined) asked.set(`${dir}${JSON.stringify(id)}`, method)
      return [{ word: [dir, method, ...eventWords(message['params'])].join(' '), message }]
    }
    const question = asked.get(`${dir === '<' ? '>' : '<'}${JSON.stringify(id)}`) ?? 'nothing'
    return [{ word: `${dir} answer to ${question}`, message }]
  })
}

function eventWords(params: JsonValue | undefined): readonly string[] {
  const msg = isJsonObject(params) ? params['msg'] : undefined
  if (!isJsonObject(msg) || typeof msg['type'] !== 'string') return []
  const item = isJsonObject(msg['item']) ? msg['item']['type'] : undefined
  return typeof item === 'string' ? [msg['type'], item] : [msg['type']]
}
