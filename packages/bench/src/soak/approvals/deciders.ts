import { setTimeout as wait } from 'node:timers/promises'
import { type Approval, ApprovalStatus, ToolError, messageOf } from '@parley/protocol'
import type { Tally } from '../../soak.ts'
import type { SeededRandom } from '../random.ts'
import type { AdminDesk } from './admin-desk.ts'
import { type ApprovalLedger, isOver } from './approval-ledger.ts'
import { checkOpen } from './check-approvals.ts'
import { type KeptApproval, keptOfView, shownApproval } from './kept-approval.ts'
import { type Plan, type Words, isYesPlan, planFor } from './plan.ts'

/** Those that the same call takes up again. */
const OPEN = ['pending', 'approved'] as const
const LOOK_MS = 60
const RETRY_MS = 100
const PAGE = 200
/** Whoever was not answered says the same again, for so long after it has run out. */
const INSIST_MS = 60_000
/** Rows are written by several clocks and commits: one may become seen so much after one that is newer. */
const LATE_ROW_MS = 5_000
const TOO_LATE = /^too late: (?:(?<by>.+) has said (?<decision>\S+)(?: with other arguments)? at |it is (?<status>\S+))/

export interface DecidersOptions {
  readonly desks: readonly [AdminDesk, AdminDesk]
  readonly gateways: number
  readonly seed: number
  readonly random: SeededRandom
  readonly ledger: ApprovalLedger
  readonly tally: Tally
  readonly problem: (text: string, call: string) => void
}

/** Two people who look at what waits and decide about it as planned, now and then both at once and differently. */
export class Deciders {
  readonly #options: DecidersOptions
  readonly #ended = new AbortController()
  readonly #deciding = new Set<Promise<void>>()
  /** Calls to which somebody has said yes, or is about to: nobody lets the same be done twice. */
  readonly #yes = new Set<string>()
  readonly #doubledCalls = new Set<string>()
  #looking: Promise<void> = Promise.resolve()

  constructor(options: DecidersOptions) {
    this.#options = options
  }

  start(): void {
    this.#looking = this.#lookAround()
  }

  async stop(): Promise<void> {
    this.#ended.abort()
    await this.#looking
    await Promise.all(this.#deciding)
  }

  /** Whether somebody still seems to wait for this call. Throws where no gateway says so. */
  async isAttended({ agentId, asked }: Pick<KeptApproval, 'agentId' | 'asked'>): Promise<boolean> {
    const { desks, random } = this.#options
    const { items } = await desks[0].callAny(random, 'approval.list', { agent_id: agentId, statuses: [...OPEN], limit: PAGE })
    return items.map(keptOfView).some((item) => item.asked === asked && item.goneAt === undefined && item.expiresAt > Date.now())
  }

  /** Looks at everything of which something may have become since. Throws where no gateway says so. */
  async lookAtAll(): Promise<void> {
    const { desks, ledger, random } = this.#options
    const open = ledger.approvals.filter((approval) => !isOver(approval))
    const since = Math.min(Date.now(), ...open.map(({ createdAt }) => createdAt)) - LATE_ROW_MS
    let cursor: string | undefined
    do {
      const page = { statuses: [...ApprovalStatus.options], limit: PAGE, ...(cursor === undefined ? {} : { cursor }) }
      const { items, next_cursor } = await desks[0].callAny(random, 'approval.list', page)
      const found = items.map(keptOfView)
      for (const each of found) ledger.looked(each)
      const oldest = found.at(-1)?.createdAt ?? 0
      cursor = oldest < since ? undefined : (next_cursor ?? undefined)
    } while (cursor !== undefined)
  }

  async #lookAround(): Promise<void> {
    const { desks, random, ledger, tally } = this.#options
    while (!this.#ended.signal.aborted) {
      try {
        const { items } = await desks[0].callAny(random, 'approval.list', { statuses: [...OPEN], limit: PAGE })
        // The oldest first: what a person said to a call goes for the same call when it is asked about again.
        for (const item of items.toReversed()) if (ledger.told(keptOfView(item))) this.#begin(item)
        checkOpen(items.map(keptOfView), (text, call) => this.#doubled(text, call))
      } catch {
        tally.count('looks that failed')
      }
      await wait(LOOK_MS)
    }
  }

  /** It is seen again and again, and told once. */
  #doubled(text: string, call: string): void {
    if (!this.#doubledCalls.has(call)) this.#options.problem(text, call)
    this.#doubledCalls.add(call)
  }

  #begin(item: Approval): void {
    const approval = keptOfView(item)
    const { seed, tally } = this.#options
    const planned = planFor(seed, approval.asked)
    const isDone = this.#yes.has(approval.asked)
    if (isDone) tally.count('asked again after a yes')
    const plan: Plan = isDone ? { inMs: planned.inMs, said: [{ decision: 'deny_continue' }] } : planned
    if (isYesPlan(plan)) this.#yes.add(approval.asked)
    tally.count(
      `plans: ${plan.said.length === 0 ? 'nobody decides' : plan.said.length === 1 ? 'one decides' : 'two decide at once'}`,
    )
    const deciding = this.#carryOut(approval, plan).finally(() => this.#deciding.delete(deciding))
    this.#deciding.add(deciding)
  }

