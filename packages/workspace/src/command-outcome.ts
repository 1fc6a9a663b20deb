import type { CommandOutcome, CommandRequest } from '@parley/agent'
import type { RunOutcome } from '@parley/sandbox'

/** How a run ended, in the words of whoever ordered a command. */
export function outcomeOf(outcome: RunOutcome, { timeoutMs }: CommandRequest): CommandOutcome {
  const { status, exitCode, signal, stdout, stderr, wallMs } = outcome
  return {
    exitCode,
    signal,
    timedOut: status === 'wall-limit' || status === 'cpu-limit',
    message: WORDS[status]?.(timeoutMs) ?? (status === 'sandbox-error' ? outcome.message : null),
    stdout: stdout.bytes,
    stderr: stderr.bytes,
    stdoutBytes: stdout.totalBytes,
    stderrBytes: stderr.totalBytes,
    durationMs: wallMs,
  }
}

const WORDS: Partial<Record<RunOutcome['status'], (timeoutMs: number) => string>> = {
  'wall-limit': (timeoutMs) => `ended after ${Math.round(timeoutMs / 1_000)} s`,
  'cpu-limit': () => 'ended: it used too much processor time',
  'memory-limit': () => 'ended: it used too much memory',
  'output-limit': () => 'ended: it printed too much',
  'process-limit': () => 'ended: it started too many processes',
}
