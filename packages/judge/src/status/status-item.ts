import type { AgentStatusItem } from '@parley/protocol'
import type { StatusLine } from '../tester.ts'

const SUMMARY_CHARS = 2_000

/** One line of `agent_status.jsonl`. */
export function statusItem(
  { stage, level, summary, progress, meta, kind, delta }: StatusLine,
  about: { readonly at: number; readonly jobId: string; readonly attempt: number; readonly seq: string },
): AgentStatusItem {
  return {
    ts: new Date(about.at).toISOString(),
    job_id: about.jobId,
    attempt: about.attempt,
    stage,
    level,
    progress: progress ?? null,
    summary: summary.slice(0, SUMMARY_CHARS),
    ...(kind === undefined ? {} : { kind }),
    ...(delta === undefined ? {} : { delta }),
    meta: { ...meta },
    seq: about.seq,
  }
}
