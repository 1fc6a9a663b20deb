import { DEFAULT_RETENTION, type ExecProcess, type Retention } from '../process/exec-process.ts'

/** What to start, wherever that is. Nothing is inherited: a variable that is not in `env` is not there. */
export interface ExecSpec extends Partial<Retention> {
  /** How it is called by whoever started it; not the number that the system gives it. */
  readonly processId: string
  /** The program, by path or by name on the `PATH` of `env`, and its arguments. Never a shell line. */
  readonly argv: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
  /** An absolute folder. */
  readonly cwd: string
  /** Whether its stdin can be written to. Without, it reads the end at once. */
  readonly pipeStdin: boolean
  /** Whether it gets a terminal. No place gives one yet: `StartRefused`. */
  readonly tty: boolean
  /** Whether what it started may go on, and write on, after it has ended. */
  readonly groupOutlivesLeader?: boolean
}

/** A place where processes run. */
export interface ExecBackend {
  /** Throws `StartRefused` for what this place cannot do, and what the place itself throws. */
  start(spec: ExecSpec): Promise<ExecProcess>
}

/** This place cannot start what was asked for. `field` says why. */
export class StartRefused extends Error {
  readonly code = 'start_refused'
  readonly field: string
  constructor(field: string, message: string) {
    super(message)
    this.name = 'StartRefused'
    this.field = field
  }
}

export function retentionOf({
  retainBytes = DEFAULT_RETENTION.retainBytes,
  onFull = DEFAULT_RETENTION.onFull,
}: ExecSpec): Retention {
  return { retainBytes, onFull }
}
