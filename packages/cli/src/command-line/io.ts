/** Everything a command touches of its process, passed in by `main`. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly stdin: NodeJS.ReadStream
  /** Results. For stdio servers: the protocol and nothing else. */
  readonly out: (text: string) => void
  /** Everything that is not the result. */
  readonly err: (text: string) => void
  readonly now: () => number
  readonly random: (size: number) => Uint8Array
  /** Tells when somebody asks the process to end (Ctrl-C, SIGTERM, the terminal closed). The answer stops listening. */
  readonly onSignal: (asked: (signal: NodeJS.Signals) => void) => () => void
  /** Whether a person reads `err`. */
  readonly isTerminal: boolean
}
