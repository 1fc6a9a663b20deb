import { WireError } from '@parley/rpc/browser'

/** The bytes that a base64 text stands for; `undefined` for what is none. */
export function readBase64(base64: string): Uint8Array | undefined {
  let text: string
  try {
    text = atob(base64)
  } catch {
    return undefined
  }
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at)
  return bytes
}

/** The same of an answer. Throws `bad_message` for what is none: the gateway is at fault then, and nobody else. */
export function bytesOf(base64: string): Uint8Array {
  const bytes = readBase64(base64)
  if (bytes === undefined) throw new WireError('bad_message', 'the gateway sent bytes that are not base64')
  return bytes
}
