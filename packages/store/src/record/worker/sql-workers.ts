import { TokenId, WORKER_LIMITS, WorkerFacts, WorkerLabels, WorkerLoad, parseJson } from '@parley/protocol'
import {
  type Database,
  type Row,
  type Shape,
  type Sql,
  type Transaction,
  Conflict,
  flag,
  integer,
  integerOrNull,
  parsedOrNull,
  text,
  textOrNull,
  toJson,
} from '@parley/database'
import { MAX_LIST, checkInteger, checkName } from '../../limits.ts'
import { topicSignal } from '../../topic/signal-topics.ts'
import { STANDING } from '../access/standing.ts'
import { type WorkerKind, type WorkerRecord, type WorkerHeartbeat, type Workers, workersTopic } from './worker.ts'

/** Workers with one token, those that are gone and not forgotten among them. */
const NAMES_PER_TOKEN = 256

/** Hosts and executors by kind and name. */
export class SqlWorkers implements Workers {
  readonly #db: Database
  readonly #now: () => number

  constructor(db: Database, now: () => number) {
    this.#db = db
    this.#now = now
  }

  async seen(beat: WorkerHeartbeat): Promise<WorkerRecord> {
    const { kind, name, tokenId, instance, slots } = beat
    checkName('name', name)
    checkName('instance', instance)
    checkInteger('slots', slots, 1, WORKER_LIMITS.slots)
    const told = [
      toJson('labels', WorkerLabels, beat.labels),
      toJson('facts', WorkerFacts, beat.facts),
      toJson('load', WorkerLoad, beat.load),
    ]
    return this.#db.transaction(async (tx) => {
      const now = this.#now()
      const isNew = (await tx.run(ADD, [kind, name, tokenId, instance, now, slots, ...told])) > 0
      const before = toWorker(await tx.get(WORKER_FOR_CHANGE, [kind, name]))
      if (before === undefined) throw new TypeError(`${kind} ${name} vanished inside a transaction`)
      if (isNew || before.tokenId !== tokenId) {
        await checkMeant(tx, beat, now)
        await checkCount(tx, beat)
      }
      if (!isNew) {
        await checkOwn(tx, before, beat, now)
        await tx.run(SEEN, [kind, name, tokenId, instance, now, slots, ...told])
      }
      const worker = toWorker(await tx.get(WORKER, [kind, name]))
      if (worker === undefined) throw new TypeError(`${kind} ${name} vanished inside a transaction`)
      if (isNew || !isHere(before, now) || shown(before) !== shown(worker)) tx.signal(topicSignal(workersTopic(kind)))
      return worker
    })
  }

  async left({ kind, name, instance }: Pick<WorkerHeartbeat, 'kind' | 'name' | 'instance'>): Promise<void> {
    await this.#db.change(LEFT, [kind, name, instance, this.#now()], topicSignal(workersTopic(kind)))
  }

  async setDrain(kind: WorkerKind, name: string, drain: boolean): Promise<WorkerRecord | undefined> {
    return this.#db.transaction(async (tx) => {
      if ((await tx.run(DRAIN, [kind, name, drain ? 1 : 0])) > 0) tx.signal(topicSignal(workersTopic(kind)))
      return toWorker(await tx.get(WORKER, [kind, name]))
    })
  }

  async byName(kind: WorkerKind, name: string): Promise<WorkerRecord | undefined> {
    return toWorker(await this.#db.get(WORKER, [kind, name]))
  }

  async list(kind: WorkerKind, sinceMs: number): Promise<readonly WorkerRecord[]> {
    return (await this.#db.all(LIST, [kind, sinceMs, MAX_LIST])).flatMap((row) => toWorker(row) ?? [])
  }

  async prune(before: number, drainedBefore: number): Promise<number> {
    return this.#db.transaction(async (tx) => {
      const gone = await tx.all(PRUNE, [before, drainedBefore])
      for (const kind of new Set(gone.map((row) => kindOf(row)))) tx.signal(topicSignal(workersTopic(kind)))
      return gone.length
    })
  }
}

/** Whether it holds a connection, as far as is known. */
export function isHere({ leftAt, lastSeenAt }: Pick<WorkerRecord, 'leftAt' | 'lastSeenAt'>, now: number): boolean {
  return leftAt === null && lastSeenAt >= now - WORKER_LIMITS.silentMs
}

