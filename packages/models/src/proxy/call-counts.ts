import type { TokenUsage } from '@parley/protocol'

/** Told what passes the proxy, by whoever makes numbers of it. */
export interface CallCounts {
  /** A request was taken on; it left again. */
  entered(): void
  left(): void
  /** One that went to a model ended. */
  ended(wire: string, outcome: string): void
  refused(status: number, code: string): void
  /** `costMicrousd`: null where there is no price. */
  booked(tokens: TokenUsage, costMicrousd: number | null): void
}
