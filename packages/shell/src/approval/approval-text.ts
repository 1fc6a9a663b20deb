import type { Approval } from '@parley/protocol'
import { agoText, columns, plainLines, plainText } from '@parley/screen'
import type { Io } from '@parley/command-line'

type Reader = Pick<Io, 'env' | 'now' | 'screen'>

/** What is asked about, in few words. Names come from strangers. */
export const callText = ({ kind, mount, name }: Pick<Approval, 'kind' | 'mount' | 'name'>): string =>
  plainText(`${kind} ${mount === null ? '' : `${mount} `}${name}`)

/** All of it: who wants what, why somebody is asked and who may answer, and the arguments. */
export function approvalText(approval: Approval, io: Reader): string {
  const { decided } = approval
  const rows = [
    ['approval', approval.approval_id],
    ['agent', `${approval.agent} of ${approval.owner}`],
    ['call', callText(approval)],
    ['by', approval.caller],
    ['why', approval.reason],
    ['rule', askedBy(approval)],
    ['said yes', votesText(approval)],
    ['status', approval.status],
    ['since', agoText(approval.created_at, io)],
    ['you', approval.status === 'pending' ? `may ${approval.may_decide ? '' : 'not '}decide` : ''],
    ['decided', decided === null ? '' : `${decided.decision} by ${decided.by}, ${agoText(decided.at, io)}`],
    ['reason', decided?.reason ?? ''],
  ]
  const about = columns(
    rows.filter(([, value]) => value !== ''),
    io.screen(),
    { wraps: true },
  )
  const edited = approval.edited_preview === null ? '' : `\n\nsent instead:\n${plainLines(approval.edited_preview)}`
  return `${about}\n\n${plainLines(approval.preview)}${edited}`
}

/** One line for a log that somebody reads now and then. */
export function approvalLine(approval: Approval): string {
  const { approval_id, agent, owner, reason, may_decide } = approval
  const mayNot = may_decide ? '' : ', which you may not decide'
  return plainText(`${approval_id} ${agent} of ${owner}: ${callText(approval)}${mayNot} (${reason})`)
}

/** What a decision came to. */
export function decidedText(approval: Approval): string {
  const { status, votes, needed, agent, decided } = approval
  const what = `${callText(approval)} of ${plainText(agent)}`
  if (status === 'pending') return `${what} waits for more: ${votes.length} of ${needed} have said yes.`
  if (status === 'denied') return `${what} is denied.`
  if (decided?.decision === 'approve_session') return `${what} is approved, and so are more of its kind for a while.`
  if (decided?.decision === 'approve_rule') return `${what} is approved, and a rule lets it through from now on.`
  return `${what} is approved${approval.edited_preview === null ? '' : ', with other arguments'}.`
}

function askedBy({ rule, layer }: Approval): string {
  if (layer === null) return rule ?? ''
  return rule === null ? `the policy of the ${layer}` : `${rule}, of the policy of the ${layer}`
}

function votesText({ votes, needed }: Approval): string {
  if (needed === 1 && votes.length === 0) return ''
  return `${votes.length} of ${needed}${votes.length === 0 ? '' : `: ${votes.join(', ')}`}`
}
