import * as z from 'zod'

/** Samples by target: milliseconds from start to closed, bytes per second of stdout, milliseconds of one tool call. */
export const Measured = z.object({
  startMs: z.record(z.string(), z.array(z.number())),
  bytesPerSecond: z.record(z.string(), z.array(z.number())),
  callMs: z.record(z.string(), z.array(z.number())),
})
export type Measured = z.infer<typeof Measured>
