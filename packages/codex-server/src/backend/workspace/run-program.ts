/** What became of a program that ran to its end. */
export type ProgramOutcome =
  | { readonly kind: 'ended'; readonly exitCode: number | null; readonly stdout: string; readonly stderr: string }
  | { readonly kind: 'timed-out' }
  /** It said more than could be kept. */
  | { readonly kind: 'too-much' }

/** Runs a program of ours to choose, such as git, without a shell; never what a client or a model names. One at a time. */
export type RunProgram = (
  argv: readonly [string, ...string[]],
  more: { readonly folder: string; readonly timeoutMs: number; readonly outputBytes: number },
) => Promise<ProgramOutcome>

/** A place to run git in for one question about a working tree. */
export interface GitPlace {
  readonly run: RunProgram
  close(): Promise<void>
}

/**
 * Opens such a place for the repository that a folder belongs to. What a repository brings along may name programs, so it must be a
 * sandbox in which nothing can be written and nothing else of the machine is to be seen. Processes are not this room's own to start.
 */
export type OpenGit = (folder: string) => Promise<GitPlace>
