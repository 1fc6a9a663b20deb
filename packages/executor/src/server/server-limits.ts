/** Every bound of an exec-server, by name. */
export interface ServerLimits {
  readonly sessions: number
  readonly processesPerSession: number
  /** Processes of a session that have ended and can still be read. */
  readonly readablePerSession: number
  /** Processes that run at once, of all sessions. */
  readonly processes: number
  /** What may be kept of the output of all processes of a session together. */
  readonly sessionBytes: number
  /** Requests of one connection that are under way. */
  readonly requestsPerLink: number
  /** How far output is pushed ahead of a connection that does not take it. */
  readonly pushAheadBytes: number
  /** How long a process can be read from after its end. */
  readonly readableMs: number
  /** The largest file that is read or written at once. */
  readonly fileBytes: number
  /** Entries of a folder that are listed. */
  readonly folderEntries: number
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  sessions: 64,
  processesPerSession: 64,
  readablePerSession: 256,
  processes: 256,
  sessionBytes: 256 * 1024 * 1024,
  requestsPerLink: 1_024,
  pushAheadBytes: 1024 * 1024,
  readableMs: 30_000,
  fileBytes: 32 * 1024 * 1024,
  folderEntries: 10_000,
}
