import * as z from 'zod'

/** A log of a job: bytes that can be read from any offset. */
export const JobLogName = z.enum(['agent_status', 'terminal', 'cases'])
export type JobLogName = z.infer<typeof JobLogName>
/** What can be followed with job.subscribe; `state` has no offset, it is always the newest. */
export const JobStream = z.enum([...JobLogName.options, 'state'])
export type JobStream = z.infer<typeof JobStream>
