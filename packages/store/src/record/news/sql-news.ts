import {
  AgentId,
  type Heard,
  type NewsItem,
  type NewsKind,
  type NewsPage,
  type PromptId,
  type RandomBytes,
  type RestRecord,
  type Yield,
  iso,
} from '@parley/protocol'
import { type Database, type Transaction, Conflict, NotFound, text, textOrNull } from '@parley/database'
import type { LeaseFence } from '../../lease/fence.ts'
import { MAX_LIST, checkInteger } from '../../limits.ts'
import type { AppendOutcome, Logs } from '../../log/log.ts'
import { topicSignal } from '../../topic/signal-topics.ts'
import { newsTopic, transcriptLog } from '../agent/agent.ts'
import { ownerOf, toSettings } from '../agent/row.ts'
import { announceAgent, lockHeld, lockUsable } from '../agent/steps.ts'
import type { LockedAgent, Waker } from '../agent/waker.ts'
import type { ChatRecord } from '../chat/chat.ts'
import { toChat } from '../chat/row.ts'
import type { NewNews, News } from './news.ts'
import { type NewsRecord, restColumn, subjectHash, toNews } from './row.ts'
import * as sql from './statements.ts'
import { addNews, isLocal, lookAtNews, lookAtRules, readLoop, type Moment } from './steps.ts'

/** News as rows. Whoever adds, hears or looks has locked the agent. */
export class SqlNews implements News, Waker {
  readonly #db: Database
  readonly #logs: Pick<Logs, 'append'>
  readonly #now: () => number
  readonly #random: RandomBytes

  constructor(db: Database, logs: Pick<Logs, 'append'>, now: () => number, random: RandomBytes) {
    this.#db = db
    this.#logs = logs
    this.#now = now
    this.#random = random
  }

