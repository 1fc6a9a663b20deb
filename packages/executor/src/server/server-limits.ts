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
  /** The bytes of the requests of one connection that are under way. */
  readonly requestBytesPerLink: number
  /** The bytes of the requests of all connections that are under way, also of those that have ended since. */
  readonly requestBytes: number
  /** What is kept of it for each session beside that, so that nobody is shut out by the requests of others. */
  readonly requestBytesKept: number
  /** Values in one message, and how deep they stand in each other. What it takes to parse one goes by these. */
  readonly messageValues: number
  readonly nestingDepth: number
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
  requestBytesPerLink: 64 * 1024 * 1024,
  requestBytes: 256 * 1024 * 1024,
  requestBytesKept: 1024 * 1024,
  messageValues: 100_000,
  nestingDepth: 64,
  pushAheadBytes: 1024 * 1024,
  readableMs: 30_000,
  fileBytes: 32 * 1024 * 1024,
  folderEntries: 10_000,
}
