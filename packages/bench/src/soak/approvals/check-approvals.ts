import { type ApprovalStatus, isYes } from '@parley/protocol'
import type { Kill } from '../agents/kills.ts'
import type { AskedCall } from './asking-caller.ts'
import type { KeptApproval } from './kept-approval.ts'

/** The gateways follow the time of day and do not jump to it. */
const CLOCK_MS = 250
/** An approval is dated when a gateway began to write it, which may have had to wait for others since. */
const COMMIT_MS = 3_000
/** What a call came to is written down at once after its caller has heard it. */
const WRITTEN_MS = 5_000

const SENT: ReadonlySet<ApprovalStatus> = new Set(['dispatched', 'returned', 'failed', 'unknown'])

/** Something that a mount did. */
export interface Effect {
  readonly call: string
  readonly at: number
  /** Which of the hosts had it run. */
  readonly host: number
}

export interface ApprovalFacts {
  readonly approvals: readonly KeptApproval[]
  readonly effects: readonly Effect[]
  readonly kills: readonly Kill[]
  /** Whether the database dies with a gateway. */
  readonly isInGateway: boolean
}

type Problem = (text: string, call: string) => void

/** Holds what mounts did against what people let through. At any time: what was sent so far was sent rightly. */
export function checkEffects({ approvals, effects }: Pick<ApprovalFacts, 'approvals' | 'effects'>, problem: Problem): void {
  const byCall = Map.groupBy(effects, ({ call }) => call)
  const bySent = Map.groupBy(
    approvals.filter(({ status }) => SENT.has(status)),
    sentAs,
  )
  for (const [call, times] of byCall) {
    const asked = askedAs(call)
    if (times.length > 1) problem(`${call} had ${times.length} effects`, asked)
    const [approval, ...more] = bySent.get(call) ?? []
    if (approval === undefined) {
      problem(`${call} had an effect, and nothing that was let through is about it`, asked)
      continue
    }
    if (more.length > 0) problem(`${call} was let through ${more.length + 1} times`, asked)
    const { decided, dispatchedAt = Infinity } = approval
    if (decided === undefined || !isYes(decided.decision)) problem(`${call} had an effect without a yes`, asked)
    for (const { at } of times)
      if (at < dispatchedAt - CLOCK_MS) problem(`${call} had its effect ${dispatchedAt - at} ms before it was sent`, asked)
  }
}

/** What came back was done: for effects that were read after the approvals. */
export function checkReturned({ approvals, effects }: Pick<ApprovalFacts, 'approvals' | 'effects'>, problem: Problem): void {
  const done = new Set(effects.map(({ call }) => call))
  for (const approval of approvals)
    if (approval.status === 'returned' && !done.has(sentAs(approval)))
      problem(`${approval.id} returned without an effect`, approval.asked)
}

/** Nothing is `unknown` unless a kill fell between its dispatch and its answer. */
export function checkUnknown(
  { approvals, effects, kills, isInGateway }: ApprovalFacts,
  calls: ReadonlyMap<string, AskedCall>,
  problem: Problem,
): void {
  const hostOf = new Map(effects.map(({ call, host }) => [call, host]))
  for (const approval of approvals) {
    if (approval.status !== 'unknown') continue
    const { dispatchedAt = Infinity, endedAt = -Infinity, asked } = approval
    const { heard, heardAt = Infinity } = calls.get(asked) ?? {}
    const answeredAt = heard?.kind === 'result' ? heardAt + WRITTEN_MS : Infinity
    const until = Math.min(endedAt, answeredAt) + CLOCK_MS
    const host = hostOf.get(sentAs(approval))
    const isCause = ({ victim, index, at }: Kill): boolean =>
      at > dispatchedAt - CLOCK_MS &&
      at < until &&
      (victim === 'database' || (victim === 'gateway' && isInGateway) || (victim === 'host' && (host ?? index) === index))
    if (!kills.some(isCause))
      problem(`${approval.id} is unknown, and nothing was killed between its dispatch and its answer`, asked)
  }
}

