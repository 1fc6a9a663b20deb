import { APPROVAL_LIMITS, type ApprovalAnswer, isJsonObject, parseJson, POLICY_LIMITS } from '@parley/protocol'
import { type Invocation, type OptionSpec, usageError } from '@parley/command-line'
import { readGivenText, wholeNumber } from '@parley/command-line/commands'

const MINUTES = { min: 1, max: POLICY_LIMITS.allowanceMs / 60_000 }

/** How far a yes goes, and what is sent. */
export const APPROVE_OPTIONS = {
  session: { doc: 'lets calls of this name through for the same client as well, for a while' },
  minutes: { doc: `with --session: for how long (default and most: ${MINUTES.max})`, value: 'N' },
  rule: { doc: 'writes a rule for this very call into the policy that asked' },
  arguments: { doc: 'sends the call with these instead; @FILE reads them from a file', value: 'JSON|@FILE' },
} as const satisfies Record<string, OptionSpec>

/** What the fields of `approval.decide` are called on a command line. */
export const DECIDE_WORDS: Readonly<Record<string, string>> = {
  arguments_json: '--arguments',
  minutes: '--minutes',
  rule: '--rule',
  reason: '--reason',
}

export interface ApproveWords {
  readonly decision: ApprovalAnswer
  readonly minutes?: number
  readonly arguments_json?: string
}

/** What was typed beside a yes, as `approval.decide` takes it. */
export function approveWords(invocation: Invocation): ApproveWords {
  const { values } = invocation
  const exclusive = ['session', 'rule', 'arguments'].filter((name) => values.has(name)).map((name) => `--${name}`)
  if (exclusive.length > 1) throw usageError(`${exclusive.join(' and ')} exclude each other`)
  const minutes = wholeNumber(values, 'minutes', MINUTES)
  if (minutes !== undefined && !values.has('session'))
    throw usageError('--minutes says how long --session goes on: give that too')
  if (values.has('rule')) return { decision: 'approve_rule' }
  if (values.has('session')) return { decision: 'approve_session', ...(minutes === undefined ? {} : { minutes }) }
  const edited = argumentsOf(invocation)
  return { decision: 'approve', ...(edited === undefined ? {} : { arguments_json: edited }) }
}

/** They are not repeated in what is said of them: they may hold a secret. */
function argumentsOf({ io, values }: Invocation): string | undefined {
  const given = values.text('arguments')
  if (given === undefined) return undefined
  const file = { what: '--arguments', file: given.slice(1), cwd: io.cwd }
  const text = given.startsWith('@') ? readGivenText(file, APPROVAL_LIMITS.argumentsBytes) : given
  if (text.length > APPROVAL_LIMITS.argumentsBytes)
    throw usageError(`--arguments must have at most ${APPROVAL_LIMITS.argumentsBytes} bytes`)
  if (!isJsonObject(parseJson(text))) throw usageError('--arguments must be a JSON object, or @FILE with one')
  return text
}
