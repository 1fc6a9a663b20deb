import type { Approval } from '@parley/protocol'
import { visibleLine, visibleName, visibleText } from '@parley/protocol/visible'
import { agoText, columns, plainLines } from '@parley/screen'
import type { Io } from '@parley/command-line'
import { callText } from '../call-text.ts'

type Reader = Pick<Io, 'env' | 'now' | 'screen'>

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

/** What a decision came to. */
export function decidedText(approval: Approval): string {
  const { status, votes, needed, agent, decided } = approval
  const what = `${callText(approval)} of ${visibleName(agent)}`
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
  return `${votes.length} of ${needed}${votes.length === 0 ? '' : `: ${votes.map(visibleName).join(', ')}`}`
}
