import * as z from 'zod'
import { AgentId, JobId } from './ids.ts'
import { AgentStatusItem } from './job/agent-status.ts'
import { CaseItem } from './job/case.ts'
import { JobState } from './job/state.ts'
import { HostAction } from './tools/host.ts'
import { JudgeAction } from './tools/judge.ts'
import { TunnelKind } from './tools/worker.ts'
import { WorkerName } from './worker-name.ts'

const Offset = z.int().min(0)

/** One message that the server sends without being asked for an answer. */
export interface NotificationSpec {
  readonly method: string
  readonly params: z.ZodObject
  readonly doc: string
}

/** Every notification that a role server sends today. Progress and log messages belong to a request and follow MCP. */
export const NOTIFICATIONS = {
  agent_status: {
    method: 'agent_status',
    params: z.object({ job_id: JobId, offset: Offset, item: AgentStatusItem }),
    doc: 'A status line of a job that you subscribed to. `offset` is the byte after it: hand it back to go on from there.',
  },
  case_result: {
    method: 'case_result',
    params: z.object({ job_id: JobId, offset: Offset, item: CaseItem }),
    doc: 'A case is done. `offset` as above.',
  },
  host_control: {
    method: 'host_control',
    params: z.object({ agent_id: AgentId, claim_id: z.string(), action: HostAction }),
    doc: 'To the host that holds the agent: something about it was changed (`update`: host.agent_get has it), it was told something (`prompt`: host.next_prompt), there is something to tell it (`news`: host.news, before the next request of a turn), the turn that it takes is to end (`abort`), or it is to be let go of (`release`).',
  },
  job_state: {
    method: 'job_state',
    params: z.object({ job_id: JobId, state: JobState }),
    doc: 'The job moved on. Runs of changes may come as one; the last one always comes.',
  },
  judge_control: {
    method: 'judge_control',
    params: z.object({ job_id: JobId, claim_id: z.string(), action: JudgeAction }),
    doc: 'To the judge that holds the job: what to do with it now.',
  },
  'notifications/resources/updated': {
    method: 'notifications/resources/updated',
    params: z.object({ uri: z.string() }),
    doc: 'A resource that you subscribed to has changed: read it again. Only subscribers are told.',
  },
  open: {
    method: 'open',
    params: z.object({ tunnel: z.string(), kind: TunnelKind, subject: z.string(), ticket: z.string() }),
    doc: 'To a worker: somebody wants to reach `subject` in it. It dials `/api/tunnel` with its token and the ticket, which is good once and for ten seconds.',
  },
  terminal: {
    method: 'terminal',
    params: z.object({ job_id: JobId, offset: Offset, chunk_b64: z.string() }),
    doc: 'Bytes of the terminal log of a job. `offset` as above; a character may be split between two chunks.',
  },
  worker_control: {
    method: 'worker_control',
    params: z.object({ name: WorkerName, drain: z.boolean() }),
    doc: 'To a worker: whether it takes anything new. It is in every answer to `worker.heartbeat` too.',
  },
} as const satisfies Record<string, NotificationSpec>

export type NotificationMethod = keyof typeof NOTIFICATIONS
