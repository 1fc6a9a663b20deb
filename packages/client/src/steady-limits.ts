/** Every bound of a steady client, by name. Tests shorten the times. */
export interface SteadyLimits {
  /** Waits between tries to reach the gateway: doubled from the first to the last, each cut by up to a half at random. */
  readonly reconnectMinMs: number
  readonly reconnectMaxMs: number
  /** While the token is refused the longest wait is so many times as long: somebody has to mend that, and every try stands in the audit log. */
  readonly refusedTimes: number
  /** A connection that is not there within this is not waited for any longer. */
  readonly connectMs: number
  /** A call that is not answered within this is taken for lost, and the connection with it. */
  readonly callMs: number
  /** Failures of the gateway's own (`internal`) that one call survives. */
  readonly internalFailures: number
}

export const STEADY_LIMITS: SteadyLimits = {
  reconnectMinMs: 200,
  reconnectMaxMs: 10_000,
  refusedTimes: 30,
  connectMs: 30_000,
  callMs: 60_000,
  internalFailures: 3,
}
