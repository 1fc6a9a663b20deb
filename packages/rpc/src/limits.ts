import type { ParseBounds } from '@parley/protocol/wire'
import { DEFAULT_TASK_LIMITS, type TaskLimits } from '@parley/task'

/** Every bound of the wires, by name, those of what one message or batch holds among them. A limit that is reached says so to whoever reached it. */
export interface Limits extends TaskLimits, ParseBounds {
  /** The largest message that is taken, in bytes. */
  readonly messageBytes: number
  /** The largest answer, and all answers to a batch together. */
  readonly answerBytes: number
  /** Messages in one batch (2025-03-26). */
  readonly batchMessages: number
  /** Requests that one connection or session may have under way. One on which more are sent, one behind the other, is closed. */
  readonly inFlightRequests: number
  /** Requests that one person may have under way, with all their tokens and on all their connections. */
  readonly callsPerCaller: number
  /** Requests of ours that one client may leave unanswered. */
  readonly pendingAsks: number
  /**
   * Connections at once. For one more, that one is closed whose client has kept us waiting the longest; where all of them
   * wait for us, the new one is.
   */
  readonly connections: number
  /** Sessions, sockets and streams that one person may hold open, with all their tokens. */
  readonly linksPerCaller: number
  /** Sessions, sockets and streams in all, and how many of them are kept for callers that `hasKeptRoom`. */
  readonly links: number
  readonly linksKept: number
  /** Bytes of bodies and messages that are under way or being served: of one person, of one address before we know who it is. */
  readonly bodyBytesPerCaller: number
  readonly bodyBytesPerAddress: number
  /** The same in all, and how much of it is kept for callers that `hasKeptRoom`. */
  readonly bodyBytes: number
  readonly bodyBytesKept: number
  /** Messages of one person that are served in one turn of the event loop; the next ones wait until the others had theirs. */
  readonly turnMessages: number
  /** The same in bytes; a larger message has a turn to itself. */
  readonly turnBytes: number
  /** Frames of one socket that may wait for their turn. */
  readonly waitingFrames: number
  /** Resources that one session or listen request may watch. */
  readonly subscriptions: number
  /** Resources that one person may watch, on all their connections. */
  readonly subscriptionsPerCaller: number
  /** A legacy session without a request or a stream is ended after this. */
  readonly sessionIdleMs: number
  /** One at which nobody has been for so long, with no stream or request, is ended where there is no room for another. */
  readonly sessionUnattendedMs: number
  /** How long a client has to send its body, and how long a socket may be silent before a ping. */
  readonly requestTimeoutMs: number
  /** Comment lines and pings that keep streams open through proxies. */
  readonly keepAliveMs: number
  /** A JSON answer that takes longer than this becomes a stream, so that it can be kept alive. */
  readonly streamAfterMs: number
  /** Bytes that may wait for a slow reader of one stream or socket. */
  readonly streamBufferBytes: number
  /** Bytes of answers and streams that one person has not read yet, on all their connections. */
  readonly unreadBytesPerCaller: number
  /** The same in all, and how much of it is kept for callers that `hasKeptRoom`. */
  readonly unreadBytes: number
  readonly unreadBytesKept: number
  /** A reader that has not taken anything of what waits for it for this long is cut. */
  readonly stalledReaderMs: number
  /** Events kept per session for `Last-Event-ID`, in bytes and in number. */
  readonly replayBytes: number
  readonly replayEvents: number
  /** The same in bytes, for all sessions of one person and for all there are. */
  readonly replayBytesPerCaller: number
  readonly replayBytesInAll: number
  /** How long we wait for a client's answer to a request of ours. */
  readonly askTimeoutMs: number
  /** Rounds of `input_required` that one call may take. */
  readonly inputRounds: number
  /** How long sealed request state stays good. */
  readonly requestStateMs: number
}

const MIB = 1024 * 1024

export const DEFAULT_LIMITS: Limits = {
  ...DEFAULT_TASK_LIMITS,
  messageBytes: 16 * 1024 * 1024,
  answerBytes: 16 * MIB,
  messageValues: 100_000,
  nestingDepth: 64,
  batchMessages: 64,
  inFlightRequests: 256,
  callsPerCaller: 1_024,
  pendingAsks: 32,
  connections: 30_000,
  linksPerCaller: 1_000,
  links: 20_000,
  linksKept: 2_000,
  bodyBytesPerCaller: 64 * MIB,
  bodyBytesPerAddress: MIB,
  bodyBytes: 256 * MIB,
  bodyBytesKept: 64 * MIB,
  turnMessages: 64,
  turnBytes: 4 * MIB,
  waitingFrames: 2_048,
  subscriptions: 1_024,
  subscriptionsPerCaller: 8_192,
  sessionIdleMs: 30 * 60_000,
  sessionUnattendedMs: 60_000,
  requestTimeoutMs: 60_000,
  keepAliveMs: 15_000,
  streamAfterMs: 10_000,
  streamBufferBytes: 4 * 1024 * 1024,
  unreadBytesPerCaller: 64 * MIB,
  unreadBytes: 256 * MIB,
  unreadBytesKept: 64 * MIB,
  stalledReaderMs: 60_000,
  replayBytes: 1024 * 1024,
  replayEvents: 1_000,
  replayBytesPerCaller: 16 * MIB,
  replayBytesInAll: 128 * MIB,
  askTimeoutMs: 10 * 60_000,
  inputRounds: 10,
  requestStateMs: 10 * 60_000,
}
