/** Where a link hands in what it hears. */
export interface FrameSink {
  /** One text, whole. */
  text(text: string): void
  /** Bytes that are no text, in the parts in which they came: where one ends means nothing. Without this they are a fault. */
  bytes?(parts: readonly Buffer[]): void
  /** Something came that is no text, or is too long. It is passed over and the link stays. */
  fault(reason: string): void
  /** Nothing more will come. Told once. */
  ended(reason: string): void
}

/**
 * A way for texts in both directions, whatever carries it: a WebSocket, a socket file, a pipe with one text a line. It knows
 * nothing of what the texts mean.
 */
export interface FrameLink {
  /** Begins to listen. What came before waits. Called once. */
  open(sink: FrameSink): void
  /** Sends a text. On a link that has ended it does nothing. */
  send(text: string): void
  /** Sends bytes that are no text, as one message, without copying its parts together. Not there on a wire that carries texts alone. */
  sendBytes?(parts: readonly Buffer[]): void
  /** What was sent and has not left this process yet. */
  bufferedBytes(): number
  /** Settles when no more than this waits to leave this process, which is nothing unless it is said, or the link has ended. */
  drained(belowBytes?: number): Promise<void>
  /** Ends it, with words for the other side where the wire has room for them. */
  close(reason?: string): void
}

/** Every bound of a link, by name. */
export interface FrameLimits {
  /** The longest text, in bytes. */
  readonly frameBytes: number
  /** What may wait for a peer that does not read before the link is ended. */
  readonly unsentBytes: number
  /** How long a WebSocket may take to open. */
  readonly openMs: number
  /** A WebSocket is pinged this often, and ended when a ping was not answered until the next. */
  readonly pingMs: number
  /** Links that one listener holds at once. */
  readonly links: number
  /** Connections that one listener holds, those that say nothing among them: the oldest of these is closed for one more. */
  readonly connections: number
  /** The largest message on the wire; a longer text goes in pieces. For what hands them on and must not hold much. */
  readonly pieceBytes?: number
}

export const DEFAULT_FRAME_LIMITS: FrameLimits = {
  frameBytes: 64 * 1024 * 1024,
  unsentBytes: 64 * 1024 * 1024,
  openMs: 10_000,
  pingMs: 30_000,
  links: 64,
  connections: 512,
}
