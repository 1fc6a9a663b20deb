import type { TranscriptEntry } from '@parley/agent'
import { type JsonValue, isJsonObject } from '@parley/protocol'

/** Where the log of an engine says what somebody said, the last time that the mark stands in it; -1: nowhere. */
export function findInput(entries: readonly TranscriptEntry[], mark: string): number {
  return entries.findLastIndex((entry) => entry.type === 'input' && JSON.stringify(entry).includes(mark))
}

/**
 * The last message of a turn that the judge before did not live to write down, as far as the engine's own log says: that of
 * its end, or one that nothing followed. `undefined`: it has not ended, or nobody can tell. `mark` stands in the turn's input.
 */
export function leftMessage(entries: readonly TranscriptEntry[], mark: string): string | undefined {
  const begin = findInput(entries, mark)
  if (begin < 0) return undefined
  const after = entries.slice(begin + 1)
  const ended = after.find(({ type }) => type === 'turn_ended')
  if (ended !== undefined) return endOf(ended['end'])
  const last = after.findLast(({ type }) => type === 'item' || type === 'input' || type === 'output' || type === 'request')
  if (last?.type !== 'item') return undefined
  const items = after.filter(({ type, group }) => type === 'item' && group === last['group']).map(({ item }) => item)
  const isCalling = items.some((item) => !isJsonObject(item) || (item['type'] !== 'message' && item['type'] !== 'reasoning'))
  const message = items.map(messageText).findLast((text) => text !== '')
  return isCalling ? undefined : message
}

/** Only what was said to the end counts: after an interruption or a failure the turn goes on. */
function endOf(end: JsonValue | undefined): string | undefined {
  if (!isJsonObject(end) || end['kind'] !== 'completed') return undefined
  return typeof end['message'] === 'string' ? end['message'] : undefined
}

function messageText(item: JsonValue | undefined): string {
  if (!isJsonObject(item) || item['type'] !== 'message' || !Array.isArray(item['content'])) return ''
  return item['content']
    .map((part) => (isJsonObject(part) && part['type'] === 'output_text' && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('')
}
