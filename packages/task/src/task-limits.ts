/** Every bound of tasks, by name. */
export interface TaskLimits {
  /** Tasks of one person, and in all: those that work, and those whose result is kept. */
  readonly tasksPerCaller: number
  readonly tasks: number
  /** Bytes of results and questions that are kept for one person, and in all. */
  readonly taskBytesPerCaller: number
  readonly taskBytes: number
  /** How long a task may work, from when it was made. A person may take an hour to decide, and the call runs after that. */
  readonly taskMs: number
  /** How long its result is kept at least, from its end. */
  readonly taskKeptMs: number
  /** How often a client is asked to look. */
  readonly taskPollMs: number
  /** How often a held call that is no task tells its client that it is still waited for. Some give up after 60 seconds. */
  readonly stillHeldMs: number
  /** How long one request of a client that neither takes tasks nor wants progress is held; then it is to ask again for the same call. */
  readonly roundMs: number
  /** How long it may take to do so; then nobody waits for the call any more. */
  readonly roundAwayMs: number
}

const MIB = 1024 * 1024

export const DEFAULT_TASK_LIMITS: TaskLimits = {
  tasksPerCaller: 256,
  tasks: 4_096,
  taskBytesPerCaller: 32 * MIB,
  taskBytes: 128 * MIB,
  taskMs: 4 * 60 * 60_000,
  taskKeptMs: 30 * 60_000,
  taskPollMs: 2_000,
  stillHeldMs: 20_000,
  roundMs: 40_000,
  roundAwayMs: 10_000,
}
