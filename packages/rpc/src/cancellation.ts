/**
 * The part of an `AbortSignal` that waiting code needs; a real one serves as well. One signal per call would cost
 * kilobytes until the collector gets to it, and on a busy relay that adds up to hundreds of megabytes.
 */
export interface Cancellation {
  readonly aborted: boolean
  /** `CallCancelled` where whoever waited does not want it any more. */
  readonly reason?: unknown
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once: true }): void
  removeEventListener(type: 'abort', listener: () => void): void
}
