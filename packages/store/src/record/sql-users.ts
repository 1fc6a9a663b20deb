import { UserId, makeId } from '@parley/protocol'
import { flag, integer, integerOrNull, text, textOrNull } from '../database/column.ts'
import type { Database, Row, Sql, Transaction } from '../database/database.ts'
import { AlreadyExists, Conflict, NotFound } from '../errors.ts'
import { MAX_LIST, checkInteger, checkName } from '../limits.ts'
import { topicSignal } from '../topic/signal-topics.ts'
import { OWNER_DISABLED, cancelAllOf } from './job-owner.ts'
import { cancelled } from './job-transitions.ts'
import { revokeSignIns, revokeTokens } from './revoke.ts'
import { type ExternalIdentity, type UserRecord, type Users, deletedName } from './user.ts'

interface NewUser {
  readonly username: string
  readonly passwordHash: string | null
  readonly admin: boolean
}

/** Accounts. Whatever ends a person's access ends it in the same transaction. */
export class SqlUsers implements Users {
  readonly #db: Database
  readonly #now: () => number
  readonly #random: (size: number) => Uint8Array

  constructor(db: Database, now: () => number, random: (size: number) => Uint8Array) {
    this.#db = db
    this.#now = now
    this.#random = random
  }

  async add(user: NewUser): Promise<UserRecord> {
    const added = await this.#db.transaction((tx) => this.#insert(tx, INSERT, user))
    if (added === undefined) throw new AlreadyExists(`user ${user.username}`)
    return added
  }

