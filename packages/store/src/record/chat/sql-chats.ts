import { AgentId, CHAT_LIMITS } from '@parley/protocol'
import { type Database, type Transaction, integer, text } from '@parley/database'
import type { LeaseFence } from '../../lease/fence.ts'
import { MAX_LIST, checkInteger, checkName } from '../../limits.ts'
import { topicSignal } from '../../topic/signal-topics.ts'
import { lockActive, lockHeld, lockUsable } from '../agent/steps.ts'
import type { Waker } from '../agent/waker.ts'
import { type ChatMarkerRecord, type ChatRecord, type Chats, type NewChat, chatTopic } from './chat.ts'
import { bodyColumn, toChat, toMarker } from './row.ts'
import * as sql from './statements.ts'

/** Chats as rows. Whoever says something has locked its agent, so all see one order. */
export class SqlChats implements Chats {
  readonly #db: Database
  readonly #now: () => number
  readonly #waker: Waker

  constructor(db: Database, waker: Waker, now: () => number) {
    this.#db = db
    this.#now = now
    this.#waker = waker
  }

  async post(agentId: AgentId, message: NewChat): Promise<ChatRecord> {
    checkName('by', message.by)
    const body = bodyColumn(message)
    return this.#db.transaction(async (tx) => {
      const agent = await lockUsable(tx, agentId)
      const said = await this.#add(tx, agentId, { ...message, from: 'person', body })
      await this.#waker.said(tx, agent)
      return said
    })
  }

  async postAsAgent(fence: LeaseFence, message: NewChat): Promise<ChatRecord> {
    checkName('by', message.by)
    const body = bodyColumn(message)
    return this.#db.transaction(async (tx) => {
      const agentId = AgentId.parse(text(await lockHeld(tx, fence, this.#now()), 'id'))
      return this.#add(tx, agentId, { ...message, from: 'agent', body })
    })
  }

  async #add(
    tx: Transaction,
    agentId: AgentId,
    { from, by, key, body }: Omit<NewChat, 'text'> & { readonly from: ChatRecord['from']; readonly body: string },
  ): Promise<ChatRecord> {
    const before = key === undefined ? undefined : await tx.get(sql.BY_KEY, [agentId, from, by, key])
    if (before !== undefined) return toChat(before)
    const row = await tx.get(sql.ADD, [agentId, from, by, body, key ?? null, this.#now()])
    if (row === undefined) throw new TypeError('a message vanished inside a transaction')
    await tx.run(sql.PRUNE, [agentId, CHAT_LIMITS.kept])
    tx.signal(topicSignal(chatTopic(agentId)))
    return toChat(row)
  }

  async read(agentId: AgentId, { after, limit }: Parameters<Chats['read']>[1]): ReturnType<Chats['read']> {
    checkInteger('limit', limit, 1, MAX_LIST)
    if (after !== undefined) checkInteger('after', after, 0)
    const head = await this.#db.get(sql.HEAD, [agentId])
    const newest = head === undefined ? 0 : integer(head, 'head')
    const rows = await this.#db.all(sql.SINCE, [agentId, after ?? Math.max(0, newest - limit), limit])
    const messages = rows.map(toChat)
    // One more may have come in between.
    return { messages, head: Math.max(newest, messages.at(-1)?.number ?? 0) }
  }

  async mark(agentId: AgentId, reader: string, readTo: number): Promise<ChatMarkerRecord> {
    checkName('reader', reader)
    checkInteger('readTo', readTo, 0)
    return this.#db.transaction(async (tx) => {
      await lockActive(tx, agentId)
      const head = await tx.get(sql.HEAD, [agentId])
      const most = head === undefined ? 0 : integer(head, 'head')
      const moved = await tx.run(sql.MARK, [agentId, reader, Math.min(readTo, most), this.#now()])
      const row = await tx.get(sql.MARKER, [agentId, reader])
      if (row === undefined) throw new TypeError('a marker vanished inside a transaction')
      if (moved > 0) {
        await tx.run(sql.PRUNE_MARKERS, [agentId, CHAT_LIMITS.markers])
        tx.signal(topicSignal(chatTopic(agentId)))
      }
      return toMarker(row)
    })
  }

  async markers(agentId: AgentId): Promise<readonly ChatMarkerRecord[]> {
    return (await this.#db.all(sql.MARKERS, [agentId, CHAT_LIMITS.markers])).map(toMarker)
  }
}
