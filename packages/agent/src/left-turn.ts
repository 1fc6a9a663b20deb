import { type JsonValue, isJsonObject } from '@parley/protocol'
import { TURN_FAILURES, type TurnEnd } from './event.ts'
import type { TranscriptEntry } from './transcript.ts'

/**
 * How a turn ended that the process before did not live to tell of, as far as the engine's own log says after the turn's input: by its
 * end, or by a message that nothing followed. `undefined`: it has not ended, or nobody can tell.
 */
export function leftEnd(afterInput: readonly TranscriptEntry[]): TurnEnd | undefined {
  // A turn that was taken up again has another beginning and no other input.
  const after = afterInput.slice(afterInput.findLastIndex(({ type }) => type === 'turn') + 1)
  const ended = after.find(({ type }) => type === 'turn_ended')
  if (ended !== undefined) return endOf(ended['end'])
  const last = after.findLast(({ type }) => type === 'item' || type === 'input' || type === 'output' || type === 'request')
  if (last?.type !== 'item') return undefined
  const items = after.filter(({ type, group }) => type === 'item' && group === last['group']).map(({ item }) => item)
  const isCalling = items.some((item) => !isJsonObject(item) || (item['type'] !== 'message' && item['type'] !== 'reasoning'))
  const message = items.map(messageText).findLast((text) => text !== '')
  return isCalling || message === undefined ? undefined : { kind: 'completed', message }
}

function endOf(end: JsonValue | undefined): TurnEnd | undefined {
  if (!isJsonObject(end)) return undefined
  const { kind, message, code } = end
  if (kind === 'interrupted') return { kind }
  if (typeof message !== 'string') return undefined
  if (kind === 'completed') return { kind, message }
  const known = TURN_FAILURES.find((failure) => failure === code)
  return kind === 'failed' && known !== undefined ? { kind, code: known, message } : undefined
}

function messageText(item: JsonValue | undefined): string {
  if (!isJsonObject(item) || item['type'] !== 'message' || !Array.isArray(item['content'])) return ''
  return item['content']
    .map((part) => (isJsonObject(part) && part['type'] === 'output_text' && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('')
}
