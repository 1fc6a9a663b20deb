import type { Readable, Writable } from 'node:stream'

/** A Codex that runs. Processes are not this room's own to start: they come through `StartCodex`. */
export interface CodexProcess {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  stderrTail(): string
  /** Never rejects. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>
  /** Closes stdin, waits, SIGTERM, waits, SIGKILL. */
  stop(graceMs: number): Promise<unknown>
}

/** Starts the Codex command with these arguments, in the environment and CODEX_HOME that its owner chose. */
export type StartCodex = (args: readonly string[]) => Promise<CodexProcess>
