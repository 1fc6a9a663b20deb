import { UserId, makeId } from '@parley/protocol'
import { type Database, type Sql, type Transaction, AlreadyExists, Conflict, NotFound } from '@parley/database'
import { MAX_LIST, checkInteger, checkName } from '../../limits.ts'
import { topicSignal } from '../../topic/signal-topics.ts'
import { revokeSignIns, revokeTokens } from '../access/revoke.ts'
import { markAllOf, withdrawAllOf } from '../agent/owner.ts'
import { GRANTS_CHANGED } from '../grant/sql-grants.ts'
import { OWNER_DISABLED, cancelAllOf } from '../job/owner.ts'
import { cancelled } from '../job/transitions.ts'
import { toUser } from './row.ts'
import * as sql from './statements.ts'
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
    const added = await this.#db.transaction((tx) => this.#insert(tx, sql.INSERT, user))
    if (added === undefined) throw new AlreadyExists(`user ${user.username}`)
    return added
  }

  async addFirstAdmin(user: {
    readonly username: string
    readonly passwordHash: string | null
  }): Promise<UserRecord | undefined> {
    return this.#db.transaction(async (tx) => {
      await tx.get(sql.LOCK_USERS, [])
      return this.#insert(tx, sql.INSERT_FIRST, { ...user, admin: true })
    })
  }

  async byId(id: UserId): Promise<UserRecord | undefined> {
    return toUser(await this.#db.get(sql.BY_ID, [id]))
  }

  async byName(username: string): Promise<UserRecord | undefined> {
    return toUser(await this.#db.get(sql.BY_NAME, [username]))
  }

  async oldestAdmin(): Promise<UserRecord | undefined> {
    return toUser(await this.#db.get(sql.OLDEST_ADMIN, []))
  }

  async list({ afterName = '', limit }: { readonly afterName?: string; readonly limit: number }): Promise<readonly UserRecord[]> {
    checkInteger('limit', limit, 1, MAX_LIST)
    const rows = await this.#db.all(sql.LIST, [afterName, limit])
    return rows.flatMap((row) => toUser(row) ?? [])
  }

  async byIdentity({ issuer, subject }: ExternalIdentity): Promise<UserRecord | undefined> {
    return toUser(await this.#db.get(sql.BY_IDENTITY, [issuer, subject]))
  }

  async setDisabled(id: UserId, disabled: boolean): Promise<number> {
    if (!disabled) {
      await this.#change(id, sql.ENABLE, 0, async () => undefined)
      return 0
    }
    return this.#unlessLast(id, sql.DISABLE, [], async (tx) => {
      await withdrawAllOf(tx, id)
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
      await tx.get(sql.LOCK_USERS, [])
      const other = identity === null ? undefined : toUser(await tx.get(sql.BY_IDENTITY, [identity.issuer, identity.subject]))
      if (other !== undefined && other.id !== id) throw new AlreadyExists(`this identity: it is ${other.username}'s`)
      const values = [id, identity?.issuer ?? null, identity?.subject ?? null]
      if ((await tx.run(sql.SET_IDENTITY, values)) === 0) throw new NotFound(`user ${id}`)
      announceUser(tx, id)
    })
  }

  async setAdmin(id: UserId, admin: boolean): Promise<void> {
    if (admin) return this.#change(id, sql.PROMOTE, 1, async () => undefined)
    await this.#unlessLast(id, sql.DEMOTE, [], async () => undefined)
  }

  async delete(id: UserId): Promise<number> {
    return this.#unlessLast(id, sql.DELETE, [this.#now(), deletedName(id)], async (tx) => {
      await tx.run(sql.DELETE_QUOTA, [id])
      await tx.run(sql.DELETE_POLICIES, [id])
      if ((await tx.run(sql.DELETE_GRANT, [id])) > 0) tx.signal(GRANTS_CHANGED)
      await markAllOf(tx, id, this.#now())
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
          ? await tx.run(sql.SET_PASSWORD, [id, passwordHash])
          : await tx.run(sql.SET_PASSWORD_FROM, [id, passwordHash, from])
      if (changed === 0) {
        if ((await tx.get(sql.BY_ID, [id])) === undefined) throw new NotFound(`user ${id}`)
        throw new Conflict(`user ${id} has another password since`)
      }
      await tx.run(sql.END_LINKS, [id])
      await revokeSignIns(tx, id, this.#now())
      // Somebody who knew the old password may have made some, which cannot be told from the person's own.
      if (!keepTokens) await revokeTokens(tx, id, this.#now())
      announceUser(tx, id)
    })
  }

  async signedIn(id: UserId): Promise<void> {
    await this.#change(id, sql.SIGNED_IN, this.#now(), async () => undefined)
  }

  async #endAccess(tx: Transaction, id: UserId): Promise<void> {
    await tx.run(sql.END_LINKS, [id])
    await revokeTokens(tx, id, this.#now())
    await revokeSignIns(tx, id, this.#now())
  }

  /** Disables, demotes or deletes: one transaction at a time, and never the last admin. */
  async #unlessLast<Outcome>(
    id: UserId,
    statement: Sql,
    values: readonly (string | number)[],
    then: (tx: Transaction) => Promise<Outcome>,
  ): Promise<Outcome> {
    return this.#db.transaction(async (tx) => {
      await tx.get(sql.LOCK_USERS, [])
      const user = toUser(await tx.get(sql.BY_ID, [id]))
      if (user === undefined) throw new NotFound(`user ${id}`)
      if ((await tx.run(statement, [id, ...values])) === 0)
        throw new Conflict(`${user.username} is the last admin who can sign in`)
      const outcome = await then(tx)
      announceUser(tx, id)
      return outcome
    })
  }

  async #change(id: UserId, statement: Sql, value: string | number, then: (tx: Transaction) => Promise<void>): Promise<void> {
    await this.#db.transaction(async (tx) => {
      if ((await tx.run(statement, [id, value])) === 0) throw new NotFound(`user ${id}`)
      await then(tx)
      announceUser(tx, id)
    })
  }

  async #insert(tx: Transaction, statement: Sql, { username, passwordHash, admin }: NewUser): Promise<UserRecord | undefined> {
    checkName('username', username)
    const id = makeId(UserId, 'usr', this.#random)
    const row = await tx.get(statement, [id, username, passwordHash, admin ? 1 : 0, this.#now()])
    if (row !== undefined) announceUser(tx, id)
    return toUser(row)
  }
}

function announceUser(tx: Transaction, id: UserId): void {
  tx.signal(topicSignal('users'))
  tx.signal(topicSignal(`user/${id}`))
}
