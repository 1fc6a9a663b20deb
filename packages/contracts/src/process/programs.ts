import type { CodexProcess } from './codex-process.ts'

/** What to run, without a shell. Nothing is inherited: a variable that is not in `env` is not there. */
export interface ProgramCall {
  /** A path, or a name that is looked up on the `PATH` of `env`. */
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string
}

/** What became of a program that was run to its end. */
export type ProgramEnd =
  | {
      readonly kind: 'ended'
      readonly exit: { readonly code: number | null }
      readonly stdout: string
      readonly stderr: string
    }
  | { readonly kind: 'timed-out' }

/** The programs of this machine, as a port: whoever may start processes hands it in. */
export interface Programs {
  start(call: ProgramCall): Promise<CodexProcess>
  /** Runs one to its end without input, and keeps so many bytes of what it says. */
  run(call: ProgramCall, bounds: { readonly timeoutMs: number; readonly maxBytes: number }): Promise<ProgramEnd>
}
