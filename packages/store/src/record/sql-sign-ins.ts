import { UserId } from '@parley/protocol'
import { integer, integerOrNull, text } from '../database/column.ts'
import type { Database, Sql } from '../database/database.ts'
import { AlreadyExists } from '../errors.ts'
import { checkName } from '../limits.ts'
import { topicSignal } from '../topic/signal-topics.ts'
import { checkEnabled, revokeSignIns } from './revoke.ts'
import type { LinkRecord, SignInRecord, SignIns } from './sign-in.ts'

/** How long one can still be told that a link is over. */
const LINK_REMEMBERED_MS = 24 * 3_600_000

/** Sign-ins and one-time links. */
export class SqlSignIns implements SignIns {
  readonly #db: Database
  readonly #now: () => number

  constructor(db: Database, now: () => number) {
    this.#db = db
    this.#now = now
  }

  async add({
    jti,
    userId,
    expiresAt,
  }: {
    readonly jti: string
    readonly userId: UserId
    readonly expiresAt: number
  }): Promise<void> {
    checkName('jti', jti)
    await this.#add(userId, `sign-in ${jti}`, ADD, [jti, userId, expiresAt])
  }

  async get(jti: string): Promise<SignInRecord | undefined> {
    const row = await this.#db.get('SELECT user_id, expires_at, revoked_at FROM sign_ins WHERE jti = $1', [jti])
    return (
      row && {
        jti,
        userId: UserId.parse(text(row, 'user_id')),
        expiresAt: integer(row, 'expires_at'),
        revokedAt: integerOrNull(row, 'revoked_at'),
      }
    )
  }

  async revoke(jti: string): Promise<void> {
    await this.#db.change(REVOKE, [jti, this.#now()], topicSignal(`sign-in/${jti}`))
  }

  async revokeAllOf(userId: UserId): Promise<void> {
    await this.#db.transaction((tx) => revokeSignIns(tx, userId, this.#now()))
  }

  async addLink({
    hash,
    userId,
    expiresAt,
  }: {
    readonly hash: string
    readonly userId: UserId
    readonly expiresAt: number
  }): Promise<void> {
    checkName('hash', hash)
    await this.#add(userId, 'a link with this hash', ADD_LINK, [hash, userId, expiresAt])
  }

  async takeLink(hash: string): Promise<UserId | undefined> {
    const row = await this.#db.get(TAKE_LINK, [hash, this.#now()])
    return row && UserId.parse(text(row, 'user_id'))
  }

  async findLink(hash: string): Promise<LinkRecord | undefined> {
    const row = await this.#db.get('SELECT user_id, expires_at, used_at FROM sign_in_links WHERE hash = $1', [hash])
    if (row === undefined) return undefined
    const expiresAt = integer(row, 'expires_at')
    const isUsed = integerOrNull(row, 'used_at') !== null
    const state = isUsed ? 'used' : expiresAt <= this.#now() ? 'expired' : 'good'
    return { userId: UserId.parse(text(row, 'user_id')), expiresAt, state }
  }

  async sweep(): Promise<void> {
    await this.#db.run('DELETE FROM sign_ins WHERE expires_at <= $1', [this.#now()])
    await this.#db.run('DELETE FROM sign_in_links WHERE expires_at <= $1', [this.#now() - LINK_REMEMBERED_MS])
  }

  async #add(userId: UserId, what: string, sql: Sql, values: readonly (string | number)[]): Promise<void> {
    await this.#db.transaction(async (tx) => {
      await checkEnabled(tx, userId)
      if ((await tx.run(sql, values)) === 0) throw new AlreadyExists(what)
    })
  }
}

const ADD: Sql = 'INSERT INTO sign_ins (jti, user_id, expires_at) VALUES ($1, $2, $3) ON CONFLICT (jti) DO NOTHING'
const ADD_LINK: Sql = 'INSERT INTO sign_in_links (hash, user_id, expires_at) VALUES ($1, $2, $3) ON CONFLICT (hash) DO NOTHING'
const REVOKE: Sql = 'UPDATE sign_ins SET revoked_at = $2 WHERE jti = $1 AND revoked_at IS NULL'
const TAKE_LINK: Sql =
  'UPDATE sign_in_links SET used_at = $2 WHERE hash = $1 AND expires_at > $2 AND used_at IS NULL RETURNING user_id'
