import * as z from 'zod'

/** What `decide-main.ts` prints: microseconds of one decision, the middle and the slowest of a hundred. */
export const Measured = z.object({ us: z.record(z.string(), z.array(z.number())) })
export type Measured = z.infer<typeof Measured>
