import type { Allowance, PolicyEntry, ToolOutput } from '@parley/protocol'
import { visibleLine, visibleName, visibleText } from '@parley/protocol/visible'
import { agoText, columns, named, prose, timeText } from '@parley/screen'
import { callText } from '../call-text.ts'
import type { Io } from '@parley/command-line'

type Tried = ToolOutput<'policy.test'>
type Reader = Pick<Io, 'env' | 'now' | 'screen'>

const HISTORY_HEADER = ['version', 'status', 'by', 'written', 'activated', 'note']
const TRACE_HEADER = ['layer', 'said', 'by rule', 'passed over']

/** The text as it is written; on a terminal with what cannot be seen in it made visible. What is allowed for a while stands below, as comments. */
export function writtenText(text: string, allowances: readonly Allowance[], io: Reader): string {
  const whole = io.screen() === undefined ? text : visibleText(text)
  const lines = allowances.map((allowance) => `# ${allowanceText(allowance, io)}\n`)
  const ended = whole === '' || whole.endsWith('\n') ? whole : `${whole}\n`
  return lines.length === 0 ? ended : `${ended}\n# Allowed for a while:\n${lines.join('')}`
}

function allowanceText({ id, kind, mount, name, digest, session, expires_at }: Allowance, io: Reader): string {
  const what = `${callText({ kind, mount, name })}${digest === null ? '' : ', the very same call'}`
  const whom = session === null ? '' : `, of ${visibleName(session)}`
  return `${id}: ${what}${whom}, until ${timeText(expires_at, io)}`
}

export function historyText(items: readonly PolicyEntry[], io: Reader): string {
  const rows = items.map(({ version, status, created_by, created_at, activated_by, activated_at, note }) => [
    String(version),
    status,
    named(created_by),
    agoText(created_at, io),
    activated_at === null ? '' : `${agoText(activated_at, io)} by ${activated_by ?? 'nobody'}`,
    prose(note),
  ])
  return columns([HISTORY_HEADER, ...rows], io.screen(), { mayGo: ['by', 'written'] })
}

/** Why a call that was tried may not be the one that was meant, with the one that may be, as it is typed. */
export function warningText({ message, meant }: Tried['warnings'][number], call: object): string {
  const kind = 'prompt' in call ? 'prompt' : 'tool'
  const said = visibleLine(message)
  return meant === null ? said : `${said} (did you mean --mount ${meant.mount} --${kind} ${visibleName(meant.name)}?)`
}

/** What would be decided, and what each layer said to it. */
export function triedText({ decision, rule, layer, reason, allowances, trace }: Tried, io: Reader): string {
  const rows = [
    ['decision', decision],
    ['rule', rule ?? ''],
    ['layer', layer ?? ''],
    ['reason', reason],
    ['allowed by', allowances.join(' ')],
  ].filter(([, value]) => value !== '')
  const steps = trace.map((step) => [
    step.layer,
    `${step.outcome ?? 'nothing'}${step.delegated ? ', the layers below may say otherwise' : ''}${step.shadow ? ', not enforced' : ''}`,
    step.rule ?? '',
    step.passed_over.join(' '),
  ])
  const traced = steps.length === 0 ? 'No policy is active.' : columns([TRACE_HEADER, ...steps], io.screen(), { wraps: true })
  return `${columns(rows, io.screen(), { wraps: true })}\n\n${traced}`
}
