import type { Era, Revision } from '../revision.ts'
import type { ClientLimits } from './client-limits.ts'

/** One request on its way out, already as text. */
export interface OutgoingRequest {
  readonly id: number
  readonly method: string
  readonly text: string
  /** What modern HTTP repeats from the body: `Mcp-Method` and the like. */
  readonly headers: Readonly<Record<string, string>> | undefined
}

/** How a connection ended: the WebSocket's close code where there is one, and why. */
export interface WireEnd {
  readonly code: number | undefined
  readonly reason: string
}

/** Where a wire hands in what it hears. */
export interface Sink {
  /**
   * One message. `during` is the request on whose own stream it came, where the wire can tell.
   * Answers whether it settled that request.
   */
  receive(text: string, during?: number): boolean
  /** One request will get no answer. */
  fail(id: number, error: Error): void
  /** The server forgot our session. */
  sessionLost(): void
  ended(end: WireEnd): void
}

/** An open way to one server. Everything it hears goes to the sink it was opened with. */
export interface Wire {
  readonly kind: 'http' | 'websocket' | 'stdio' | 'memory'
  request(request: OutgoingRequest): void
  /** Sends a notification or an answer. Settles when the wire took it. */
  send(text: string): Promise<void> | void
  /** Nobody waits for this request any more: its stream can go. */
  abandon(id: number): void
  /** What the handshake agreed on, before anything else is sent. */
  agreed(era: Era, revision: Revision): void
  /** The legacy handshake is over: a wire with a separate stream for the server opens it now. */
  initialized(): void
  /** A legacy session is to be opened anew. */
  forgetSession(): void
  bufferedBytes(): number
  close(): Promise<void>
}

/** A way to reach a server, not opened yet. One transport is opened once. */
export interface ClientTransport {
  readonly kind: Wire['kind']
  open(sink: Sink, limits: ClientLimits, warn: (message: string) => void): Promise<Wire> | Wire
}
