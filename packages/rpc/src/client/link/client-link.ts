import type { Wire } from '../../door.ts'
import type { Era, Revision } from '../../revision.ts'
import type { ClientLimits } from '../client-limits.ts'

/** One request on its way out, already as text. */
export interface OutgoingRequest {
  readonly id: number
  readonly method: string
  readonly text: string
  /** What modern HTTP repeats from the body: `Mcp-Method` and the like. */
  readonly headers: Readonly<Record<string, string>> | undefined
}

/** How a link ended: the WebSocket's close code where there is one, and why. */
export interface LinkEnd {
  readonly code: number | undefined
  readonly reason: string
}

/** Where a link hands in what it hears. */
export interface Sink {
  /**
   * One message. `during` is the request on whose own stream it came, where the link can tell.
   * Answers whether it settled that request.
   */
  receive(text: string, during?: number): boolean
  /** One request will get no answer. */
  fail(id: number, error: Error): void
  /** The server forgot our session. */
  sessionLost(): void
  ended(end: LinkEnd): void
}

/**
 * A client's end of an open way to one server. Everything it hears goes to the sink it was opened with. What is optional is for
 * HTTP, where each request has a stream of its own and a session is named in headers; a socket or a pipe needs none of it.
 */
export interface ClientLink {
  readonly kind: Wire
  /** Sends a message. Settles when the link took it. */
  send(text: string): Promise<void> | void
  /** Sends a request whose answer comes on its own stream. Left out: `send`. */
  request?(request: OutgoingRequest): void
  /** Nobody waits for this request any more: its stream can go. */
  abandon?(id: number): void
  /** What the handshake agreed on, before anything else is sent. */
  agreed?(era: Era, revision: Revision): void
  /** The legacy handshake is over: the stream for what the server says by itself is opened now. */
  initialized?(): void
  /** A legacy session is to be opened anew. */
  forgetSession?(): void
  bufferedBytes(): number
  close(): Promise<void>
}

/** A way to reach a server, not opened yet. One transport is opened once. */
export interface ClientTransport {
  readonly kind: Wire
  /** What its server said beside messages, as words that follow why it could not be spoken with; empty where it said nothing. */
  said?(): string
  open(sink: Sink, limits: ClientLimits, warn: (message: string) => void): Promise<ClientLink> | ClientLink
}
