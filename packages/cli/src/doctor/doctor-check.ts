import { messageOf } from '@parley/protocol'
/** One thing looked at. `missing` is fine until it is needed; `failed` is not. */
export interface DoctorCheck {
  readonly name: string
  readonly status: 'ok' | 'missing' | 'failed' | 'skipped'
  readonly detail: string
  /** What to do about it. */
  readonly hint?: string
}

/** The first line of an error, for a detail. */
export function reasonOf(error: unknown): string {
  return messageOf(error).split('\n')[0] ?? ''
}
