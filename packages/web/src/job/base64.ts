/** The bytes that a base64 text stands for. */
export function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}

/** A piece of text that somebody else cut out of bytes: what was cut in half is shown as a question mark. */
export const textOf = (base64: string): string => new TextDecoder().decode(bytesOf(base64))