  async add(fence: LeaseFence, news: NewNews): Promise<void> {
    await this.#db.transaction(async (tx) => {
      const moment = this.#moment()
      await addNews(tx, lockedAgent(await lockHeld(tx, fence, moment.now)), news, moment)
    })
  }

  async changed(fence: LeaseFence, uri: string, { digest, isCertain = false }: Parameters<News['changed']>[2]): Promise<boolean> {
    return this.#db.transaction(async (tx) => {
      const moment = this.#moment()
      const agent = lockedAgent(await lockHeld(tx, fence, moment.now))
      if ((await tx.run(sql.TELL, [agent.id, subjectHash(uri), digest, isCertain ? 1 : 0])) === 0) return false
      await addNews(tx, agent, { kind: 'resource', subject: uri, text: '' }, moment)
      return true
    })
  }

  async pending(fence: LeaseFence, { maxItems, maxChars }: Parameters<News['pending']>[1]): Promise<NewsPage> {
    checkInteger('maxItems', maxItems, 1, MAX_LIST)
    checkInteger('maxChars', maxChars, 1)
    return this.#db.transaction(async (tx) => {
      const { id } = lockedAgent(await lockHeld(tx, fence, this.#now()))
      const { heardChat } = await readLoop(tx, id)
      const news = (await tx.all(sql.PENDING, [id, maxItems])).map(toNews)
      const said = (await tx.all(sql.SAID, [id, heardChat, maxItems])).map(toChat)
      return pageOf(merged(said.map(toldMessage), news.map(toldNews)), maxItems, maxChars)
    })
  }

  async hear(
    fence: LeaseFence,
    lines: readonly Uint8Array[],
    { offset, heard }: { readonly offset: number; readonly heard: Heard },
  ): Promise<AppendOutcome> {
    const id = AgentId.parse(fence.key)
    return this.#logs.append(transcriptLog(id), lines, {
      at: { offset },
      fence,
      also: async (tx) => {
        await tx.run(sql.HEAR_NEWS, [id, heard.news])
        if (heard.chat > 0) await tx.run(sql.HEAR_CHAT, [id, heard.chat])
      },
    })
  }

  async yield(fence: LeaseFence, id: PromptId, wants: Yield): Promise<RestRecord> {
    return this.#db.transaction(async (tx) => {
      const now = this.#now()
      const agent = lockedAgent(await lockHeld(tx, fence, now))
      const runs = await tx.get(sql.RUNS, [agent.id, id, fence.fence])
      if (runs === undefined) throw new Conflict(`prompt ${id} does not run under this claim`)
      // One time after the other comes no oftener than a resource may wake it.
      const leastS = textOrNull(runs, 'woken_by') === 'timer' ? toSettings(agent.row).wake.every_s : 0
      const rest: RestRecord = {
        wake_on: wants.wake_on ?? null,
        resources: wants.resources ?? null,
        at: wants.after_s === undefined ? null : now + Math.max(wants.after_s, leastS) * 1_000,
        say: wants.say ?? null,
      }
      await tx.run(sql.YIELD, [agent.id, id, restColumn(rest), rest.at])
      announceAgent(tx, agent.id)
      return rest
    })
  }

  async hasYielded(agentId: AgentId, id: PromptId): Promise<boolean> {
    return (await readLoop(this.#db, agentId)).yielded === id
  }

  async rest(agentId: AgentId): Promise<RestRecord | undefined> {
    return (await readLoop(this.#db, agentId)).rest
  }

  async wakeDue(limit: number): Promise<number> {
    checkInteger('limit', limit, 1, MAX_LIST)
    const due = await this.#db.all(sql.DUE, [this.#now(), limit])
    const failures: unknown[] = []
    for (const row of due) await this.#look(AgentId.parse(text(row, 'agent_id'))).catch((error: unknown) => failures.push(error))
    // One that cannot be looked at keeps no other from its time.
    if (failures.length > 0) throw failures[0]
    return due.length
  }

  async said(tx: Transaction, agent: LockedAgent): Promise<void> {
    if (!isLocal(agent)) return
    tx.signal(topicSignal(newsTopic(agent.id)))
    await lookAtNews(tx, agent, this.#moment())
  }

  async ended(tx: Transaction, agent: LockedAgent, isInterrupted: boolean): Promise<void> {
    if (isInterrupted) await this.aborted(tx, agent.id)
    await lookAtNews(tx, agent, this.#moment())
  }

  async aborted(tx: Transaction, id: AgentId): Promise<boolean> {
    return (await tx.run(sql.END_REST, [id])) > 0
  }

  async begins(tx: Transaction, id: AgentId, wokenBy: NewsKind | null): Promise<void> {
    await tx.run(wokenBy === null ? sql.BEGIN : sql.BEGIN_WOKEN, [id])
  }

  async ruled(tx: Transaction, agent: LockedAgent): Promise<void> {
    await lookAtRules(tx, agent, this.#moment())
  }

  #moment(): Moment {
    return { now: this.#now(), random: this.#random }
  }

  /** Another gateway may have been here first, and then there is nothing to do. */
  async #look(id: AgentId): Promise<void> {
    try {
      await this.#db.transaction(async (tx) => {
        const agent = await lockUsable(tx, id)
        await lookAtNews(tx, agent, this.#moment())
      })
    } catch (error) {
      // It was deleted, or its owner disabled, in between.
      if (!(error instanceof NotFound)) throw error
    }
  }
}

const lockedAgent = (row: Parameters<typeof ownerOf>[0]): LockedAgent => ({
  id: AgentId.parse(text(row, 'id')),
  ownerId: ownerOf(row),
  row,
})

/** One piece with its place among those of its sort. */
interface Told {
  readonly at: number
  readonly news?: number
  readonly chat?: number
  readonly item: NewsItem
}

const toldMessage = ({ number, createdAt, by, text: said }: ChatRecord): Told => ({
  at: createdAt,
  chat: number,
  item: { kind: 'chat', id: number, at: iso(createdAt), by, text: said },
})
const toldNews = ({ number, kind, subject, text: said, at }: NewsRecord): Told => ({
  at,
  news: number,
  item: { kind, subject, at: iso(at), text: said },
})

/** By time, and each sort in the order of its places whatever its times are: two gateways never have the very same. */
function merged(said: readonly Told[], news: readonly Told[]): readonly Told[] {
  const all: Told[] = []
  const [first, second] = [[...said], [...news]]
  for (;;) {
    const [one, other] = [first[0], second[0]]
    const next = one === undefined || (other !== undefined && other.at < one.at) ? second.shift() : first.shift()
    if (next === undefined) return all
    all.push(next)
  }
}

/** What it comes to where it is told: each line of it is quoted, below a line that says what it is. */
const charsOf = (item: NewsItem): number =>
  FRAME_CHARS +
  ('subject' in item ? item.subject.length : item.by.length) +
  item.text.length +
  item.text.split(/[\r\n]/).length * LINE_CHARS
const FRAME_CHARS = 160
const LINE_CHARS = 8

/** As much as fits from the oldest on. Each sort stands in its own order, so that all before its last place was told. */
function pageOf(ordered: readonly Told[], maxItems: number, maxChars: number): NewsPage {
  let chars = 0
  const fitting = ordered.slice(0, maxItems).filter(({ item }, index) => (chars += charsOf(item)) <= maxChars || index === 0)
  return {
    items: fitting.map(({ item }) => item),
    heard: {
      news: Math.max(0, ...fitting.map(({ news = 0 }) => news)),
      chat: Math.max(0, ...fitting.map(({ chat = 0 }) => chat)),
    },
  }
}
