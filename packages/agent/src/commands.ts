import type { Reach } from './engine.ts'

export interface CommandRequest {
  /** A program and its arguments; never a shell line unless the program is a shell. */
  readonly argv: readonly string[]
  /** Inside the conversation's folder. */
  readonly folder: string
  readonly timeoutMs: number
  readonly reach: Reach
  readonly network: boolean
  /** How much of each stream is kept for the model; the rest counts and is dropped. */
  readonly outputBytes: number
}

export interface CommandOutcome {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly timedOut: boolean
  /** What else ended it or kept it from starting, in words. */
  readonly message: string | null
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  readonly stdoutBytes: number
  readonly stderrBytes: number
  readonly durationMs: number
}

const NOTHING: Uint8Array = new Uint8Array()

/** Of a command that was not begun, and why. */
export const refusedCommand = (message: string): CommandOutcome => ({
  exitCode: null,
  signal: null,
  timedOut: false,
  message,
  stdout: NOTHING,
  stderr: NOTHING,
  stdoutBytes: 0,
  stderrBytes: 0,
  durationMs: 0,
})

/** Runs the commands of conversations inside a sandbox. What it cannot keep it refuses: nothing runs with more reach than asked for. */
export interface Commands {
  run(
    request: CommandRequest,
    output: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<CommandOutcome>
}
