/** Where messages to one client go: a response, a stream, a socket, a pipe. */
export interface Outlet {
  /** Sends one message. False when the reader lags and it was not taken. */
  send(text: string): boolean
  /**
   * Settles when there is room again, or when the outlet is gone and its owner knows. Never at once while `send` refuses:
   * whoever sends again then would go round for ever.
   */
  drained(): Promise<void>
  /** Whether nobody reads it now, though somebody may come back for it. Left out: who stops reading ends it. */
  readonly isUnread?: boolean
  /** Begins the answer now, where whoever waits for it would give up before its first byte. */
  begin?(): void
  /** Ends the connection but not the stream, where the client can come back for the rest. */
  drop?(): void
}
