import { visibleName } from '@parley/protocol/visible'
import { plainText, secondText } from '@parley/screen'
import { callText } from '../call-text.ts'
import type { LoggedCall } from './call-fold.ts'

type Decided = LoggedCall['decided']

const WHY_CHARS = 200
const NAME_CHARS = 120

/** A call in one line: when, who, what, by which rule it was decided how, and what became of it. */
export function callLineText(call: LoggedCall, place: Parameters<typeof secondText>[1]): string {
  const { decided } = call
  const { at, by, kind, mount, name } = decided
  const what = callText({ kind, mount, name: short(name, NAME_CHARS) })
  const said = [decisionText(decided), endText(call)].filter((text) => text !== '').join('; ')
  return `${secondText(at, place)} ${visibleName(by.split(' ', 1)[0] ?? by)}: ${what}: ${said}`
}

function decisionText({ decision: { kind, approval, reason, by } }: Decided): string {
  const rule = ruleText(by)
  if (kind === 'deny') {
    const why = short(plainText((reason ?? '').replaceAll(/\s+/g, ' ')), WHY_CHARS)
    return `denied${rule === undefined ? '' : ` by ${rule}`}${why === '' ? '' : `: ${why}`}`
  }
  if (approval !== undefined) return `approved (${approval})${rule === undefined ? '' : `, as ${rule} asks`}`
  if (by?.allowances?.length) return `allowed by ${by.allowances.join(' and ')}`
  return rule === undefined ? 'allowed, no rule covers it' : `allowed by ${rule}`
}

function ruleText(by: Decided['decision']['by']): string | undefined {
  if (by?.layer === undefined) return undefined
  const policy = `the policy of the ${by.layer}`
  return typeof by.rule !== 'string' ? policy : `the rule ${visibleName(by.rule)} of ${policy}`
}

function endText({ decided, end }: LoggedCall): string {
  if (decided.decision.kind === 'deny') return ''
  switch (end?.step) {
    case undefined:
      return 'no end is written yet'
    case 'dispatched':
      return 'under way'
    case 'returned':
      return `returned ${end.isError ? 'an error ' : ''}after ${end.ms} ms`
    case 'failed':
      return `failed after ${end.ms} ms: ${short(plainText(end.message.replaceAll(/\s+/g, ' ')), WHY_CHARS)}`
  }
}

const short = (text: string, chars: number): string => (text.length <= chars ? text : `${text.slice(0, chars - 1)}…`)
