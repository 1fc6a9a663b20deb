import { JOB_LIMITS, JudgeFacts, TokenId } from '@parley/protocol'
import { flag, integer, integerOrNull, text, textOrNull } from '../database/column.ts'
import type { Database, Row, Sql } from '../database/database.ts'
import { MAX_LIST, checkName } from '../limits.ts'
import { topicSignal } from '../topic/signal-topics.ts'
import type { JudgeRecord, Judges } from './judge.ts'
import { fromJson, parsedOrNull, toJson } from './json-column.ts'

/** A judge that was silent for so long has come anew. */
const AWAY_MS = JOB_LIMITS.leaseMs
const TOPIC = topicSignal('judges')

/** Judges by the machine they run on. */
export class SqlJudges implements Judges {
  readonly #db: Database
  readonly #now: () => number

  constructor(db: Database, now: () => number) {
    this.#db = db
    this.#now = now
  }

  async seen({ machineId, name, tokenId = null, facts }: Parameters<Judges['seen']>[0]): Promise<JudgeRecord> {
    checkName('machineId', machineId)
    checkName('name', name)
    const told = facts === undefined ? null : toJson('facts', JudgeFacts, facts)
    return this.#db.transaction(async (tx) => {
      const now = this.#now()
      const isNew = (await tx.run(ADD, [machineId, name, now, told, tokenId])) > 0
      const before = toJudge(await tx.get(JUDGE_FOR_CHANGE, [machineId]))
      await tx.run(SEEN, [machineId, name, now, told, tokenId])
      const judge = toJudge(await tx.get(JUDGE, [machineId]))
      if (before === undefined || judge === undefined) throw new TypeError(`judge ${machineId} vanished inside a transaction`)
      if (isNew || before.lastSeenAt < now - AWAY_MS || !isSame(before, judge)) tx.signal(TOPIC)
      return judge
    })
  }

  async left(machineId: string): Promise<void> {
    await this.#db.change(LEFT, [machineId, this.#now()], TOPIC)
  }

  async alive(machineIds: readonly string[], at: number): Promise<void> {
    await this.#db.transaction(async (tx) => {
      // In one order everywhere, so that two gateways never wait for each other.
      for (const id of machineIds.toSorted()) await tx.run(ALIVE, [id, at])
    })
  }

  async setDrain(machineId: string, drain: boolean): Promise<JudgeRecord | undefined> {
    return this.#db.transaction(async (tx) => {
      if ((await tx.run(DRAIN, [machineId, drain ? 1 : 0])) > 0) tx.signal(TOPIC)
      return toJudge(await tx.get(JUDGE, [machineId]))
    })
  }

  async byId(machineId: string): Promise<JudgeRecord | undefined> {
    return toJudge(await this.#db.get(JUDGE, [machineId]))
  }

  async list(sinceMs: number): Promise<readonly JudgeRecord[]> {
    return (await this.#db.all(LIST, [sinceMs, MAX_LIST])).flatMap((row) => toJudge(row) ?? [])
  }

  async prune(before: number, drainedBefore = before): Promise<number> {
    return this.#db.change(PRUNE, [before, drainedBefore], TOPIC)
  }
}

const ADD: Sql = `INSERT INTO judges (machine_id, name, first_seen_at, last_seen_at, facts, token_id)
  VALUES ($1, $2, $3, $3, $4, $5)
  ON CONFLICT (machine_id) DO NOTHING`
const JUDGE = 'SELECT * FROM judges WHERE machine_id = $1'
const JUDGE_FOR_CHANGE: Sql = { sqlite: JUDGE, postgres: `${JUDGE} FOR UPDATE` }
const SEEN: Sql = `UPDATE judges SET name = $2, facts = coalesce($4, facts), token_id = $5, left_at = NULL,
  last_seen_at = CASE WHEN last_seen_at < $3 THEN $3 ELSE last_seen_at END WHERE machine_id = $1`
const ALIVE: Sql = 'UPDATE judges SET last_seen_at = $2 WHERE machine_id = $1 AND last_seen_at < $2'
const LEFT: Sql = 'UPDATE judges SET left_at = $2 WHERE machine_id = $1 AND left_at IS NULL'
const PRUNE: Sql = 'DELETE FROM judges WHERE last_seen_at < $1 AND (drain = 0 OR last_seen_at < $2)'
const DRAIN: Sql = 'UPDATE judges SET drain = $2 WHERE machine_id = $1 AND drain <> $2'
const LIST: Sql = 'SELECT * FROM judges WHERE last_seen_at >= $1 ORDER BY machine_id LIMIT $2'

function isSame(one: JudgeRecord, other: JudgeRecord): boolean {
  return one.name === other.name && one.leftAt === other.leftAt && JSON.stringify(one.facts) === JSON.stringify(other.facts)
}

function toJudge(row: Row | undefined): JudgeRecord | undefined {
  if (row === undefined) return undefined
  return {
    machineId: text(row, 'machine_id'),
    name: text(row, 'name'),
    tokenId: parsedOrNull(TokenId, textOrNull(row, 'token_id')),
    drain: flag(row, 'drain'),
    firstSeenAt: integer(row, 'first_seen_at'),
    lastSeenAt: integer(row, 'last_seen_at'),
    leftAt: integerOrNull(row, 'left_at'),
    facts: fromJson(JudgeFacts, textOrNull(row, 'facts')),
  }
}