/**
 * One call has one approval at a time: it is made again only when it has been cut off, and finds the one that is open. By one look. One that was
 * approved and whose caller is there is being sent: whoever is cut off in that moment asks anew.
 */
export function checkOpen(open: readonly KeptApproval[], problem: Problem): void {
  const waiting = open.filter(({ status, goneAt }) => status === 'pending' || goneAt !== undefined)
  for (const [call, several] of Map.groupBy(waiting, ({ asked }) => asked)) {
    const newest = Math.max(...several.map(({ createdAt }) => createdAt))
    const [first, second] = several.filter(({ expiresAt }) => expiresAt > newest + CLOCK_MS)
    if (first !== undefined && second !== undefined) problem(`${call} is asked about by ${first.id} and by ${second.id}`, call)
  }
}

/** The same by what is written down of those that nobody saw together. */
export function checkDoubled(approvals: readonly KeptApproval[], problem: Problem): void {
  for (const [call, several] of Map.groupBy(approvals, ({ asked }) => asked)) {
    const inOrder = several.toSorted((one, other) => one.createdAt - other.createdAt)
    for (const [index, { createdAt, id }] of inOrder.entries()) {
      const before = inOrder[index - 1]
      if (before !== undefined && createdAt < closedAt(before) - COMMIT_MS)
        problem(`${call} was asked about by ${id} while ${before.id} was open`, call)
    }
  }
}

/** What callers were told is what is written down. */
export function checkHeard(
  calls: ReadonlyMap<string, AskedCall>,
  { approvals, effects }: Pick<ApprovalFacts, 'approvals' | 'effects'>,
  problem: Problem,
): void {
  const byCall = Map.groupBy(approvals, ({ asked }) => asked)
  const done = new Set(effects.map(({ call }) => call))
  for (const { asked, id } of approvals) if (!calls.has(asked)) problem(`${id} is about ${asked}, which nobody called`, asked)
  for (const [name, { heard }] of calls) {
    const own = byCall.get(name) ?? []
    if (heard !== undefined && !isAsHeard(heard, own, done)) problem(`${name} heard ${JSON.stringify(heard)}`, name)
  }
}

function isAsHeard(heard: NonNullable<AskedCall['heard']>, own: readonly KeptApproval[], done: ReadonlySet<string>): boolean {
  switch (heard.kind) {
    case 'result':
      return own.some((approval) => {
        const { status, edited } = approval
        const isSaid = heard.text.includes(`"done ${sentAs(approval)}"`)
        const isToldOfEdit = heard.text.includes('A person changed the arguments') === (edited !== undefined)
        return (status === 'returned' || status === 'unknown') && isSaid && isToldOfEdit && done.has(sentAs(approval))
      })
    case 'denied':
      return own.some(
        ({ status, decided }) =>
          status === 'denied' &&
          decided?.decision === (heard.isAbort ? 'deny_abort' : 'deny_continue') &&
          heard.message.includes(`${decided.by} said no: ${decided.reason}`),
      )
    case 'expired':
      return own.some(({ status }) => status === 'expired')
    case 'sent already':
      return own.some(({ status }) => SENT.has(status))
    case 'cancelled':
    case 'nothing':
      return true
  }
}

/** The name under which it is sent, where it is. */
export const sentAs = ({ asked, edited }: Pick<KeptApproval, 'asked' | 'edited'>): string => edited ?? asked

/** The name under which a call was asked about that is sent under this one. */
const askedAs = (call: string): string => call.replace(/~\d+$/, '')

/** From when on the same call does not find it any more. */
function closedAt({ dispatchedAt, endedAt, expiresAt }: KeptApproval): number {
  return Math.min(dispatchedAt ?? Infinity, endedAt ?? Infinity, expiresAt)
}
