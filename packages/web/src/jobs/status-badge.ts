import type { JobStatus } from '@parley/protocol'
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

export function setStatus(badge: HTMLElement, status: JobStatus): void {
  badge.dataset['status'] = status
  if (badge.textContent !== WORDS[status]) badge.textContent = WORDS[status]
}
