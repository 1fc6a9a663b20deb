import { JOB_LIMITS } from './job/limits.ts'
import type { JobLogName } from './job/log-name.ts'
import type { NotificationMethod } from './notifications.ts'
import type { ResourceUri } from './resources.ts'
import type { ToolName } from './tools.ts'

/**
 * What judges write down about a job: the logs that people follow, and the transcript, which the next judge goes on from. By what each is
 * added to, what tells its followers, where its end is read, and how large it may get.
 */
export const JOB_LOGS = {
  agent_status: {
    append: 'judge.job.append_agent_status',
    notification: 'agent_status',
    resource: 'resource://jobs/{id}/agent-status',
    maxBytes: JOB_LIMITS.agentStatusLogBytes,
  },
  terminal: {
    append: 'judge.job.append_terminal',
    notification: 'terminal',
    resource: 'resource://jobs/{id}/terminal',
    maxBytes: JOB_LIMITS.terminalLogBytes,
  },
  cases: {
    append: 'judge.job.append_case',
    notification: 'case_result',
    resource: 'resource://jobs/{id}/cases',
    maxBytes: JOB_LIMITS.casesLogBytes,
  },
  transcript: { append: 'judge.job.append_transcript', maxBytes: JOB_LIMITS.transcriptLogBytes },
} as const satisfies Record<
  JobLogName | 'transcript',
  { append: ToolName; notification?: NotificationMethod; resource?: ResourceUri; maxBytes: number }
>

/** A job's log, or its transcript. */
export type WrittenLog = keyof typeof JOB_LOGS
