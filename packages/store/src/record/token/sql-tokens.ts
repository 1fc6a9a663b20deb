import { AgentId, type HeldScopes, Role, Scope, TokenId, UserId, inOrder, makeId } from '@parley/protocol'
import {
  type Database,
  type Row,
  type Sql,
  type Transaction,
  AlreadyExists,
  Conflict,
  InvalidArgument,
  integer,
  integerOrNull,
  parsedOrNull,
  text,
  textOrNull,
} from '@parley/database'
import { MAX_LIST, checkInteger, checkName } from '../../limits.ts'
import { topicSignal } from '../../topic/signal-topics.ts'
import { checkEnabled, lockUser } from '../access/enabled.ts'
import { revokeToken } from '../access/revoke.ts'
import { lockUsable } from '../agent/steps.ts'
import { kindOf } from '../worker/sql-workers.ts'
import { workersTopic } from '../worker/worker.ts'
import type { RevokedToken, TokenRecord, Tokens } from './token.ts'

/** Tokens by the hash of their text. */
export class SqlTokens implements Tokens {
  readonly #db: Database
  readonly #now: () => number
  readonly #random: (size: number) => Uint8Array

  constructor(db: Database, now: () => number, random: (size: number) => Uint8Array) {
    this.#db = db
    this.#now = now
    this.#random = random
  }

  async add(token: Parameters<Tokens['add']>[0]): Promise<TokenRecord> {
    checkName('hash', token.hash)
    checkName('name', token.name)
    const { userId = null, agentId = null, madeBy = null, expiresAt = null } = token
    const scopes = token.scopes === undefined ? null : inOrder(token.scopes)
    if ((token.role === 'agent') !== (agentId !== null))
      throw new InvalidArgument('agentId', 'must be given for the token of an agent, and for no other')
    // A token with none of them could do nothing, and one of another role would seem to be limited.
    if (scopes !== null && (token.role !== 'user' || scopes.length === 0))
      throw new InvalidArgument('scopes', 'must be one or more, and for the token of a user')
    if (madeBy !== null && scopes === null) throw new InvalidArgument('madeBy', 'must be left out for a token without scopes')
    return this.#db.transaction(async (tx) => {
      if (userId !== null) await checkEnabled(tx, userId)
      // Whoever ends the agent, or the access of its owner, waits for this and then revokes the token, or came first and is seen here.
      if (agentId !== null) await lockUsable(tx, agentId)
      if (madeBy !== null) await checkMaker(tx, madeBy, userId)
      const id = makeId(TokenId, 'tok', this.#random)
      const { hash, role, name } = token
      const words = scopes?.join(' ') ?? null
      const values = [id, hash, role, name, userId, agentId, this.#now(), expiresAt, words, madeBy]
      const added = toToken(await tx.get(INSERT, values))
      if (added === undefined) throw new AlreadyExists('a token with this hash')
      tx.signal(topicSignal('tokens'))
      return added
    })
  }

  async byHash(hash: string): Promise<TokenRecord | undefined> {
    return toToken(await this.#db.get('SELECT * FROM tokens WHERE hash = $1', [hash]))
  }

  async byId(id: TokenId): Promise<TokenRecord | undefined> {
    return toToken(await this.#db.get(BY_ID, [id]))
  }

  async ofAgent(agentId: AgentId): Promise<readonly TokenRecord[]> {
    return (await this.#db.all(OF_AGENT, [agentId, this.#now(), MAX_LIST])).flatMap((row) => toToken(row) ?? [])
  }

  async list(page: {
    readonly beforeCreatedAt?: number
    readonly beforeId?: TokenId
    readonly limit: number
  }): Promise<readonly TokenRecord[]> {
    const { beforeCreatedAt = Number.MAX_SAFE_INTEGER, beforeId = '', limit } = page
    checkInteger('limit', limit, 1, MAX_LIST)
    return (await this.#db.all(LIST, [beforeCreatedAt, beforeId, limit])).flatMap((row) => toToken(row) ?? [])
  }

  async revoke(id: TokenId): Promise<RevokedToken | undefined> {
    return this.#db.transaction(async (tx) => {
      const token = toToken(await tx.get(BY_ID, [id]))
      if (token === undefined) return undefined
      // Whoever makes a token with this one holds the row of the account until its commit: all of them are found now.
      if (token.userId !== null) await lockUser(tx, token.userId)
      const ended = await revokeToken(tx, id, this.#now())
      if (ended.includes(id)) {
        // Nobody can come back as one of these judges and workers, since their entries belong to the token.
        if ((await tx.run('DELETE FROM judges WHERE token_id = $1', [id])) > 0) tx.signal(topicSignal('judges'))
        for (const row of await tx.all('DELETE FROM workers WHERE token_id = $1 RETURNING kind', [id]))
          tx.signal(topicSignal(workersTopic(kindOf(row))))
      }
      const revoked = toToken(await tx.get(BY_ID, [id]))
      return revoked && { ...revoked, also: ended.filter((other) => other !== id) }
    })
  }

  async used(ids: readonly TokenId[], at: number): Promise<void> {
    await this.#db.transaction(async (tx) => {
      // In one order everywhere, so that two gateways never wait for each other.
      for (const id of ids.toSorted()) await tx.run(USED, [id, at])
    })
  }
}

/** The account is locked by now, and so whoever revokes the maker came first and is seen here, or waits and then finds what was made. */
async function checkMaker(tx: Transaction, id: TokenId, userId: UserId | null): Promise<void> {
  if ((await tx.get(MAKER, [id, userId])) === undefined)
    throw new Conflict(`token ${id} has been revoked, or belongs to another account`)
}

const BY_ID: Sql = 'SELECT * FROM tokens WHERE id = $1'
const MAKER: Sql = 'SELECT 1 AS one FROM tokens WHERE id = $1 AND user_id = $2 AND revoked_at IS NULL'
const INSERT: Sql = `INSERT INTO tokens (id, hash, role, name, user_id, agent_id, created_at, expires_at, scopes, made_by)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (hash) DO NOTHING RETURNING *`
const OF_AGENT: Sql = `SELECT * FROM tokens WHERE agent_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)
  ORDER BY created_at, id LIMIT $3`
const LIST: Sql = `SELECT * FROM tokens WHERE created_at < $1 OR (created_at = $1 AND id < $2)
  ORDER BY created_at DESC, id DESC LIMIT $3`
const USED: Sql = 'UPDATE tokens SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)'

export function toToken(row: Row | undefined): TokenRecord | undefined {
  if (row === undefined) return undefined
  return {
    id: TokenId.parse(text(row, 'id')),
    role: Role.parse(text(row, 'role')),
    name: text(row, 'name'),
    userId: parsedOrNull(UserId, textOrNull(row, 'user_id')),
    agentId: parsedOrNull(AgentId, textOrNull(row, 'agent_id')),
    scopes: toScopes(textOrNull(row, 'scopes')),
    madeBy: parsedOrNull(TokenId, textOrNull(row, 'made_by')),
    createdAt: integer(row, 'created_at'),
    expiresAt: integerOrNull(row, 'expires_at'),
    revokedAt: integerOrNull(row, 'revoked_at'),
    lastUsedAt: integerOrNull(row, 'last_used_at'),
  }
}

const toScopes = (words: string | null): HeldScopes => (words === null ? null : words.split(' ').map((word) => Scope.parse(word)))
