/** A command that cannot do what was asked. One line for people, the same as data for programs. */
export class CommandError extends Error {
  readonly code: string
  readonly hint: string | undefined
  readonly exitCode: number
  constructor(code: string, message: string, more: { hint?: string; exitCode?: number; cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.name = 'CommandError'
    this.code = code
    this.hint = more.hint
    this.exitCode = more.exitCode ?? 1
  }
}

const USAGE_EXIT = 2

/** The command line itself is wrong. */
export function usageError(message: string, hint?: string): CommandError {
  return new CommandError('usage', message, { exitCode: USAGE_EXIT, ...(hint === undefined ? {} : { hint }) })
}
