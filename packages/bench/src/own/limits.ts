import * as z from 'zod'

/** The bounds that a soak makes smaller, so that what takes half an hour in the product takes a second in it. */
export const WireLimits = z.strictObject({
  sessionIdleMs: z.int().default(30 * 60_000),
  streamBufferBytes: z.int().default(4 * 1024 * 1024),
  linksPerCaller: z.int().default(1_000),
  stalledReaderMs: z.int().default(60_000),
  streamAfterMs: z.int().default(10_000),
})
export type WireLimits = z.input<typeof WireLimits>
