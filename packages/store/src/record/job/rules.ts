import type { JobStatus } from '@parley/protocol'
import type { JobRecord } from './job.ts'

/** Whether something goes with a status always, never, or as it came about. */
type Rule = 'always' | 'never' | 'either'

interface StatusRules {
  /** A judge that took it last and is remembered. */
  readonly claim: Rule
  readonly startedAt: Rule
  readonly finishedAt: Rule
  readonly expiresAt: Rule
  /** An item in the queue of jobs. That of a job which has ended is its judge's until everything is handed in. */
  readonly lease: Rule
}

const RUNNING: StatusRules = { claim: 'always', startedAt: 'always', finishedAt: 'never', expiresAt: 'never', lease: 'always' }
const ENDED: StatusRules = { claim: 'either', startedAt: 'either', finishedAt: 'always', expiresAt: 'always', lease: 'either' }

/** What the statements of a job keep true of its row, whatever way it came to its status. */
const RULES: Readonly<Record<JobStatus, StatusRules>> = {
  created: { claim: 'never', startedAt: 'never', finishedAt: 'never', expiresAt: 'either', lease: 'never' },
  queued: { claim: 'either', startedAt: 'either', finishedAt: 'never', expiresAt: 'never', lease: 'always' },
  running_generate: RUNNING,
  running_test: RUNNING,
  succeeded: { ...ENDED, claim: 'always', startedAt: 'always' },
  failed: ENDED,
  cancelled: ENDED,
}

/** The columns that rules are about, and `status` for what is no column of a job. */
const COLUMNS = {
  claim: 'machine_id',
  startedAt: 'started_at',
  finishedAt: 'finished_at',
  expiresAt: 'expires_at',
  lease: 'status',
} as const satisfies Record<keyof StatusRules, string>
const WORDS = {
  claim: 'a judge',
  startedAt: 'a time at which it began',
  finishedAt: 'a time at which it ended',
  expiresAt: 'a time until which it is kept',
  lease: 'a place in the queue',
} as const satisfies Record<keyof StatusRules, string>
const PARTS = ['claim', 'startedAt', 'finishedAt', 'expiresAt', 'lease'] as const satisfies readonly (keyof StatusRules)[]

/** Which column of a job says what no job with its status does, and in words what that is. */
export function brokenRule(
  job: JobRecord,
  { hasLease }: { readonly hasLease: boolean },
): { readonly column: string; readonly words: string } | undefined {
  for (const part of PARTS) {
    const isThere = part === 'lease' ? hasLease : job[part] !== null
    const rule = RULES[job.status][part]
    if (rule === 'either' || isThere === (rule === 'always')) continue
    return { column: COLUMNS[part], words: `a job that is ${job.status} has ${isThere ? 'never ' : 'always '}${WORDS[part]}` }
  }
  return undefined
}