/** Throws where the name is somebody else's, or another instance has it now. */
async function checkOwn(tx: Transaction, before: WorkerRecord, { name, kind, tokenId, instance }: WorkerHeartbeat, now: number) {
  const isOthers = before.tokenId !== tokenId && (before.tokenId === null || (await tx.get(STANDING, [before.tokenId, now])))
  if (isOthers) throw new Conflict(`${name} is the name of another token's ${kind}`)
  if (before.instance !== instance && isHere(before, now)) throw new Conflict(`another ${kind} called ${name} is here`)
}

/** Throws where a token was made for this name and the one at hand was not: nobody takes the place of a worker that has yet to come. */
async function checkMeant(tx: Transaction, { name, kind, tokenId }: WorkerHeartbeat, now: number): Promise<void> {
  const meant = await tx.all(MEANT, [kind, name, now])
  if (meant.length > 0 && !meant.some((row) => text(row, 'id') === tokenId))
    throw new Conflict(`${name} is the name of another token's ${kind}`)
}

/** Throws where its token has more names than anybody needs. */
async function checkCount(tx: Transaction, { kind, tokenId }: WorkerHeartbeat): Promise<void> {
  const row = await tx.get(COUNT, [kind, tokenId ?? ''])
  if (row !== undefined && integer(row, 'names') > NAMES_PER_TOKEN)
    throw new Conflict(`a token has ${NAMES_PER_TOKEN} names of ${kind}s at most, those of the last day among them`)
}

/** What a list shows of it, apart from times. */
function shown({ instance, leftAt, slots, labels, facts, load }: WorkerRecord): string {
  return JSON.stringify([instance, leftAt, slots, labels, facts, load])
}

export function kindOf(row: Row): WorkerKind {
  const kind = text(row, 'kind')
  if (kind === 'host' || kind === 'executor') return kind
  throw new TypeError(`a worker is ${kind}`)
}

export function toWorker(row: Row | undefined): WorkerRecord | undefined {
  if (row === undefined) return undefined
  return {
    kind: kindOf(row),
    name: text(row, 'name'),
    tokenId: parsedOrNull(TokenId, textOrNull(row, 'token_id')),
    instance: text(row, 'instance'),
    drain: flag(row, 'drain'),
    firstSeenAt: integer(row, 'first_seen_at'),
    lastSeenAt: integer(row, 'last_seen_at'),
    leftAt: integerOrNull(row, 'left_at'),
    slots: integer(row, 'slots'),
    labels: told(WorkerLabels, row, 'labels'),
    facts: told(WorkerFacts, row, 'facts'),
    load: told(WorkerLoad, row, 'load'),
  }
}

function told<T>(shape: Shape<T>, row: Row, column: string): T {
  return shape.parse(parseJson(text(row, column)))
}

const ADD: Sql = `INSERT INTO workers (kind, name, token_id, instance, first_seen_at, last_seen_at, slots, labels, facts, load)
  VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9) ON CONFLICT (kind, name) DO NOTHING`
const WORKER = 'SELECT * FROM workers WHERE kind = $1 AND name = $2'
const WORKER_FOR_CHANGE: Sql = { sqlite: WORKER, postgres: `${WORKER} FOR UPDATE` }
const MEANT: Sql = `SELECT id FROM tokens WHERE role = $1 AND name = $2 AND revoked_at IS NULL
  AND (expires_at IS NULL OR expires_at > $3)`
const COUNT: Sql = `SELECT count(*) AS names FROM workers WHERE kind = $1 AND coalesce(token_id, '') = $2`
const SEEN: Sql = `UPDATE workers SET token_id = $3, instance = $4, left_at = NULL,
  last_seen_at = CASE WHEN last_seen_at < $5 THEN $5 ELSE last_seen_at END,
  slots = $6, labels = $7, facts = $8, load = $9 WHERE kind = $1 AND name = $2`
const LEFT: Sql = 'UPDATE workers SET left_at = $4 WHERE kind = $1 AND name = $2 AND instance = $3 AND left_at IS NULL'
const DRAIN: Sql = 'UPDATE workers SET drain = $3 WHERE kind = $1 AND name = $2 AND drain <> $3'
const LIST: Sql = 'SELECT * FROM workers WHERE kind = $1 AND last_seen_at >= $2 ORDER BY name LIMIT $3'
const PRUNE: Sql = 'DELETE FROM workers WHERE last_seen_at < $1 AND (drain = 0 OR last_seen_at < $2) RETURNING kind'
