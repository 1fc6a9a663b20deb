/** Every bound of a relay, by name. */
export interface RelayLimits {
  /** Upstream connections besides the shared one: for sessions that can be asked something, and for such calls of modern clients. */
  readonly ownUpstreams: number
  /** Calls of modern clients that wait upstream for an answer, and how long each may wait for it. */
  readonly parkedCalls: number
  readonly parkedMs: number
  /** How long one call may take upstream. */
  readonly callMs: number
  /** How long a modern server may take to say whether it speaks with legacy clients too. */
  readonly eraProbeMs: number
  /** First and longest wait before an upstream that ended is dialled again. */
  readonly reconnectMs: number
  readonly reconnectMaxMs: number
}

export const DEFAULT_RELAY_LIMITS: RelayLimits = {
  ownUpstreams: 32,
  parkedCalls: 256,
  parkedMs: 10 * 60_000,
  callMs: 60 * 60_000,
  eraProbeMs: 10_000,
  reconnectMs: 250,
  reconnectMaxMs: 10_000,
}
