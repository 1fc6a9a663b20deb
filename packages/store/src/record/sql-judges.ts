import { JOB_LIMITS, JudgeFacts, TokenId } from '@parley/protocol'
import { flag, integer, integerOrNull, text, textOrNull } from '../database/column.ts'
import type { Database, Row, Sql, Transaction } from '../database/database.ts'
import { Conflict } from '../errors.ts'
import { MAX_LIST, checkName } from '../limits.ts'
import { topicSignal } from '../topic/signal-topics.ts'
import { type JudgeRecord, type Judges, type SeenJudge, ownMachineId } from './judge.ts'
import { fromJson, parsedOrNull, toJson } from './json-column.ts'

/** A judge that was silent for so long has come anew. */
const AWAY_MS = JOB_LIMITS.leaseMs
const TOPIC = topicSignal('judges')

/** Judges by the machine they run on, and by their tokens where several say the same of themselves. */
export class SqlJudges implements Judges {
  readonly #db: Database
  readonly #now: () => number

  constructor(db: Database, now: () => number) {
    this.#db = db
    this.#now = now
  }

  async seen(said: Parameters<Judges['seen']>[0]): Promise<JudgeRecord> {
    const { machineId, name, nameBeside = name, tokenId = null, facts } = said
    checkName('machineId', machineId)
    checkName('name', name)
    checkName('nameBeside', nameBeside)
    const told = facts === undefined ? null : toJson('facts', JudgeFacts, facts)
    return this.#db.transaction(async (tx) => {
      const now = this.#now()
      const { before, isNew } = await entryOf(tx, { machineId, tokenId }, now)
      const id = before.machineId
      await tx.run(SEEN, [id, id === machineId ? name : nameBeside, now, told, tokenId])
      const judge = toJudge(await tx.get(JUDGE, [id]))
      if (judge === undefined) throw new TypeError(`judge ${id} vanished inside a transaction`)
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

interface Entry {
  readonly before: JudgeRecord
  readonly isNew: boolean
}

/** The entry of a judge, locked; made if there is none. One that it has beside another's stays its own while it is there. */
async function entryOf(tx: Transaction, judge: SeenJudge, now: number): Promise<Entry> {
  const own = ownMachineId(judge)
  const beside = toJudge(await tx.get(JUDGE_FOR_CHANGE, [own]))
  if (beside?.tokenId === judge.tokenId) return { before: beside, isNew: false }
  const said = await foundOrMade(tx, judge.machineId, judge, now)
  if (said.before.tokenId === judge.tokenId || (await isOver(tx, said.before.tokenId, now))) return said
  const made = await foundOrMade(tx, own, judge, now)
  if (made.before.tokenId === judge.tokenId) return made
  throw new Conflict(`judges with other tokens are called ${judge.machineId} and ${own}`)
}

async function foundOrMade(tx: Transaction, id: string, { tokenId }: SeenJudge, now: number): Promise<Entry> {
  const isNew = (await tx.run(ADD, [id, now, tokenId])) > 0
  const before = toJudge(await tx.get(JUDGE_FOR_CHANGE, [id]))
  if (before === undefined) throw new TypeError(`judge ${id} vanished inside a transaction`)
  return { before, isNew }
}

/** Whether nobody can show this token any more: what came with it is for whoever runs on its machine now. */
async function isOver(tx: Transaction, tokenId: TokenId | null, now: number): Promise<boolean> {
  return tokenId !== null && (await tx.get(STANDING, [tokenId, now])) === undefined
}

const STANDING: Sql = `SELECT 1 AS one FROM tokens WHERE id = $1 AND revoked_at IS NULL
  AND (expires_at IS NULL OR expires_at > $2)`
/** Its name is written with the rest of what it said. */
const ADD: Sql = `INSERT INTO judges (machine_id, name, first_seen_at, last_seen_at, token_id) VALUES ($1, '', $2, $2, $3)
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

export function toJudge(row: Row | undefined): JudgeRecord | undefined {
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
