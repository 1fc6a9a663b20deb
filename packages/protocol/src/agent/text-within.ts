import * as z from 'zod'

/** The most that one UTF-16 unit takes in UTF-8; a pair of them takes four. */
const BYTES_OF_A_UNIT = 3

/** A text that somebody sends, bounded by its bytes as they are kept. `max` alone counts UTF-16 units, of which one may be three bytes. */
export const textWithin = (bytes: number): z.ZodString =>
  z
    .string()
    .max(bytes)
    .refine((text) => text.length * BYTES_OF_A_UNIT <= bytes || new TextEncoder().encode(text).length <= bytes, {
      error: `has more than ${bytes} bytes`,
    })
