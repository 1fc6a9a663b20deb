import { type ToolDesk, openToolDesk } from '@parley/gateway/testing'
import type { Database } from '@parley/database'
import type { Store } from '@parley/store'
import { storeOver } from '@parley/store/testing'
import type { SeededRandom } from '../random.ts'
import type { HostLink } from './host-link.ts'
import { type DatabaseSteps, SteppedDatabase } from './stepped-database.ts'
import type { Actor, Steps } from './steps.ts'

export interface GatewayOptions {
  readonly steps: Steps
  readonly random: SeededRandom
  readonly shared: Database
  readonly database: DatabaseSteps
  /** What stands between a gateway and what it keeps, for tests of what is found. */
  readonly storeFor?: (store: Store, db: Database) => Store
}

const MOUNT_KEY = new Uint8Array(32)

/** A gateway from its start to its death: the real tools on the real store, without doors. All that it remembers dies with it. */
export class SteppedGateway implements Actor {
  readonly name: string
  isDead = false
  stoppedUntil = 0
  readonly store: Store
  readonly desk: ToolDesk
  /** Connections of hosts to it, and whatever else ends when it does. */
  readonly links = new Set<Pick<HostLink, 'cut'>>()
  readonly #db: SteppedDatabase

  constructor(name: string, { steps, random, shared, database, storeFor = (store) => store }: GatewayOptions) {
    this.name = name
    const now = (): number => steps.now
    const bytes = (size: number): Uint8Array => random.bytes(size)
    this.#db = new SteppedDatabase(shared, steps, this, database)
    this.store = storeFor(storeOver(this.#db, { now, random: bytes }), this.#db)
    this.desk = openToolDesk({ store: this.store, now, random: (size) => random.bytes(size), mountKey: MOUNT_KEY })
  }

  kill(): void {
    this.isDead = true
    void this.#db.close()
    for (const link of [...this.links]) link.cut()
  }
}
