import { APPROVAL_MOVES, type ApprovalId, type ApprovalStatus } from '@parley/protocol'
import { type KeptApproval, shownApproval } from './kept-approval.ts'

/** Those of which nothing more becomes by itself. */
const OVER: ReadonlySet<ApprovalStatus> = new Set(['denied', 'expired', 'withdrawn', 'returned', 'failed', 'unknown'])
const HISTORY_LINES = 12

export const isOver = ({ status }: Pick<KeptApproval, 'status'>): boolean => OVER.has(status)

interface Entry {
  latest: KeptApproval
  readonly history: string[]
}

/** Every approval that a gateway has ever told of. None may go again, go back, or be decided otherwise later. */
export class ApprovalLedger {
  readonly #entries = new Map<ApprovalId, Entry>()
  readonly #byCall = new Map<string, Set<ApprovalId>>()
  readonly #problem: (text: string, call: string) => void

  constructor(problem: (text: string) => void) {
    this.#problem = (text, call) => problem(`${text}${this.historyOf(call)}`)
  }

  get approvals(): readonly KeptApproval[] {
    return [...this.#entries.values()].map(({ latest }) => latest)
  }

  of(call: string): readonly KeptApproval[] {
    return [...(this.#byCall.get(call) ?? [])].flatMap((id) => this.#entries.get(id)?.latest ?? [])
  }

  /** What happened to a call, line by line. */
  historyOf(call: string): string {
    const lines = [...(this.#byCall.get(call) ?? [])].flatMap((id) => this.#entries.get(id)?.history ?? [])
    return lines
      .slice(-HISTORY_LINES)
      .map((line) => `\n      ${line}`)
      .join('')
  }

  note(id: ApprovalId, words: string): void {
    this.#entries.get(id)?.history.push(`${new Date().toISOString()} ${words}`)
  }

  /** Somebody was told of it, maybe later than others of what came after. Answers whether it is new. */
  told(approval: KeptApproval): boolean {
    const known = this.#entries.get(approval.id)
    if (known === undefined) {
      this.#entries.set(approval.id, { latest: approval, history: [`seen: ${shownApproval(approval)}`] })
      this.#byCall.set(approval.asked, (this.#byCall.get(approval.asked) ?? new Set()).add(approval.id))
      return true
    }
    this.#checkSame(known.latest, approval)
    return false
  }

  /** As it is now, by one who looks at one time after the other. */
  looked(approval: KeptApproval): void {
    if (this.told(approval)) return
    const known = this.#entries.get(approval.id)
    if (known === undefined || JSON.stringify(known.latest) === JSON.stringify(approval)) return
    if (!isReached(known.latest.status, approval.status))
      this.#problem(`${approval.id} went from ${known.latest.status} to ${approval.status}`, approval.asked)
    known.history.push(`seen: ${shownApproval(approval)}`)
    known.latest = approval
  }

  /** Those that were told of and are not among these. */
  checkAllIn(found: ReadonlySet<ApprovalId>): void {
    for (const [id, { latest }] of this.#entries) if (!found.has(id)) this.#problem(`${id} is lost`, latest.asked)
  }

  #checkSame(before: KeptApproval, after: KeptApproval): void {
    const { id, asked } = before
    const isSame = (['agentId', 'asked', 'createdAt', 'expiresAt'] as const).every((field) => before[field] === after[field])
    if (!isSame) this.#problem(`${id} is about another call now: ${shownApproval(after)}`, asked)
    if (before.decided === undefined || after.decided === undefined) return
    if (JSON.stringify([before.decided, before.edited]) !== JSON.stringify([after.decided, after.edited]))
      this.#problem(`${id} was decided again, otherwise: ${shownApproval(after)}`, asked)
  }
}

/** Whether one status can follow the other, by however many steps. */
function isReached(from: ApprovalStatus, to: ApprovalStatus): boolean {
  return from === to || APPROVAL_MOVES[from].some((next) => isReached(next, to))
}
