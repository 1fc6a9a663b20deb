import type { JobListener } from '@parley/client'
import type { JobEnding } from './ending.ts'

/** Shows a job while it is followed, and how it ended. */
export interface JobView extends Pick<JobListener, 'state' | 'status' | 'caseDone'> {
  end(ending: JobEnding): void
  /** A line that is not about the job's work: it goes where it does not disturb the picture. */
  say(text: string): void
  /** Takes away what would be in the way of other lines. */
  close(): void
}