  async addFirstAdmin(user: {
    readonly username: string
    readonly passwordHash: string | null
  }): Promise<UserRecord | undefined> {
    return this.#db.transaction(async (tx) => {
      await tx.get(LOCK_USERS, [])
      return this.#insert(tx, INSERT_FIRST, { ...user, admin: true })
    })
  }

  async byId(id: UserId): Promise<UserRecord | undefined> {
    return toUser(await this.#db.get(BY_ID, [id]))
  }

  async byName(username: string): Promise<UserRecord | undefined> {
    return toUser(await this.#db.get('SELECT * FROM users WHERE username = $1 AND deleted_at IS NULL', [username]))
  }

  async oldestAdmin(): Promise<UserRecord | undefined> {
    return toUser(await this.#db.get(OLDEST_ADMIN, []))
  }

  async list({ afterName = '', limit }: { readonly afterName?: string; readonly limit: number }): Promise<readonly UserRecord[]> {
    checkInteger('limit', limit, 1, MAX_LIST)
    const rows = await this.#db.all(LIST, [afterName, limit])
    return rows.flatMap((row) => toUser(row) ?? [])
  }

  async byIdentity({ issuer, subject }: ExternalIdentity): Promise<UserRecord | undefined> {
    return toUser(await this.#db.get(BY_IDENTITY, [issuer, subject]))
  }

  async setDisabled(id: UserId, disabled: boolean): Promise<number> {
    if (!disabled) {
      await this.#change(id, ENABLE, 0, async () => undefined)
      return 0
    }
    return this.#unlessLast(id, DISABLE, [], async (tx) => {
      await this.#endAccess(tx, id)
      // Whoever was adding a job held the row of the account until its commit: all of them are found now.
      return cancelAllOf(tx, id, { reason: OWNER_DISABLED, now: this.#now() })
    })
  }

  async setIdentity(id: UserId, identity: ExternalIdentity | null): Promise<void> {
    if (identity !== null) {
      checkName('issuer', identity.issuer)
      checkName('subject', identity.subject)
    }
    await this.#db.transaction(async (tx) => {
      await tx.get(LOCK_USERS, [])
      const other = identity === null ? undefined : toUser(await tx.get(BY_IDENTITY, [identity.issuer, identity.subject]))
      if (other !== undefined && other.id !== id) throw new AlreadyExists(`this identity: it is ${other.username}'s`)
      const values = [id, identity?.issuer ?? null, identity?.subject ?? null]
      if ((await tx.run(SET_IDENTITY, values)) === 0) throw new NotFound(`user ${id}`)
      announce(tx, id)
    })
  }

  async setAdmin(id: UserId, admin: boolean): Promise<void> {
    if (admin) return this.#change(id, PROMOTE, 1, async () => undefined)
    await this.#unlessLast(id, DEMOTE, [], async () => undefined)
  }

  async delete(id: UserId): Promise<number> {
    return this.#unlessLast(id, DELETE, [this.#now(), deletedName(id)], async (tx) => {
      await tx.run('DELETE FROM quotas WHERE user_id = $1', [id])
      await this.#endAccess(tx, id)
      // Whoever was adding a job held the row of the account until its commit: all of them are found now.
      return cancelAllOf(tx, id, { reason: cancelled(undefined), now: this.#now() })
    })
  }

  async setPassword(
    id: UserId,
    passwordHash: string,
    { from, keepTokens = false }: Parameters<Users['setPassword']>[2] = {},
  ): Promise<void> {
    await this.#db.transaction(async (tx) => {
      const changed =
        from === undefined
          ? await tx.run(SET_PASSWORD, [id, passwordHash])
          : await tx.run(SET_PASSWORD_FROM, [id, passwordHash, from])
      if (changed === 0) {
        if ((await tx.get(BY_ID, [id])) === undefined) throw new NotFound(`user ${id}`)
        throw new Conflict(`user ${id} has another password since`)
      }
      await tx.run(END_LINKS, [id])
      await revokeSignIns(tx, id, this.#now())
      // Whoever knew the old password may have had one made; nobody can tell theirs from the person's own.
      if (!keepTokens) await revokeTokens(tx, id, this.#now())
      announce(tx, id)
    })
  }

  async signedIn(id: UserId): Promise<void> {
    await this.#change(id, SIGNED_IN, this.#now(), async () => undefined)
  }

  async #endAccess(tx: Transaction, id: UserId): Promise<void> {
    await tx.run(END_LINKS, [id])
    await revokeTokens(tx, id, this.#now())
    await revokeSignIns(tx, id, this.#now())
  }

  /** What takes an admin away is done by one at a time, and not to the last one. */
  async #unlessLast<Outcome>(
    id: UserId,
    sql: Sql,
    values: readonly (string | number)[],
    then: (tx: Transaction) => Promise<Outcome>,
  ): Promise<Outcome> {
    return this.#db.transaction(async (tx) => {
      await tx.get(LOCK_USERS, [])
      const user = toUser(await tx.get(BY_ID, [id]))
      if (user === undefined) throw new NotFound(`user ${id}`)
      if ((await tx.run(sql, [id, ...values])) === 0) throw new Conflict(`${user.username} is the last admin who can sign in`)
      const outcome = await then(tx)
      announce(tx, id)
      return outcome
    })
  }

  async #change(id: UserId, sql: Sql, value: string | number, then: (tx: Transaction) => Promise<void>): Promise<void> {
    await this.#db.transaction(async (tx) => {
      if ((await tx.run(sql, [id, value])) === 0) throw new NotFound(`user ${id}`)
      await then(tx)
      announce(tx, id)
    })
  }

  async #insert(tx: Transaction, sql: Sql, { username, passwordHash, admin }: NewUser): Promise<UserRecord | undefined> {
    checkName('username', username)
    const id = makeId(UserId, 'usr', this.#random)
    const row = await tx.get(sql, [id, username, passwordHash, admin ? 1 : 0, this.#now()])
    if (row !== undefined) announce(tx, id)
    return toUser(row)
  }
}

const END_LINKS: Sql = 'DELETE FROM sign_in_links WHERE user_id = $1'
const OLDEST_ADMIN: Sql = 'SELECT * FROM users WHERE admin = 1 AND disabled = 0 ORDER BY created_at, id LIMIT 1'
const COLUMNS = '(id, username, password_hash, admin, created_at)'
const INSERT: Sql = `INSERT INTO users ${COLUMNS} VALUES ($1, $2, $3, $4, $5) ON CONFLICT (username) DO NOTHING RETURNING *`
const INSERT_FIRST: Sql = `INSERT INTO users ${COLUMNS}
  SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS INTEGER), CAST($5 AS BIGINT)
  WHERE NOT EXISTS (SELECT 1 FROM users) RETURNING *`
const BY_ID: Sql = 'SELECT * FROM users WHERE id = $1 AND deleted_at IS NULL'
const BY_IDENTITY: Sql = 'SELECT * FROM users WHERE identity_issuer = $1 AND identity_subject = $2 AND deleted_at IS NULL'
const SET_IDENTITY: Sql = 'UPDATE users SET identity_issuer = $2, identity_subject = $3 WHERE id = $1 AND deleted_at IS NULL'
const LIST: Sql = 'SELECT * FROM users WHERE username > $1 AND deleted_at IS NULL ORDER BY username LIMIT $2'
const ENABLE: Sql = 'UPDATE users SET disabled = $2 WHERE id = $1 AND deleted_at IS NULL'
const PROMOTE: Sql = 'UPDATE users SET admin = $2 WHERE id = $1 AND deleted_at IS NULL'
const SET_PASSWORD = 'UPDATE users SET password_hash = $2 WHERE id = $1 AND deleted_at IS NULL'
const SET_PASSWORD_FROM: Sql = `${SET_PASSWORD} AND password_hash IS NOT DISTINCT FROM $3`
const SIGNED_IN: Sql = 'UPDATE users SET last_sign_in_at = $2 WHERE id = $1 AND deleted_at IS NULL'
/** Without an admin nobody could ever let anybody in again. */
const UNLESS_LAST = `id = $1 AND deleted_at IS NULL
  AND (admin = 0 OR disabled = 1 OR EXISTS (SELECT 1 FROM users other WHERE other.admin = 1 AND other.disabled = 0 AND other.id <> $1))`
const DISABLE: Sql = `UPDATE users SET disabled = 1 WHERE ${UNLESS_LAST}`
const DEMOTE: Sql = `UPDATE users SET admin = 0 WHERE ${UNLESS_LAST}`
const DELETE: Sql = `UPDATE users SET deleted_at = $2, username = $3, password_hash = NULL, admin = 0, disabled = 1,
  last_sign_in_at = NULL, identity_issuer = NULL, identity_subject = NULL WHERE ${UNLESS_LAST}`
/** SQLite's transaction is the only writer already. */
const LOCK_USERS: Sql = { sqlite: 'SELECT 1 AS one', postgres: 'LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE' }

function announce(tx: Transaction, id: UserId): void {
  tx.signal(topicSignal('users'))
  tx.signal(topicSignal(`user/${id}`))
}

export function toUser(row: Row | undefined): UserRecord | undefined {
  return (
    row && {
      id: UserId.parse(text(row, 'id')),
      username: text(row, 'username'),
      passwordHash: textOrNull(row, 'password_hash'),
      admin: flag(row, 'admin'),
      disabled: flag(row, 'disabled'),
      createdAt: integer(row, 'created_at'),
      lastSignInAt: integerOrNull(row, 'last_sign_in_at'),
      identity: identityOf(row),
    }
  )
}

function identityOf(row: Row): ExternalIdentity | null {
  const issuer = textOrNull(row, 'identity_issuer')
  const subject = textOrNull(row, 'identity_subject')
  return issuer === null || subject === null ? null : { issuer, subject }
}
