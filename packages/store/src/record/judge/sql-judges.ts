import { JOB_LIMITS, JudgeFacts, type TokenId } from '@parley/protocol'
import { type Database, type Transaction, Conflict, toJson } from '@parley/database'
import { MAX_LIST, checkName } from '../../limits.ts'
import { topicSignal } from '../../topic/signal-topics.ts'
import { STANDING } from '../access/standing.ts'
import { type JudgeRecord, type Judges, type SeenJudge, ownMachineId } from './judge.ts'
import { toJudge } from './row.ts'
import * as sql from './statements.ts'

/** A judge that was silent for so long is told about as if it came for the first time. */
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
      await tx.run(sql.SEEN, [id, id === machineId ? name : nameBeside, now, told, tokenId])
      const judge = toJudge(await tx.get(sql.JUDGE, [id]))
      if (judge === undefined) throw new TypeError(`judge ${id} vanished inside a transaction`)
      if (isNew || before.lastSeenAt < now - AWAY_MS || !isSame(before, judge)) tx.signal(TOPIC)
      return judge
    })
  }

  async left(machineId: string): Promise<void> {
    await this.#db.change(sql.LEFT, [machineId, this.#now()], TOPIC)
  }

  async alive(machineIds: readonly string[], at: number): Promise<void> {
    await this.#db.transaction(async (tx) => {
      // In one order everywhere, so that two gateways never wait for each other.
      for (const id of machineIds.toSorted()) await tx.run(sql.ALIVE, [id, at])
    })
  }

  async setDrain(machineId: string, drain: boolean): Promise<JudgeRecord | undefined> {
    return this.#db.transaction(async (tx) => {
      if ((await tx.run(sql.DRAIN, [machineId, drain ? 1 : 0])) > 0) tx.signal(TOPIC)
      return toJudge(await tx.get(sql.JUDGE, [machineId]))
    })
  }

  async byId(machineId: string): Promise<JudgeRecord | undefined> {
    return toJudge(await this.#db.get(sql.JUDGE, [machineId]))
  }

  async list(sinceMs: number): Promise<readonly JudgeRecord[]> {
    return (await this.#db.all(sql.LIST, [sinceMs, MAX_LIST])).flatMap((row) => toJudge(row) ?? [])
  }

  async prune(before: number, drainedBefore = before): Promise<number> {
    return this.#db.change(sql.PRUNE, [before, drainedBefore], TOPIC)
  }
}

interface Entry {
  readonly before: JudgeRecord
  readonly isNew: boolean
}

/** The entry of a judge, locked; made if there is none. One that it has beside another's stays its own while it is there. */
async function entryOf(tx: Transaction, judge: SeenJudge, now: number): Promise<Entry> {
  const own = ownMachineId(judge)
  const beside = toJudge(await tx.get(sql.JUDGE_FOR_CHANGE, [own]))
  if (beside?.tokenId === judge.tokenId) return { before: beside, isNew: false }
  const said = await foundOrMade(tx, judge.machineId, judge, now)
  if (said.before.tokenId === judge.tokenId || (await isOver(tx, said.before.tokenId, now))) return said
  const made = await foundOrMade(tx, own, judge, now)
  if (made.before.tokenId === judge.tokenId) return made
  throw new Conflict(`judges with other tokens are called ${judge.machineId} and ${own}`)
}

async function foundOrMade(tx: Transaction, id: string, { tokenId }: SeenJudge, now: number): Promise<Entry> {
  const isNew = (await tx.run(sql.ADD, [id, now, tokenId])) > 0
  const before = toJudge(await tx.get(sql.JUDGE_FOR_CHANGE, [id]))
  if (before === undefined) throw new TypeError(`judge ${id} vanished inside a transaction`)
  return { before, isNew }
}

/** Whether nobody can show this token any more: what came with it is for whoever runs on its machine now. */
async function isOver(tx: Transaction, tokenId: TokenId | null, now: number): Promise<boolean> {
  return tokenId !== null && (await tx.get(STANDING, [tokenId, now])) === undefined
}

function isSame(one: JudgeRecord, other: JudgeRecord): boolean {
  return one.name === other.name && one.leftAt === other.leftAt && JSON.stringify(one.facts) === JSON.stringify(other.facts)
}
