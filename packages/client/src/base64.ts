import { WireError } from '@parley/rpc/browser'

/** The bytes that a base64 text stands for. Throws `bad_message` for what is none: a gateway that says it is at fault, and nobody else. */
export function bytesOf(base64: string): Uint8Array {
  const text = decoded(base64)
  if (text === undefined) throw new WireError('bad_message', 'the gateway sent bytes that are not base64')
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at)
  return bytes
}

function decoded(base64: string): string | undefined {
  try {
    return atob(base64)
  } catch {
    return undefined
  }
}

/** Whether bytes can be had of it. */
export const isBase64 = (text: string): boolean => decoded(text) !== undefined
