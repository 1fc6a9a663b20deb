import { isJsonObject, type JsonObject, RpcError } from '@parley/protocol'
import { type ForwardParts, JsonText } from '@parley/rpc'

type Reply = Parameters<NonNullable<ForwardParts['shown']>>[1]

/** A character of a text takes three bytes at most. */
const BYTES_OF_CHARACTER = 3

/**
 * What a client gets instead of a result that is too large: a tool's failure that says so, or an error. `undefined`: it is not.
 * A resource may be larger: it can be read in windows.
 */
export function resultOver(method: string, { result, text }: Reply, limitBytes: number): JsonObject | undefined {
  if (method === 'resources/read') return undefined
  const whole = text ?? JSON.stringify(result)
  if (whole.length * BYTES_OF_CHARACTER <= limitBytes) return undefined
  const bytes = Buffer.byteLength(whole)
  if (bytes <= limitBytes) return undefined
  const words = `the result has ${bytes} bytes, more than the ${limitBytes} that resultBytes allows: ask for less at once`
  if (method !== 'tools/call') throw new RpcError('internal_error', words)
  return { isError: true, content: [{ type: 'text', text: words }] }
}

/** Throws where a resource is too large to be handed out whole. */
export function checkResource(result: JsonObject | JsonText, limitBytes: number): void {
  const bytes = result instanceof JsonText ? result.text.length : contentChars(result)
  if (bytes > limitBytes)
    throw new RpcError(
      'internal_error',
      `the resource has ${bytes} bytes, more than the ${limitBytes} that resultBytes allows: read it in windows with resources_read`,
    )
}

function contentChars({ contents }: JsonObject): number {
  let chars = 0
  for (const part of Array.isArray(contents) ? contents : []) {
    if (!isJsonObject(part)) continue
    for (const held of [part.text, part.blob]) if (typeof held === 'string') chars += held.length
  }
  return chars
}