  async #carryOut(approval: KeptApproval, { inMs, said }: Plan): Promise<void> {
    const { desks, gateways } = this.#options
    await wait(inMs)
    const won = await Promise.all(
      said.map((words, index) => this.#decide(approval, words, { desk: desks[index === 0 ? 0 : 1], gateway: index % gateways })),
    )
    if (won.filter((isWon) => isWon).length > 1)
      this.#options.problem(`${approval.id}: two decided otherwise, and both were told that it counts`, approval.asked)
  }

  /** Says so until it is answered. True: it counts. */
  async #decide(
    approval: KeptApproval,
    words: Words,
    at: { readonly desk: AdminDesk; readonly gateway: number },
  ): Promise<boolean> {
    const { tally, ledger, gateways, problem } = this.#options
    const { id: approval_id, asked } = approval
    const { decision, edited } = words
    const more = edited === undefined ? {} : { arguments_json: JSON.stringify({ call: edited }) }
    const reason = `${asked} by ${at.gateway}`
    for (let tries = 0; Date.now() < approval.expiresAt + INSIST_MS; tries += 1) {
      try {
        const gateway = (at.gateway + tries) % gateways
        const view = await at.desk.call(gateway, 'approval.decide', { approval_id, decision, reason, ...more })
        ledger.note(approval_id, `${at.desk.name} was answered at gateway ${gateway}: ${view.status}`)
        tally.count(`decisions: ${edited === undefined ? decision : 'approve with edits'}`)
        this.#checkCounts(keptOfView(view), words, at.desk.name)
        return true
      } catch (error) {
        if (error instanceof ToolError && error.code === 'conflict') {
          ledger.note(approval_id, `${at.desk.name} wanted ${decision} ${edited ?? ''}: ${error.message}`)
          await this.#checkLate(approval, words, at.desk.name, error.message)
          return false
        }
        tally.count('decisions that were not answered')
        if (tries === 0) ledger.note(approval_id, `${at.desk.name} was not answered at first: ${messageOf(error)}`)
        await wait(RETRY_MS)
      }
    }
    problem(`${at.desk.name} was never answered about ${approval_id}`, asked)
    return false
  }

  /** Who is told that it counts finds their own words there. */
  #checkCounts(found: KeptApproval, { decision, edited }: Words, by: string): void {
    this.#options.ledger.told(found)
    const isOwn = found.decided?.decision === decision && found.edited === edited && found.decided.by === by
    if (!isOwn)
      this.#options.problem(
        `${by} said ${decision} ${edited ?? ''} and was told that it counts: ${shownApproval(found)}`,
        found.asked,
      )
  }

  /** Who comes too late is told who decided what, or what else became of it. */
  async #checkLate(approval: KeptApproval, words: Words, by: string, message: string): Promise<void> {
    const { desks, random, problem, tally } = this.#options
    const told = TOO_LATE.exec(message)?.groups
    if (told === undefined) return problem(`${by} was refused with “${message}”`, approval.asked)
    tally.count(
      told['by'] === undefined ? `decisions too late: it is ${told['status']}` : 'decisions too late: another came first',
    )
    let found: KeptApproval
    try {
      found = keptOfView(await desks[0].callAny(random, 'approval.get', { approval_id: approval.id }))
    } catch {
      return tally.count('late ones that could not be looked at')
    }
    this.#options.ledger.told(found)
    const isRight =
      told['by'] === undefined
        ? found.decided === undefined && found.status === told['status']
        : found.decided?.by === told['by'] && found.decided.decision === told['decision']
    if (!isRight || told['by'] === by)
      problem(`${by} said ${words.decision} and was told “${message}”, and it is ${shownApproval(found)}`, approval.asked)
  }
}
