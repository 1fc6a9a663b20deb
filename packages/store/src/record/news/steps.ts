import { AGENT_LIMITS, NewsKind, PromptId, type RandomBytes, type RestRecord, makeId } from '@parley/protocol'
import { type Queries, type Transaction, integer, text } from '@parley/database'
import { checkName } from '../../limits.ts'
import { topicSignal } from '../../topic/signal-topics.ts'
import { newsTopic } from '../agent/agent.ts'
import { toSettings } from '../agent/row.ts'
import { COUNT_SUBSCRIPTIONS, HAS_PROMPT } from '../agent/statements.ts'
import { type Owned, announceAgent, wakeLocked } from '../agent/steps.ts'
import type { LockedAgent } from '../agent/waker.ts'
import { bodyColumn } from '../prompt/row.ts'
import * as prompts from '../prompt/statements.ts'
import { type Unwoken, decideWake } from './decide-wake.ts'
import type { NewNews } from './news.ts'
import { type LoopRecord, NO_LOOP, newsColumn, restColumn, subjectHash, toLoop } from './row.ts'
import * as sql from './statements.ts'

/** What a wake needs besides. */
export interface Moment {
  readonly now: number
  readonly random: RandomBytes
}
const TIMER = 'timer'
/** Who tells an agent something when nobody did. */
const WAKER = 'parley'

export const isLocal = ({ row }: LockedAgent): boolean => text(row, 'kind') === 'local'

/** Adds a piece of news, and wakes the agent where that may be. An external agent is told nothing here: it reads for itself. */
export async function addNews(tx: Transaction, agent: LockedAgent, news: NewNews, moment: Moment): Promise<void> {
  if (!isLocal(agent)) return
  await putNews(tx, agent, news, moment.now)
  await lookAtNews(tx, agent, moment)
}

async function putNews(tx: Transaction, { id }: LockedAgent, news: NewNews, now: number): Promise<void> {
  checkName('subject', news.subject, AGENT_LIMITS.uriChars * 4)
  const body = newsColumn(news)
  const next = await tx.get(sql.NEXT_NUMBER, [id])
  if (next === undefined) throw new TypeError('news vanished inside a transaction')
  await tx.run(sql.PUT, [id, integer(next, 'last_news'), news.kind, subjectHash(news.subject), news.subject, body, now])
  await tx.run(sql.PRUNE, [id, AGENT_LIMITS.newsKept])
  tx.signal(topicSignal(newsTopic(id)))
}

/**
 * Wakes an agent that takes no turn and has none to take, where what there is may do so: a prompt like any other, by nobody. One piece of
 * news does that once, whatever becomes of the turn. Otherwise it is kept when somebody is to look again.
 */
export async function lookAtNews(tx: Transaction, agent: LockedAgent, moment: Moment): Promise<void> {
  if (!isLocal(agent) || (await tx.get(HAS_PROMPT, [agent.id])) !== undefined) return
  const { now } = moment
  const loop = await readLoop(tx, agent.id)
  const rest = await tellTime(tx, agent, loop.rest, now)
  const { wake: rules } = toSettings(agent.row)
  const decision = decideWake(await unwoken(tx, agent, loop), { rules, rest, wokenAt: loop.wokenAt, now })
  const timer = rest?.at ?? null
  if (decision.kind === 'wake') {
    await tx.run(sql.WOKEN, [agent.id, decision.by === 'resource' ? now : null, timer])
    await addWake(tx, agent, decision.by, moment)
    return
  }
  const wakeAt = decision.kind === 'later' ? Math.min(decision.at, timer ?? decision.at) : timer
  if (wakeAt !== loop.wakeAt) await tx.run(sql.LOOK_AT, [agent.id, wakeAt])
}

/** The time that an agent waited for has come: that is news, once. */
async function tellTime(
  tx: Transaction,
  agent: LockedAgent,
  rest: RestRecord | undefined,
  now: number,
): Promise<RestRecord | undefined> {
  if (rest === undefined || rest.at === null || rest.at > now) return rest
  await putNews(tx, agent, { kind: 'timer', subject: TIMER, text: rest.say ?? '' }, now)
  const after = { ...rest, at: null }
  await tx.run(sql.SET_REST, [agent.id, restColumn(after)])
  return after
}

async function unwoken(tx: Transaction, { id }: LockedAgent, loop: LoopRecord): Promise<readonly Unwoken[]> {
  const rows = await tx.all(sql.UNWOKEN, [id, loop.wokenNews, AGENT_LIMITS.newsKept])
  const news = rows.map((row) => ({ kind: NewsKind.parse(text(row, 'kind')), subject: text(row, 'subject') }))
  const [said] = await tx.all(sql.SAID, [id, Math.max(loop.wokenChat, loop.heardChat), 1])
  return said === undefined ? news : [{ kind: 'chat', subject: '' }, ...news]
}

async function addWake(tx: Transaction, agent: LockedAgent, by: NewsKind, { now, random }: Moment): Promise<void> {
  const id = makeId(PromptId, 'prm', random)
  await tx.get(prompts.ADD, [id, agent.id, bodyColumn(`woken by ${WORDS[by]}`), WAKER, now, by])
  await tx.run(prompts.PRUNE, [agent.id, AGENT_LIMITS.promptsKept])
  if (!(await wakeLocked(tx, agent))) announceAgent(tx, agent.id)
}
const WORDS: Readonly<Record<NewsKind, string>> = {
  chat: 'the chat',
  resource: 'a resource',
  call: 'a call',
  timer: 'a timer',
}

/**
 * The rules of an agent have changed: what there is may wake it now, and where resources may, a host is to watch them. The caller has
 * locked the agent and its owner may use it.
 */
export async function lookAtRules(tx: Transaction, agent: LockedAgent, moment: Moment): Promise<void> {
  await lookAtNews(tx, agent, moment)
  const listens = await tx.get(COUNT_SUBSCRIPTIONS, [agent.id])
  const isWatching = isLocal(agent) && toSettings(agent.row).wake.resources
  if (isWatching && listens !== undefined && integer(listens, 'subscriptions') > 0) await wakeLocked(tx, agent)
}

export async function readLoop(queries: Queries, id: Owned['id']): Promise<LoopRecord> {
  const row = await queries.get(sql.LOOP, [id])
  return row === undefined ? NO_LOOP : toLoop(row)
}
