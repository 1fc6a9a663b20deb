import { type JobId, type JsonObject, type JudgeAction, NOTIFICATIONS } from '@parley/protocol'

/** What a gateway says unasked to whoever holds a job. */
export interface JudgeControl {
  readonly jobId: JobId
  readonly claimId: string
  readonly action: JudgeAction
}

/** Reads a notification as the word to a holder of a job; any other is `undefined`, and so is one that cannot be read. */
export function judgeControl(method: string, params: JsonObject): JudgeControl | undefined {
  if (method !== NOTIFICATIONS.judge_control.method) return undefined
  const told = NOTIFICATIONS.judge_control.params.safeParse(params)
  if (!told.success) return undefined
  const { job_id: jobId, claim_id: claimId, action } = told.data
  return { jobId, claimId, action }
}
