import { type JobState, type JobStatus, unjudgedWords } from '@parley/protocol'
import { element } from '../element.ts'

const WORDS: Readonly<Record<JobStatus, string>> = {
  created: 'created',
  queued: 'queued',
  running_generate: 'writing',
  running_test: 'testing',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
}

/** A job's status as a word with a colour. */
export function statusBadge(): HTMLElement {
  return element('span', { class: 'badge' })
}

/** Of a job that nobody judged it says what was done with it instead, in a colour of its own. */
export function setStatus(badge: HTMLElement, job: Pick<JobState, 'status' | 'unjudged' | 'model' | 'summary'>): void {
  badge.dataset['status'] = job.unjudged ? 'unjudged' : job.status
  const word = job.unjudged ? unjudgedWords(job).what : WORDS[job.status]
  if (badge.textContent !== word) badge.textContent = word
}
