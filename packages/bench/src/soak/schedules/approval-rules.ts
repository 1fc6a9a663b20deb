import { APPROVAL_MOVES, type ApprovalId, type ApprovalStatus, RPC_CODES, isYes } from '@parley/protocol'
import type { ApprovalRecord } from '@parley/store'
import type { Attempt } from './stepped-client.ts'
import type { SteppedHost } from './stepped-host.ts'

/** What somebody who decided was answered. */
export interface Said {
  readonly approval: ApprovalId
  readonly decision: Parameters<typeof isYes>[0]
  readonly by: string
  /** The status in the answer; `undefined`: it was refused. */
  readonly status: ApprovalStatus | undefined
}

interface Known {
  record: ApprovalRecord
  effects: number
  dispatches: number
}

const OVER: ReadonlySet<ApprovalStatus> = new Set(['denied', 'expired', 'withdrawn', 'returned', 'failed', 'unknown'])

/** What must hold of approvals at each moment, whatever happens to whom. */
export class ApprovalRules {
  readonly problems: string[] = []
  readonly #known = new Map<ApprovalId, Known>()
  readonly #said: Said[] = []
  readonly #attempts: Attempt[] = []
  /** Which host dispatched what; those that gave the agent back by themselves. */
  readonly #sentBy = new Map<ApprovalId, SteppedHost>()
  readonly #gaveBack = new Map<SteppedHost, string>()
  #holder: SteppedHost | undefined

  get records(): readonly ApprovalRecord[] {
    return [...this.#known.values()].map(({ record }) => record)
  }

  isOver(id: ApprovalId): boolean {
    const known = this.#known.get(id)
    return known !== undefined && OVER.has(known.record.status)
  }

  took(host: SteppedHost): void {
    this.#holder = host
    this.#gaveBack.delete(host)
  }

  gaveBack(host: SteppedHost, why: string): void {
    this.#gaveBack.set(host, why)
  }

  began(attempt: Attempt): void {
    this.#attempts.push(attempt)
  }

  /** The records as they are after a commit. Answers those that are new. */
  look(records: readonly ApprovalRecord[]): readonly ApprovalRecord[] {
    const found: ApprovalRecord[] = []
    for (const record of records) {
      const known = this.#known.get(record.id)
      if (known === undefined) {
        found.push(record)
        this.#known.set(record.id, { record, effects: 0, dispatches: 0 })
        this.#expect(record.status === 'pending', `${record.id} began as ${record.status}`)
      } else if (known.record.status !== record.status) this.#moved(known, record)
      else known.record = record
    }
    this.#expect(records.length >= this.#known.size, 'an approval is gone')
    return found
  }

  #moved(known: Known, record: ApprovalRecord): void {
    const { id, status: to } = record
    const { status: before } = known.record
    known.record = record
    this.#expect(APPROVAL_MOVES[before].includes(to), `${id} went from ${before} to ${to}`)
    if (to === 'dispatched') {
      known.dispatches += 1
      if (this.#holder !== undefined) this.#sentBy.set(id, this.#holder)
      this.#expect(known.dispatches === 1, `${id} was dispatched ${known.dispatches} times`)
      this.#expect(record.decided !== null && isYes(record.decided.decision), `${id} was dispatched undecided`)
      this.#expect((record.dispatchedAt ?? 0) < record.expiresAt, `${id} was dispatched when it had run out`)
    }
    if (to === 'returned' && before === 'dispatched')
      this.#expect(known.effects === 1, `${id} returned with ${known.effects} effects`)
    if (to === 'unknown') {
      const by = this.#sentBy.get(id)
      const why = by === undefined ? undefined : this.#gaveBack.get(by)
      const isLost = by !== undefined && (by.isDead || by !== this.#holder || why === undefined)
      this.#expect(isLost, `${id} is unknown though nobody was killed: its host gave the agent back (${why ?? ''})`)
    }
    if (to === 'denied') this.#expect(known.effects === 0, `${id} was denied after its effect`)
  }

  /** A mount does what it was told. */
  effect(attempt: Attempt): void {
    attempt.effects += 1
    this.#expect(attempt.effects === 1, `${attempt.name} had ${attempt.effects} effects`)
    this.#expect(attempt.isAllowed, `${attempt.name} was sent though nothing allowed it`)
    if (attempt.approval === undefined) return
    const known = this.#known.get(attempt.approval)
    if (known === undefined) return void this.problems.push(`${attempt.name} was sent under an approval that nobody knows`)
    known.effects += 1
    const { id, status, dispatchedAt, edited } = known.record
    this.#expect(known.effects === 1, `${id} had ${known.effects} effects`)
    this.#expect(dispatchedAt !== null, `${id} was sent while it was ${status}`)
    this.#expect(['dispatched', 'failed', 'unknown'].includes(status), `${id} was sent while it was ${status}`)
    const wanted = edited ?? known.record.arguments
    this.#expect(JSON.stringify(attempt.sent) === wanted, `${id} was sent with ${JSON.stringify(attempt.sent)}, not ${wanted}`)
  }

  /** A client is answered; what it hears is what is so. */
  heard(attempt: Attempt): void {
    const { heard, name, effects, approval } = attempt
    if (heard === undefined) return
    const status = approval === undefined ? undefined : this.#known.get(approval)?.record.status
    if (heard.kind === 'result') {
      this.#expect(effects === 1, `${name} heard a result of ${effects} effects`)
      this.#expect(
        status === undefined || ['dispatched', 'returned', 'unknown'].includes(status),
        `${name} heard a result, and its approval is ${status}`,
      )
      return
    }
    if (heard.kind === 'error' && DENIALS.has(heard.code)) {
      this.#expect(effects === 0, `${name} heard “${heard.message}” after its effect`)
      this.#expect(approval === undefined, `${name} heard “${heard.message}” though ${approval} let it through`)
    }
  }

  /** Somebody who decided is answered. One of those who contradict each other wins. */
  said(said: Said): void {
    this.#said.push(said)
    const { approval: id, status, decision, by } = said
    if (status === undefined) return
    const record = this.#known.get(id)?.record
    const won = this.#said.filter((each) => each.approval === id && each.status !== undefined && each.status !== 'pending')
    const sides = new Set(won.map((each) => isYes(each.decision)))
    this.#expect(sides.size < 2, `${id}: both yes and no were taken`)
    if (status !== 'pending' && record !== undefined)
      this.#expect(record.decided?.decision === decision, `${by} was told that ${id} is ${status} by ${decision}, and it is not`)
  }

  /** The world was left alone for long enough: everything has an end. */
  ended(): void {
    for (const { record, effects } of this.#known.values()) {
      this.#expect(OVER.has(record.status), `${record.id} has no end: it is ${record.status}`)
      if (record.status === 'returned') this.#expect(effects === 1, `${record.id} returned with ${effects} effects`)
      if (['denied', 'expired', 'withdrawn'].includes(record.status))
        this.#expect(effects === 0, `${record.id} is ${record.status} and had ${effects} effects`)
    }
    for (const { name, heard } of this.#attempts) this.#expect(heard !== undefined, `${name} never heard anything`)
  }

  #expect(holds: boolean, words: string): void {
    if (!holds) this.problems.push(words)
  }
}

/** What says that a call was not made. */
const DENIALS: ReadonlySet<number> = new Set([
  RPC_CODES.policy_denied,
  RPC_CODES.policy_denied_continue,
  RPC_CODES.policy_evaluator_error,
  RPC_CODES.approval_expired,
])
