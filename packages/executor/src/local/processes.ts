import type { Readable, Writable } from 'node:stream'

/** What to run. Nothing is inherited: a variable that is not in `env` is not there. */
export interface ProcessSpec {
  /** A path, or a name that is looked up on the `PATH` of `env`. Never a shell line. */
  readonly command: string
  readonly args?: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** An absolute folder. Default: the temporary folder of the machine. */
  readonly cwd?: string
  /**
   * Whether what it started in its group may go on after it has ended, until both output streams have ended or `stop` comes. Default:
   * its end is the end of the group.
   */
  readonly groupOutlivesLeader?: boolean
  /**
   * In a PID namespace of its own, so that also what leaves its group ends with it, whoever dies first. It sees other process ids then, and
   * its exit is told when everything inside has ended. Fails with the reason `EPERM` where the system has none for us.
   */
  readonly contained?: boolean
}

export type GroupSignal = 'SIGINT' | 'SIGTERM' | 'SIGKILL'

/** How a process ended: one of the two is set. `lost` says that nobody could watch the end, because the spawner died first. */
export interface ProcessExit {
  readonly code: number | null
  readonly signal: string | null
  readonly lost?: true
}

export interface RunningProcess {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  /** Read by us as well, so that a child that complains a lot never blocks; listen at once or take `stderrTail`. */
  readonly stderr: Readable
  /** The last of what it wrote to stderr, whole lines where possible. */
  stderrTail(): string
  /** Never rejects. Output that was written before may still be under way in `stdout`: read it to its end. */
  readonly exited: Promise<ProcessExit>
  /** Settles when the process has ended and both output streams have, or were given up because somebody outside the group holds them. */
  readonly closed: Promise<void>
  /** To the whole group, if there is anything left of it. */
  signal(signal: GroupSignal): void
  /**
   * Closes stdin, waits, SIGTERM, waits, SIGKILL: each wait at most `graceMs`, both signals to the whole process group.
   * Throws `ProcessError` `kill_failed` when the process outlives even that (it hangs in the kernel).
   */
  stop(graceMs: number): Promise<ProcessExit>
}

/** Starts and ends processes without ever forking this one. What others need of it comes to them as this port. */
export interface Processes extends AsyncDisposable {
  /** Throws `ProcessError`. */
  start(spec: ProcessSpec): Promise<RunningProcess>
  /** How many run now. */
  count(): number
  /** The process id of the spawner, if it runs. */
  spawnerPid(): number | undefined
  /** Stops all processes as `RunningProcess.stop` does, then the spawner. */
  close(graceMs: number): Promise<void>
}

export type ProcessErrorCode =
  /** The spec itself is wrong: `field` says where. */
  | 'invalid_spec'
  /** The system refused to run the command: `reason` is `ENOENT`, `EACCES`, `E2BIG`, … */
  | 'spawn_failed'
  /** The bound on processes is reached: stop one, or raise `maxProcesses`. */
  | 'too_many_processes'
  /** The spawner cannot be started or died while starting the process: try again. */
  | 'spawner_failed'
  | 'kill_failed'
  | 'closed'

/** A process that could not be started or ended. */
export class ProcessError extends Error {
  readonly code: ProcessErrorCode
  readonly reason: string | undefined
  readonly field: string | undefined
  constructor(code: ProcessErrorCode, message: string, more: { reason?: string; field?: string; cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.name = 'ProcessError'
    this.code = code
    this.reason = more.reason
    this.field = more.field
  }
}
