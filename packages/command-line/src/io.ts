import type { Screen } from '@parley/screen'

/** Everything a command touches of its process, passed in by `main`. */
export interface Io extends ProcessIo {
  /** Puts the program, as it can be typed here, into a text that names commands as `parley …`. `err` does so by itself. */
  readonly typed: (text: string) => string
}

/** What a process gives to `main`. */
export interface ProcessIo {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly stdin: NodeJS.ReadStream
  /** Results. For stdio servers: the protocol and nothing else. */
  readonly out: (text: string | Uint8Array) => void
  /** Everything that is not the result. */
  readonly err: (text: string | Uint8Array) => void
  readonly now: () => number
  readonly random: (size: number) => Uint8Array
  /** Tells when somebody asks the process to end (Ctrl-C, SIGTERM, the terminal closed). The answer stops listening. */
  readonly onSignal: (asked: (signal: NodeJS.Signals) => void) => () => void
  /** Whether a person reads `err`. */
  readonly isTerminal: boolean
  /** What `out` is shown on, as it is now; `undefined` when that is no terminal. */
  readonly screen: () => Screen | undefined
}
