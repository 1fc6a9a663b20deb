import { type Database, type Row, type Sql, integer, text } from '@parley/database'
import { MAX_LIST, checkName } from '../../limits.ts'
import { topicSignal } from '../../topic/signal-topics.ts'
import type { GatewayRecord, Gateways } from './gateway.ts'

const TOPIC = topicSignal('gateways')

/** Gateways by their id. */
export class SqlGateways implements Gateways {
  readonly #db: Database
  readonly #now: () => number

  constructor(db: Database, now: () => number) {
    this.#db = db
    this.#now = now
  }

  async announce({ id, url }: Pick<GatewayRecord, 'id' | 'url'>): Promise<void> {
    checkName('id', id)
    checkName('url', url)
    await this.#db.transaction(async (tx) => {
      if ((await tx.run(AGAIN, [id, url, this.#now()])) > 0) return
      await tx.run(ADD, [id, url, this.#now()])
      tx.signal(TOPIC)
    })
  }

  async list(sinceMs: number): Promise<readonly GatewayRecord[]> {
    return (await this.#db.all(LIST, [sinceMs, MAX_LIST])).map(toGateway)
  }

  async remove(id: string): Promise<void> {
    await this.#db.change('DELETE FROM gateways WHERE id = $1', [id], TOPIC)
  }

  async prune(before: number): Promise<number> {
    return this.#db.change('DELETE FROM gateways WHERE last_seen_at < $1', [before], TOPIC)
  }
}

function toGateway(row: Row): GatewayRecord {
  return {
    id: text(row, 'id'),
    url: text(row, 'url'),
    startedAt: integer(row, 'started_at'),
    lastSeenAt: integer(row, 'last_seen_at'),
  }
}

const AGAIN: Sql = 'UPDATE gateways SET last_seen_at = $3 WHERE id = $1 AND url = $2'
const ADD: Sql = `INSERT INTO gateways (id, url, started_at, last_seen_at) VALUES ($1, $2, $3, $3)
  ON CONFLICT (id) DO UPDATE SET url = $2, last_seen_at = $3`
const LIST: Sql = 'SELECT * FROM gateways WHERE last_seen_at >= $1 ORDER BY started_at, id LIMIT $2'
