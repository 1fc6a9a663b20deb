import { Grant, NO_GRANT, UserId, parseJson } from '@parley/protocol'
import { type Database, type Row, type Sql, NotFound, integer, text, toJson } from '@parley/database'
import { MAX_LIST } from '../../limits.ts'
import { topicSignal } from '../../topic/signal-topics.ts'
import type { GrantRecord, Grants } from './grant.ts'

/** The signal of `grants`. */
export const GRANTS_CHANGED = topicSignal('grants')

/** What people's agents may run. Nobody has a row until something is granted; it goes with the account. */
export class SqlGrants implements Grants {
  readonly #db: Database
  readonly #now: () => number

  constructor(db: Database, now: () => number) {
    this.#db = db
    this.#now = now
  }

  async set(userId: UserId, grant: Grant): Promise<GrantRecord> {
    const body = toJson('grant', Grant, grant)
    return this.#db.transaction(async (tx) => {
      if ((await tx.run(SET, [userId, body, this.#now()])) === 0) throw new NotFound(`user ${userId}`)
      tx.signal(GRANTS_CHANGED)
      const row = await tx.get(ONE, [userId])
      if (row === undefined) throw new TypeError(`the grant of ${userId} vanished inside a transaction`)
      return toGrant(row)
    })
  }

  async of(userId: UserId): Promise<Grant> {
    const row = await this.#db.get(ONE, [userId])
    return row === undefined ? NO_GRANT : toGrant(row).grant
  }

  async list(): Promise<readonly GrantRecord[]> {
    return (await this.#db.all(LIST, [MAX_LIST])).map(toGrant)
  }
}

export function toGrant(row: Row): GrantRecord {
  return {
    userId: UserId.parse(text(row, 'user_id')),
    username: text(row, 'username'),
    grant: Grant.parse(parseJson(text(row, 'body'))),
    setAt: integer(row, 'set_at'),
  }
}

const set = (lock: string) => `INSERT INTO grants (user_id, body, set_at)
  SELECT id, CAST($2 AS TEXT), CAST($3 AS BIGINT) FROM users WHERE id = $1 AND deleted_at IS NULL ${lock}
  ON CONFLICT (user_id) DO UPDATE SET body = excluded.body, set_at = excluded.set_at`
/** $1 user, $2 grant, $3 now. Deleting the account waits for this and takes it away, or it came first and is seen here. */
const SET: Sql = { sqlite: set(''), postgres: set('FOR SHARE') }
const SELECT = 'SELECT g.*, u.username FROM grants g JOIN users u ON u.id = g.user_id'
const ONE: Sql = `${SELECT} WHERE g.user_id = $1`
const LIST: Sql = `${SELECT} ORDER BY u.username LIMIT $1`
