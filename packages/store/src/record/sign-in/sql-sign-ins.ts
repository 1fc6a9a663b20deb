import { UserId } from '@parley/protocol'
import {
  type Database,
  type Sql,
  type Transaction,
  AlreadyExists,
  Conflict,
  integer,
  integerOrNull,
  text,
  textOrNull,
} from '@parley/database'
import { checkName } from '../../limits.ts'
import { topicSignal } from '../../topic/signal-topics.ts'
import { checkEnabled, lockEnabled } from '../access/enabled.ts'
import { revokeSignIns } from '../access/revoke.ts'
import type { LinkRecord, SignInProof, SignInRecord, SignIns } from './sign-in.ts'

/** How long one can still be told that a link is over. */
const LINK_REMEMBERED_MS = 24 * 3_600_000

/** Sign-ins of one person that hold at once: enough for all their machines and browsers. */
const SIGN_INS_MAX = 100
/** How many too many are ended at once; there are more only after an earlier version, which had no bound. */
const ENDED_AT_ONCE = 1_000

/** Sign-ins and one-time links. */
export class SqlSignIns implements SignIns {
  readonly #db: Database
  readonly #now: () => number

  constructor(db: Database, now: () => number) {
    this.#db = db
    this.#now = now
  }

  async add({ jti, userId, expiresAt, proof }: Parameters<SignIns['add']>[0]): Promise<void> {
    checkName('jti', jti)
    await this.#db.transaction(async (tx) => {
      // This holds the account's row to the end: a new password comes before and is seen, or after and ends this sign-in. So
      // does another sign-in, which would otherwise count without this one.
      await lockEnabled(tx, userId)
      if (!(await stillHolds(tx, userId, proof))) throw new Conflict(`user ${userId} has changed since`)
      if ((await tx.run(ADD, [jti, userId, expiresAt])) === 0) throw new AlreadyExists(`sign-in ${jti}`)
      const ended = await tx.all(END_OLDEST, [userId, this.#now(), jti, SIGN_INS_MAX - 1])
      for (const row of ended) tx.signal(topicSignal(`sign-in/${text(row, 'jti')}`))
    })
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

  async addLink({ hash, userId, expiresAt }: Parameters<SignIns['addLink']>[0]): Promise<void> {
    checkName('hash', hash)
    await this.#db.transaction(async (tx) => {
      await checkEnabled(tx, userId)
      if ((await tx.run(ADD_LINK, [hash, userId, expiresAt])) === 0) throw new AlreadyExists('a link with this hash')
    })
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
}

/** Whatever ends a person's sign-ins changes the password or removes the links, used ones too. */
async function stillHolds(tx: Transaction, userId: UserId, proof: SignInProof): Promise<boolean> {
  if ('link' in proof) return (await tx.get(LINK_OF, [proof.link, userId])) !== undefined
  const row = await tx.get('SELECT password_hash FROM users WHERE id = $1', [userId])
  return row !== undefined && textOrNull(row, 'password_hash') === proof.passwordHash
}

const ADD: Sql = 'INSERT INTO sign_ins (jti, user_id, expires_at) VALUES ($1, $2, $3) ON CONFLICT (jti) DO NOTHING'
/** $1 user, $2 now, $3 the new one, $4 how many of the others stay. All are good for the same time, so the first to end is the oldest. */
const END_OLDEST: Sql = `UPDATE sign_ins SET revoked_at = $2 WHERE jti IN (SELECT jti FROM sign_ins
  WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > $2 AND jti <> $3
  ORDER BY expires_at DESC, jti LIMIT ${ENDED_AT_ONCE} OFFSET $4) RETURNING jti`
const ADD_LINK: Sql = 'INSERT INTO sign_in_links (hash, user_id, expires_at) VALUES ($1, $2, $3) ON CONFLICT (hash) DO NOTHING'
const LINK_OF: Sql = 'SELECT 1 AS one FROM sign_in_links WHERE hash = $1 AND user_id = $2 AND used_at IS NOT NULL'
const REVOKE: Sql = 'UPDATE sign_ins SET revoked_at = $2 WHERE jti = $1 AND revoked_at IS NULL'
const TAKE_LINK: Sql =
  'UPDATE sign_in_links SET used_at = $2 WHERE hash = $1 AND expires_at > $2 AND used_at IS NULL RETURNING user_id'
