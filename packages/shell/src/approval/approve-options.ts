import { APPROVAL_LIMITS, type ApprovalAnswer, isJsonObject, parseJson, POLICY_LIMITS, type PolicyRule } from '@parley/protocol'
import { type Invocation, type OptionSpec, usageError } from '@parley/command-line'
import { readGivenText, wholeNumber } from '@parley/command-line/commands'

const MINUTES = { min: 1, max: POLICY_LIMITS.allowanceMs / 60_000 }

/** How far a yes goes, and what is sent. */
export const APPROVE_OPTIONS = {
  session: { doc: 'lets calls of this name through for the same client as well, for a while' },
  minutes: { doc: `with --session: for how long (default and most: ${MINUTES.max})`, value: 'N' },
  rule: { doc: 'writes a rule for this very call into the policy that asked' },
  'rule-file': {
    doc: 'writes the one [[rule]] of this file instead, which must let this call through',
    value: 'FILE',
    isFile: true,
  },
  arguments: { doc: 'sends the call with these instead; @FILE reads them from a file', value: 'JSON|@FILE' },
} as const satisfies Record<string, OptionSpec>

/** What the fields of `approval.decide` are called on a command line. */
export const DECIDE_WORDS: Readonly<Record<string, string>> = {
  arguments_json: '--arguments',
  minutes: '--minutes',
  rule: '--rule-file',
  reason: '--reason',
}

export interface ApproveWords {
  readonly decision: ApprovalAnswer
  readonly minutes?: number
  readonly arguments_json?: string
  readonly rule?: PolicyRule
}

/** What was typed beside a yes, as `approval.decide` takes it. */
export async function approveWords(invocation: Invocation): Promise<ApproveWords> {
  const { values, positionals } = invocation
  // Another may have come since somebody looked: a yes is only to what was shown.
  if (positionals[0] === '@last')
    throw usageError('approvals approve needs an id', 'parley approvals show @last shows the newest')
  const exclusive = ['session', 'rule', 'rule-file', 'arguments'].filter((name) => values.has(name)).map((name) => `--${name}`)
  if (exclusive.length > 1) throw usageError(`${exclusive.join(' and ')} exclude each other`)
  const minutes = wholeNumber(values, 'minutes', MINUTES)
  if (minutes !== undefined && !values.has('session'))
    throw usageError('--minutes says how long --session goes on: give that too')
  if (values.has('rule')) return { decision: 'approve_rule' }
  const ruleFile = values.text('rule-file')
  if (ruleFile !== undefined) return { decision: 'approve_rule', rule: await ruleIn(ruleFile, invocation) }
  if (values.has('session')) return { decision: 'approve_session', ...(minutes === undefined ? {} : { minutes }) }
  const edited = argumentsOf(invocation)
  return { decision: 'approve', ...(edited === undefined ? {} : { arguments_json: edited }) }
}

/** The one rule of a file, which is written as a policy is. */
async function ruleIn(file: string, { io }: Invocation): Promise<PolicyRule> {
  // Conditions are compiled for it, which no other command needs.
  const { problemText, readPolicy } = await import('@parley/policy')
  const read = readPolicy(readGivenText({ what: '--rule-file', file, cwd: io.cwd }, POLICY_LIMITS.textBytes))
  if (read.kind === 'problems') throw usageError(`--rule-file ${file}: ${read.problems.map(problemText).join('; ')}`)
  const [rule, ...more] = read.policy.rule
  if (rule === undefined || more.length > 0)
    throw usageError(`--rule-file ${file} must have one [[rule]], and has ${read.policy.rule.length}`)
  return rule
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
