import * as z from 'zod'

/**
 * created → queued → running_generate ⇄ running_test → succeeded | failed | cancelled.
 * Back to queued: the judge gave it back or lost its lease. cancelled: from every state that is not an end.
 */
export const JobStatus = z.enum(['created', 'queued', 'running_generate', 'running_test', 'succeeded', 'failed', 'cancelled'])
export type JobStatus = z.infer<typeof JobStatus>

/** Which states may come before each. The store's guarded statements are made from this and nothing else. */
export const STATUS_BEFORE = {
  created: [],
  queued: ['created', 'queued', 'running_generate', 'running_test'],
  running_generate: ['queued', 'running_generate', 'running_test'],
  running_test: ['queued', 'running_generate', 'running_test'],
  succeeded: ['running_generate', 'running_test'],
  failed: ['queued', 'running_generate', 'running_test'],
  cancelled: ['created', 'queued', 'running_generate', 'running_test'],
} as const satisfies Record<JobStatus, readonly JobStatus[]>

export const END_STATUSES = ['succeeded', 'failed', 'cancelled'] as const satisfies readonly JobStatus[]
export type EndStatus = (typeof END_STATUSES)[number]

export function isEnd(status: JobStatus): status is EndStatus {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled'
}

/** Why a job failed or was cancelled. `code` is stable, `message` is for people; `by` is the account that cancelled it. */
export const JobError = z.object({ code: z.string().max(64), message: z.string().max(4_000), by: z.string().max(256).optional() })
export type JobError = z.infer<typeof JobError>
