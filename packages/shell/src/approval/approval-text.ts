import { type Approval, type ApprovalAnswer, iso, POLICY_LIMITS } from '@parley/protocol'
import { visibleLine, visibleName, visibleText } from '@parley/protocol/visible'
import { agoText, type Cell, columns, leftText, named, plainLines, timeText } from '@parley/screen'
import type { Io } from '@parley/command-line'
import { callText } from '../call-text.ts'

type Reader = Pick<Io, 'env' | 'now' | 'screen'>

const LIST_HEADER = ['id', 'agent', 'call', 'arguments', 'status', 'since', 'ends, or who decided', 'owner']
/** As much of the arguments as tells one call from another in a list. */
const EXCERPT_CHARS = 60
const MINUTE_MS = 60_000

/** One in each row. */
export function approvalsText(items: readonly Approval[], io: Reader): string {
  const rows = items.map((item): Cell[] => [
    item.approval_id,
    named(item.agent),
    { shown: callText(item) },
    { shown: excerptOf(item) },
    item.status,
    agoText(item.created_at, io),
    { shown: endText(item, io) },
    named(item.owner),
  ])
  return columns([LIST_HEADER, ...rows], io.screen(), { mayGo: ['since', 'owner'] })
}

/** A proposal is told by why it was made: its preview begins with what all of them say. */
function excerptOf({ kind, preview, reason }: Approval): string {
  const line = (kind === 'proposal' ? reason : preview).replaceAll(/\s+/g, ' ').trim()
  return visibleLine(line.length > EXCERPT_CHARS ? `${line.slice(0, EXCERPT_CHARS)}…` : line)
}

function endText({ status, expires_at, decided }: Approval, io: Reader): string {
  if (status === 'pending') return leftText(expires_at, io)
  return decided === null ? '' : `${decided.decision} by ${visibleName(decided.by)}`
}

const agentText = ({ agent, owner }: Approval): string => `${visibleName(agent)} of ${visibleName(owner)}`

/** All of it: who wants what, why somebody is asked and who may answer, and the arguments. */
export function approvalText(approval: Approval, io: Reader): string {
  const { decided } = approval
  const rows = [
    ['approval', approval.approval_id],
    ['agent', agentText(approval)],
    ['call', callText(approval)],
    ['by', visibleName(approval.caller)],
    ['why', visibleLine(approval.reason)],
    ['rule', askedBy(approval)],
    ['said yes', votesText(approval)],
    ['status', approval.status],
    ['since', agoText(approval.created_at, io)],
    ['ends', approval.status === 'pending' ? `${leftText(approval.expires_at, io)}, unless somebody decides` : ''],
    ['caller', isLeft(approval) ? 'is gone; the same call again finds what is said to it' : ''],
    ['you', approval.status === 'pending' ? `may ${approval.may_decide ? '' : 'not '}decide` : ''],
    ['decided', decided === null ? '' : `${decided.decision} by ${visibleName(decided.by)}, ${agoText(decided.at, io)}`],
    ['reason', visibleLine(decided?.reason ?? '')],
  ]
  const about = columns(
    rows.flatMap(([word = '', value = '']) => (value === '' ? [] : [[word, { shown: value }]])),
    io.screen(),
    { wraps: true },
  )
  const edited = approval.edited_preview === null ? '' : `\n\nsent instead:\n${plainLines(approval.edited_preview)}`
  return `${about}\n\n${plainLines(approval.preview)}${edited}${partsText(approval)}`
}

/** The arguments as they will be sent, with nothing hidden and nothing left out. Of a proposal the preview is all of it. */
export const wholeText = ({ kind, preview, arguments_json }: Approval & { readonly arguments_json: string }): string =>
  kind === 'proposal' ? plainLines(preview) : visibleText(arguments_json)

function partsText({ approval_id, masked, cut }: Approval): string {
  const what = [...(masked ? ['hidden'] : []), ...(cut ? ['left out'] : [])].join(' or ')
  return what === '' ? '' : `\n\nPart of it is ${what}; the whole: parley approvals show ${approval_id} --whole`
}

/** One line for a log that somebody reads now and then. */
export function approvalLine(approval: Approval): string {
  const { approval_id, reason, may_decide } = approval
  const mayNot = may_decide ? '' : ', which you may not decide'
  return `${approval_id} ${agentText(approval)}: ${callText(approval)}${mayNot} (${visibleLine(reason)})`
}

/** Nobody waits for it, and it was not sent. */
const isLeft = ({ status, caller_gone_at }: Approval): boolean =>
  caller_gone_at !== null && (status === 'pending' || status === 'approved')

/** What was said to it before, where that is what is said now. */
export function saidBefore({ decided, ...approval }: Approval, decision: ApprovalAnswer, io: Reader): string | undefined {
  if (decided?.decision !== decision) return undefined
  const what = `${callText(approval)} of ${visibleName(approval.agent)}`
  const said = decision.startsWith('approve') ? 'approved' : 'denied'
  return `${what} was ${said} already, by ${visibleName(decided.by)}, ${agoText(decided.at, io)}.`
}

/** What a decision came to. `minutes` is how long a yes for a session lasts. */
export function decidedText(approval: Approval, io: Reader, minutes = POLICY_LIMITS.allowanceMs / MINUTE_MS): string {
  const later = isLeft(approval) ? ' Its caller is gone: it is sent when the agent makes the same call again.' : ''
  return `${cameTo(approval, io, minutes)}${approval.status === 'approved' ? later : ''}`
}

function cameTo(approval: Approval, io: Reader, minutes: number): string {
  const { status, votes, needed, agent, decided } = approval
  const what = `${callText(approval)} of ${visibleName(agent)}`
  if (status === 'pending') return `${what} waits for more: ${votes.length} of ${needed} have said yes.`
  if (status === 'denied') return `${what} is denied.`
  if (decided?.decision === 'approve_session') {
    const until = timeText(iso(Date.parse(decided.at) + minutes * MINUTE_MS), io)
    const ends = `parley policy disallow ALLOWANCE --agent ${approval.agent_id} ends it before, and policy show names it`
    return `${what} is approved, and so are more of its kind until ${until}; ${ends}.`
  }
  if (decided?.decision === 'approve_rule') return `${what} is approved, and a rule lets it through from now on.`
  return `${what} is approved${approval.edited_preview === null ? '' : ', with other arguments'}.`
}

function askedBy({ rule, layer }: Approval): string {
  if (layer === null) return rule ?? ''
  return rule === null ? `the policy of the ${layer}` : `${rule}, of the policy of the ${layer}`
}

function votesText({ votes, needed }: Approval): string {
  if (needed === 1 && votes.length === 0) return ''
  return `${votes.length} of ${needed}${votes.length === 0 ? '' : `: ${votes.map(visibleName).join(', ')}`}`
}
