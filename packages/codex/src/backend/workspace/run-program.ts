/** What became of a program that ran to its end. */
export type ProgramOutcome =
  | { readonly kind: 'ended'; readonly exitCode: number | null; readonly stdout: string; readonly stderr: string }
  | { readonly kind: 'timed-out' }
  /** It said more than could be kept. */
  | { readonly kind: 'too-much' }

/**
 * Runs a program of the machine without a sandbox and without a shell: for programs of ours to choose, such as git, never
 * for what a client or a model names. Processes are not this room's own to start.
 */
export type RunProgram = (
  argv: readonly [string, ...string[]],
  more: { readonly folder: string; readonly timeoutMs: number; readonly outputBytes: number },
) => Promise<ProgramOutcome>
