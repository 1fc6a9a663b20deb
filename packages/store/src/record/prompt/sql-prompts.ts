import { type AgentId, PromptId, type PromptOutcome, makeId } from '@parley/protocol'
import { type Database, type Row, Conflict, NotFound, ShareExceeded, integer, integerOrNull, text } from '@parley/database'
import type { LeaseFence } from '../../lease/fence.ts'
import { MAX_LIST, checkInteger, checkName } from '../../limits.ts'
import { ownerOf } from '../agent/row.ts'
import { AGENT_FOR_CHANGE } from '../agent/statements.ts'
import { announceAgent, lockHeld, lockUsable, wakeLocked } from '../agent/steps.ts'
import type { Waker } from '../agent/waker.ts'
import type { PromptRecord, Prompts } from './prompt.ts'
import { bodyColumn, outcomeColumn, toPrompt } from './row.ts'
import * as sql from './statements.ts'

/** Prompts as rows. Whoever adds, takes or ends one has locked its agent. */
export class SqlPrompts implements Prompts {
  readonly #db: Database
  readonly #now: () => number
  readonly #random: (size: number) => Uint8Array
  readonly #waker: Waker

  constructor(db: Database, waker: Waker, now: () => number, random: (size: number) => Uint8Array) {
    this.#db = db
    this.#waker = waker
    this.#now = now
    this.#random = random
  }

  async add(
    agentId: AgentId,
    { text: body, by }: Parameters<Prompts['add']>[1],
    { maxQueued, maxKept }: Parameters<Prompts['add']>[2],
  ): Promise<PromptRecord> {
    checkName('by', by)
    const column = bodyColumn(body)
    return this.#db.transaction(async (tx) => {
      const agent = await lockUsable(tx, agentId)
      if (text(agent.row, 'kind') !== 'local') throw new Conflict(`agent ${agentId} is external: it takes no turns of its own`)
      const waiting = await tx.get(sql.COUNT_QUEUED, [agentId])
      if (waiting !== undefined && integer(waiting, 'queued') >= maxQueued) throw new ShareExceeded('prompts', maxQueued)
      const id = makeId(PromptId, 'prm', this.#random)
      const row = rowOf(await tx.get(sql.ADD, [id, agentId, column, by, this.#now(), null]))
      await tx.run(sql.PRUNE, [agentId, maxKept])
      if (!(await wakeLocked(tx, agent))) announceAgent(tx, agentId)
      return toPrompt(row)
    })
  }

  async byId(agentId: AgentId, id: PromptId): Promise<PromptRecord | undefined> {
    const row = await this.#db.get(sql.BY_ID, [agentId, id])
    return row && toPrompt(row)
  }

  async list(agentId: AgentId, page: Parameters<Prompts['list']>[1]): Promise<readonly PromptRecord[]> {
    const { before = Number.MAX_SAFE_INTEGER, limit } = page
    checkInteger('limit', limit, 1, MAX_LIST)
    checkInteger('before', before, 0)
    return (await this.#db.all(sql.LIST, [agentId, before, limit])).map(toPrompt)
  }

  async open(agentId: AgentId): ReturnType<Prompts['open']> {
    const running = await this.#db.get(sql.RUNNING, [agentId])
    const waiting = await this.#db.get(sql.COUNT_QUEUED, [agentId])
    return { running: running && toPrompt(running), queued: waiting === undefined ? 0 : integer(waiting, 'queued') }
  }

  async next(fence: LeaseFence): ReturnType<Prompts['next']> {
    return this.#db.transaction(async (tx) => {
      const now = this.#now()
      const id = text(await lockHeld(tx, fence, now), 'id')
      const before = await tx.get(sql.RUNNING, [id])
      if (before !== undefined) {
        const prompt = toPrompt(rowOf(await tx.get(sql.ADOPT, [id, fence.fence])))
        return { prompt, resumed: integerOrNull(before, 'fence') !== fence.fence }
      }
      const row = await tx.get(sql.START, [id, fence.fence, now])
      if (row === undefined) return undefined
      const prompt = toPrompt(row)
      await this.#waker.begins(tx, prompt.agentId, prompt.wokenBy)
      announceAgent(tx, prompt.agentId)
      return { prompt, resumed: false }
    })
  }

  async end(fence: LeaseFence, id: PromptId, outcome: PromptOutcome): Promise<PromptRecord> {
    const column = outcomeColumn(outcome)
    return this.#db.transaction(async (tx) => {
      const now = this.#now()
      const agent = await lockHeld(tx, fence, now)
      const agentId = text(agent, 'id')
      const row = await tx.get(sql.END, [agentId, id, outcome.status, column, now])
      if (row !== undefined) {
        const prompt = toPrompt(row)
        announceAgent(tx, prompt.agentId)
        await this.#waker.ended(tx, { id: prompt.agentId, ownerId: ownerOf(agent), row: agent }, outcome.status === 'interrupted')
        return prompt
      }
      const ended = await tx.get(sql.BY_ID, [agentId, id])
      if (ended === undefined) throw new NotFound(`prompt ${id}`)
      const status = text(ended, 'status')
      if (status !== outcome.status) throw new Conflict(`prompt ${id} is ${status} already`)
      return toPrompt(ended)
    })
  }

  async abort(agentId: AgentId, { queued }: Parameters<Prompts['abort']>[1]): ReturnType<Prompts['abort']> {
    return this.#db.transaction(async (tx) => {
      if ((await tx.get(AGENT_FOR_CHANGE, [agentId])) === undefined) throw new NotFound(`agent ${agentId}`)
      const now = this.#now()
      const running = await tx.get(sql.ABORT, [agentId, now])
      const withdrawn = queued ? await tx.run(sql.WITHDRAW_QUEUED, [agentId, now]) : 0
      const restEnded = await this.#waker.aborted(tx, agentId)
      if (running !== undefined || withdrawn > 0 || restEnded) announceAgent(tx, agentId)
      return { aborting: running === undefined ? null : PromptId.parse(text(running, 'id')), withdrawn, restEnded }
    })
  }
}

function rowOf(row: Row | undefined): Row {
  if (row === undefined) throw new TypeError('a prompt vanished inside a transaction')
  return row
}
