import { type JobState, unjudgedWords } from '@parley/protocol'
import type { Style } from '@parley/screen'

type Told = Pick<JobState, 'status' | 'unjudged' | 'model' | 'summary'>

/** The status of a job as a person reads it: of a job that nobody judged, what was done with it instead. */
export const statusWord = (job: Told): string => (job.unjudged ? unjudgedWords(job).what : job.status)

/** The colour of an end. What is not judged is neither good nor bad. */
export function statusStyle({ status, unjudged }: Pick<Told, 'status' | 'unjudged'>): Style {
  if (unjudged) return 'magenta'
  if (status === 'succeeded') return 'green'
  return status === 'cancelled' ? 'yellow' : 'red'
}
