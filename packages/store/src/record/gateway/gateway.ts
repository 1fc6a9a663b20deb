/** A gateway that serves this store, and where workers reach it. */
export interface GatewayRecord {
  /** New at each start. */
  readonly id: string
  readonly url: string
  readonly startedAt: number
  readonly lastSeenAt: number
}

/** The gateways that run. Publishes `gateways` when one comes or goes. */
export interface Gateways {
  /** Says that it is there, and again from time to time. */
  announce(gateway: Pick<GatewayRecord, 'id' | 'url'>): Promise<void>
  /** Those that were heard of since. */
  list(sinceMs: number): Promise<readonly GatewayRecord[]>
  remove(id: string): Promise<void>
  prune(before: number): Promise<number>
}
