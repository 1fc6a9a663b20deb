import { isJsonObject, type JsonObject, type JsonValue } from '@parley/protocol/wire'
import type { RequestId } from './message.ts'

/**
 * A result that is JSON text already: the hot path stringifies once. `text` is a JSON object without a `_meta` member
 * and without white space around it; what belongs in `_meta` comes beside it, because each era adds its own there.
 */
export class JsonText {
  readonly text: string
  readonly meta: JsonObject | undefined
  constructor(text: string, meta?: JsonObject) {
    this.text = text
    this.meta = meta
  }
}

/** What an era adds to a result: members in front (the handler's own win), entries of `_meta`. */
export interface Dressing {
  readonly front: JsonObject
  /** `front` as text without its braces, made once. */
  readonly frontText: string
  readonly meta: JsonObject | undefined
}

export function dressing(front: JsonObject, meta: JsonObject | undefined): Dressing {
  return { front, frontText: JSON.stringify(front).slice(1, -1), meta }
}
export const UNDRESSED: Dressing = dressing({}, undefined)

function idText(id: JsonValue): string {
  return typeof id === 'number' ? String(id) : JSON.stringify(id)
}

export function resultText(id: JsonValue, result: JsonObject | JsonText, worn: Dressing = UNDRESSED): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":${dress(result, worn)}}`
}

export function errorText(id: JsonValue, code: number, message: string, data?: JsonValue): string {
  const more = data === undefined ? '' : `,"data":${JSON.stringify(data)}`
  return `{"jsonrpc":"2.0","id":${idText(id)},"error":{"code":${code},"message":${JSON.stringify(message)}${more}}}`
}

export function notificationText(method: string, params: JsonObject | JsonText | undefined): string {
  const text = params instanceof JsonText ? dress(params, UNDRESSED) : JSON.stringify(params)
  const more = params === undefined ? '' : `,"params":${text}`
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)}${more}}`
}

export function requestText(id: RequestId, method: string, params: JsonObject | undefined): string {
  const more = params === undefined ? '' : `,"params":${JSON.stringify(params)}`
  return `{"jsonrpc":"2.0","id":${idText(id)},"method":${JSON.stringify(method)}${more}}`
}

/** Puts the era's members into a result without parsing or copying what is text already. */
export function dress(result: JsonObject | JsonText, worn: Dressing): string {
  if (result instanceof JsonText) {
    const meta = merged(result.meta, worn.meta)
    if (worn.frontText === '' && meta === undefined) return result.text
    const back = meta === undefined ? '' : `"_meta":${JSON.stringify(meta)}`
    return `{${[worn.frontText, result.text.slice(1, -1), back].filter((part) => part !== '').join(',')}}`
  }
  if (worn.frontText === '' && worn.meta === undefined) return JSON.stringify(result)
  const own = result['_meta']
  const meta = merged(isJsonObject(own) ? own : undefined, worn.meta)
  return JSON.stringify({ ...worn.front, ...result, ...(meta === undefined ? {} : { _meta: meta }) })
}

function merged(own: JsonObject | undefined, more: JsonObject | undefined): JsonObject | undefined {
  if (own === undefined) return more
  return more === undefined ? own : { ...own, ...more }
}

/**
 * For wires on which a line end ends the message. Between tokens it is only white space, and inside strings JSON has none;
 * but a result that came as text may hold some, and what follows would be read as a message of its own.
 */
export function onOneLine(text: string): string {
  return text.includes('\n') || text.includes('\r') ? text.replaceAll(/[\r\n]/g, ' ') : text
}
