import { AgentId, type BackgroundCallEnd, type CallId, type RandomBytes } from '@parley/protocol'
import { type Database, type Row, type Transaction, Conflict, NotFound, ShareExceeded, integer, text } from '@parley/database'
import type { LeaseFence } from '../../lease/fence.ts'
import { MAX_LIST, MAX_NAME_BYTES, checkInteger, checkName } from '../../limits.ts'
import { topicSignal } from '../../topic/signal-topics.ts'
import { ownerOf } from '../agent/row.ts'
import { lockHeld } from '../agent/steps.ts'
import type { LockedAgent } from '../agent/waker.ts'
import { addNews, type Moment } from '../news/steps.ts'
import { type BackgroundCallRecord, type BackgroundCalls, type NewBackgroundCall, backgroundTopic } from './background-call.ts'
import { argumentsColumn, messageColumn, resultColumn, resultOf, toBackgroundCall } from './row.ts'
import * as sql from './statements.ts'

const LEFT = 'the host that made it is gone: it may have taken effect, and it is not made again'

/** Background calls as rows. Whoever begins or ends one has locked its agent. */
export class SqlBackgroundCalls implements BackgroundCalls {
  readonly #db: Database
  readonly #now: () => number
  readonly #random: RandomBytes

  constructor(db: Database, now: () => number, random: RandomBytes) {
    this.#db = db
    this.#now = now
    this.#random = random
  }

  async begin(
    fence: LeaseFence,
    { id, tool, argumentsJson }: NewBackgroundCall,
    { maxRunning, maxKept }: Parameters<BackgroundCalls['begin']>[2],
  ): Promise<BackgroundCallRecord> {
    checkName('tool', tool, 4 * MAX_NAME_BYTES)
    const column = argumentsColumn(argumentsJson)
    return this.#whileHeld(fence, async (tx, agent, { now }) => {
      const before = await tx.get(sql.BY_ID, [agent.id, id])
      if (before !== undefined) return sameCall(before, fence)
      const running = await tx.get(sql.COUNT_RUNNING, [agent.id])
      if (running !== undefined && integer(running, 'running') >= maxRunning) throw new ShareExceeded('calls', maxRunning)
      const call = toBackgroundCall(rowOf(await tx.get(sql.ADD, [id, agent.id, tool, column, fence.fence, now])))
      await tx.run(sql.PRUNE, [agent.id, maxKept])
      tx.signal(topicSignal(backgroundTopic(agent.id)))
      return call
    })
  }

  async end(
    fence: LeaseFence,
    id: CallId,
    { state, result, is_cut: isCut, is_error: isError, message }: BackgroundCallEnd,
    { maxBytes }: Parameters<BackgroundCalls['end']>[3],
  ): Promise<BackgroundCallRecord> {
    const bytes = result === null ? null : Buffer.byteLength(result)
    const columns = [state, resultColumn(result), bytes, isCut ? 1 : 0, isError ? 1 : 0, messageColumn(message)]
    return this.#whileHeld(fence, async (tx, agent, moment) => {
      const row = await tx.get(sql.END, [id, agent.id, fence.fence, ...columns, moment.now])
      if (row !== undefined) {
        await tx.run(sql.DROP_RESULTS, [agent.id, maxBytes])
        return this.#ended(tx, agent, toBackgroundCall(row), moment)
      }
      const ended = await tx.get(sql.BY_ID, [agent.id, id])
      if (ended === undefined) throw new NotFound(`call ${id}`)
      if (text(ended, 'state') !== state) throw new Conflict(`call ${id} is ${text(ended, 'state')} already`)
      return toBackgroundCall(ended)
    })
  }

  async takeOver(fence: LeaseFence): Promise<number> {
    // Nearly always there is nothing, and then nobody's row is locked for it.
    if ((await this.#db.get(sql.IS_LEFT, [fence.key, fence.fence])) === undefined) return 0
    return this.#whileHeld(fence, async (tx, agent, moment) => {
      const left = await tx.all(sql.LEAVE, [agent.id, fence.fence, messageColumn(LEFT), moment.now])
      for (const row of left) await this.#ended(tx, agent, toBackgroundCall(row), moment)
      return left.length
    })
  }

  async byId(agentId: AgentId, id: CallId): ReturnType<BackgroundCalls['byId']> {
    const row = await this.#db.get(sql.BY_ID, [agentId, id])
    return row && { ...toBackgroundCall(row), result: resultOf(row) }
  }

  async list(agentId: AgentId, limit: number): Promise<readonly BackgroundCallRecord[]> {
    checkInteger('limit', limit, 1, MAX_LIST)
    return (await this.#db.all(sql.LIST, [agentId, limit])).map(toBackgroundCall)
  }

  /** The agent is told of an end in the commit that makes it one. */
  async #ended(tx: Transaction, agent: LockedAgent, call: BackgroundCallRecord, moment: Moment): Promise<BackgroundCallRecord> {
    await addNews(tx, agent, { kind: 'call', subject: call.id, text: wordsOf(call) }, moment)
    tx.signal(topicSignal(backgroundTopic(agent.id)))
    return call
  }

  async #whileHeld<Kept>(
    fence: LeaseFence,
    work: (tx: Transaction, agent: LockedAgent, moment: Moment) => Promise<Kept>,
  ): Promise<Kept> {
    return this.#db.transaction(async (tx) => {
      const moment = { now: this.#now(), random: this.#random }
      const row = await lockHeld(tx, fence, moment.now)
      return work(tx, { id: AgentId.parse(text(row, 'id')), ownerId: ownerOf(row), row }, moment)
    })
  }
}

/** What it was, and how it ended. What came back is read with `loop_result`. */
function wordsOf({ tool, state, isError, message, resultBytes }: BackgroundCallRecord): string {
  if (state === 'returned') return `${tool} ${isError ? 'returned an error' : 'returned'}, ${resultBytes ?? 0} bytes`
  return `${tool} ${state === 'unknown' ? 'ended in an unknown way' : state}${message === '' ? '' : `: ${message}`}`
}

function sameCall(row: Row, { fence }: LeaseFence): BackgroundCallRecord {
  const call = toBackgroundCall(row)
  if (integer(row, 'fence') !== fence) throw new Conflict(`call ${call.id} was begun under another claim`)
  return call
}

function rowOf(row: Row | undefined): Row {
  if (row === undefined) throw new TypeError('a call vanished inside a transaction')
  return row
}
