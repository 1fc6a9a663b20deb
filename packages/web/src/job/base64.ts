import { bytesOf } from '@parley/client'

/** A piece of text that somebody else cut out of bytes: what was cut in half is shown as a question mark. */
export const textOf = (base64: string): string => new TextDecoder().decode(bytesOf(base64))
