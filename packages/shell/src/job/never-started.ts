import type { SteadyClient } from '@parley/client'
import { type JobId, ToolError, type ToolOutput } from '@parley/protocol'
import { CommandError } from '@parley/command-line'
import { asCommandError } from '@parley/command-line/wording'

/** What can be done about a job that somebody made and did not start: nothing in the shell starts one that is there. */
const wayOut = (id: JobId): string =>
  `parley job cancel ${id} and then parley job retry ${id} start it anew; parley job delete ${id} removes it`

/** For whoever looks at such a job. */
export const neverStartedText = (id: JobId): string => `it was never started; ${wayOut(id)}`

/** For whoever waits for its end: there will be none. */
export const neverStarted = (id: JobId): CommandError =>
  new CommandError('not_started', `${id} was never started`, { hint: wayOut(id) })

/** Starts a job that was made for this. If that is refused nothing is left of it. */
export async function startOrDelete(caller: SteadyClient, jobId: JobId): Promise<ToolOutput<'job.start'>> {
  try {
    return await caller.call('job.start', { job_id: jobId })
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    const refused = asCommandError(error)
    try {
      // A start that was asked for again after a lost connection is refused when the job has ended meanwhile.
      const { status } = await caller.call('job.get_state', { job_id: jobId })
      if (status === 'created') await caller.once('job.delete', { job_id: jobId })
    } catch (cause) {
      const left = `${jobId} was made and is left, since it cannot be deleted: ${asCommandError(cause).message}`
      throw new CommandError(refused.code, `${refused.message}; ${left}`, {
        cause: error,
        ...(refused.hint === undefined ? {} : { hint: refused.hint }),
      })
    }
    throw refused
  }
}
