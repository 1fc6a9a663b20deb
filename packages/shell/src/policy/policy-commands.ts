import type { SteadyClient } from '@parley/client'
import { type AgentId, POLICY_LIMITS, type ToolOutput } from '@parley/protocol'
import { CommandError, type Invocation, usageError } from '@parley/command-line'
import { askYes, canAsk, readGivenText, show, wholeNumber } from '@parley/command-line/commands'
import { type MayActivate, mayActivate, type Sureness } from './may-activate.ts'
import { historyText, triedText, warningText, writtenText } from './policy-text.ts'
import { reviewText } from './review-text.ts'
import { layerOf, triedCall } from './tried-call.ts'
import { type NamedPolicy, policyName, type PolicyOwner, whoseWords } from './whose.ts'

/** What a command about a policy has: who asks whom, and whose policy it is. */
export interface PolicyCommand {
  readonly caller: SteadyClient
  readonly invocation: Invocation
  readonly named: NamedPolicy
  readonly whose: PolicyOwner
}

type Drafted = ToolOutput<'policy.replay'> & Partial<Pick<ToolOutput<'policy.set'>, 'same_as'>>

const VERSION = { min: 1, max: Number.MAX_SAFE_INTEGER }
const HISTORY_LIMIT = 200
const NOT_ACTIVATED = 1

/** What the fields of the tools are called on a command line. */
export const POLICY_WORDS: Readonly<Record<string, string>> = {
  agent_id: '--agent',
  layer: '--installation',
  username: '--user',
  note: '--note',
  version: 'VERSION',
  digest: '--digest',
  call: '--tool, --resource, --prompt or --command',
  'call.args': '--args',
}

/** What a draft is called when something is wrong with it: its file, as it was typed. */
export const draftWords = ({ positionals: [file = ''] }: Pick<Invocation, 'positionals'>): Readonly<Record<string, string>> => ({
  text: file === '-' ? 'standard input' : file,
})

/** What is wrong with a line is told before anybody is asked. */
export function draftOf({ io, values, positionals }: Invocation): { readonly text: string; readonly note: string } {
  const given = { what: 'FILE', file: positionals[0] ?? '', cwd: io.cwd }
  return { text: readGivenText(given, POLICY_LIMITS.textBytes), note: noteOf(values) }
}

function noteOf(values: Invocation['values']): string {
  const note = values.text('note') ?? ''
  if (note.length > POLICY_LIMITS.noteChars) throw usageError(`--note must have at most ${POLICY_LIMITS.noteChars} characters`)
  return note
}

export function versionOf({ positionals }: Pick<Invocation, 'positionals'>): number {
  const text = positionals[0] ?? ''
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw usageError(`VERSION must be a whole number from 1 on, not ${JSON.stringify(text)}`, 'parley policy history shows them')
}

export function digestOf({ values }: Pick<Invocation, 'values'>): string | undefined {
  const digest = values.text('digest')
  if (digest === undefined || /^[0-9a-f]{64}$/.test(digest)) return digest
  throw usageError('--digest must be the 64 hex digits that parley policy set or parley policy replay has shown')
}

export const shownVersion = ({ values }: Pick<Invocation, 'values'>): number | undefined =>
  wholeNumber(values, 'version', VERSION)

export async function showPolicy(
  { caller, invocation, named, whose }: PolicyCommand,
  version: number | undefined,
): Promise<number> {
  const { io, values } = invocation
  const found = await caller.call('policy.get', { ...whose, ...(version === undefined ? {} : { version }) })
  if (values.has('json')) return show(invocation, found, '')
  if (found.policy === null) io.err(`${policyName(named)} has no rules; parley policy set FILE${whoseWords(named)} writes some\n`)
  const text = writtenText(found.policy?.text ?? '', found.allowances, io)
  if (text !== '') io.out(text)
  return 0
}

export async function setPolicy(
  command: PolicyCommand,
  draft: { readonly text: string; readonly note: string },
): Promise<number> {
  const { caller, invocation, whose } = command
  const drafted = await caller.once('policy.set', { ...whose, ...draft })
  if (invocation.values.has('activate')) return activateShown(command, drafted, 'looser')
  const { review, status } = drafted
  show(invocation, drafted, draftText(command, drafted))
  return status !== 'active' && review.examples.failed.length > 0 ? NOT_ACTIVATED : 0
}

export async function replayPolicy(command: PolicyCommand, version: number): Promise<number> {
  const drafted = await command.caller.call('policy.replay', { ...command.whose, version })
  return show(command.invocation, drafted, draftText(command, drafted))
}

export async function activatePolicy(command: PolicyCommand, version: number, digest: string | undefined): Promise<number> {
  const { caller, invocation, whose, named } = command
  if (digest === undefined) return activateShown(command, await caller.call('policy.replay', { ...whose, version }), 'always')
  const active = await caller.call('policy.activate', { ...whose, version, digest })
  return show(invocation, active, `Version ${version} of ${policyName(named)} is active.`)
}

/** Shows what would change, and makes it so if that is meant. A program gets one line: of what is active, or of what is not. */
async function activateShown(command: PolicyCommand, drafted: Drafted, asks: Sureness['asks']): Promise<number> {
  const { caller, invocation, whose, named } = command
  const { io, values } = invocation
  const isJson = values.has('json')
  const { version, review } = drafted
  const may = mayActivate(review, { saidYes: values.has('yes'), canAsk: !isJson && canAsk(io), asks })
  if (!isJson) io.out(`${seenText(command, drafted)}\n`)
  if (!(await isMeant(may, invocation))) {
    if (isJson) io.out(`${JSON.stringify(drafted)}\n`)
    if (may.kind === 'refused') throw new CommandError('not_activated', may.why, { hint: may.hint })
    io.err(`it is not activated; parley policy activate ${version}${whoseWords(named)} asks again\n`)
    return NOT_ACTIVATED
  }
  const active = await caller.call('policy.activate', { ...whose, version, digest: review.digest })
  return show(invocation, { ...active, review }, `It is active.`)
}

async function isMeant(may: MayActivate, { io }: Pick<Invocation, 'io'>): Promise<boolean> {
  if (may.kind === 'ask') return askYes(io, may.question, 'no')
  return may.kind === 'activate'
}

export async function policyHistory({ caller, invocation, named, whose }: PolicyCommand): Promise<number> {
  const { io, values } = invocation
  const result = await caller.call('policy.history', { ...whose, limit: HISTORY_LIMIT })
  if (result.items.length === 0 && !values.has('json')) io.err(`${policyName(named)} was never written\n`)
  return show(invocation, result, historyText(result.items, io))
}

export async function retirePolicy({ caller, invocation, named, whose }: PolicyCommand): Promise<number> {
  const result = await caller.call('policy.retire', whose)
  const said = result.retired ? 'is retired: it has no rules any more' : 'has no active version'
  return show(
    invocation,
    result,
    `${policyName(named)} ${said}.`.replace(/^./, (first) => first.toUpperCase()),
  )
}

export async function proposePolicy(
  { caller, invocation }: Pick<PolicyCommand, 'caller' | 'invocation'>,
  agent_id: AgentId,
  draft: { readonly text: string; readonly note: string },
): Promise<number> {
  const approval = await caller.once('policy.propose', { agent_id, ...draft })
  const next = invocation.io.typed(`parley approvals approve ${approval.approval_id} makes it active.`)
  return show(invocation, approval, `It is proposed, and waits for somebody who may decide: ${next}`)
}

/** What is tried: read from the line, and the file that stands for a layer. */
export function trialOf({ io, values }: Invocation) {
  const file = values.text('file')
  const given = { what: '--file', file: file ?? '', cwd: io.cwd }
  return {
    call: triedCall(values),
    ...layerOf(values),
    ...(file === undefined ? {} : { text: readGivenText(given, POLICY_LIMITS.textBytes) }),
  }
}

export async function testPolicy(
  { caller, invocation }: Pick<PolicyCommand, 'caller' | 'invocation'>,
  agent_id: AgentId,
  trial: ReturnType<typeof trialOf>,
): Promise<number> {
  const tried = await caller.call('policy.test', { agent_id, ...trial })
  for (const warning of tried.warnings) invocation.io.err(`warning: ${warningText(warning, trial.call)}\n`)
  return show(invocation, tried, triedText(tried, invocation.io))
}

function seenText({ invocation, named }: PolicyCommand, { version, review, same_as: same = null }: Drafted): string {
  const base = review.base_version === null ? 'none is active' : `version ${review.base_version} is active`
  const again = same === null ? '' : `, the same text as version ${same}`
  return `Version ${version} of ${policyName(named)}${again}; ${base}.\n${reviewText(review, invocation.io)}`
}

function draftText(command: PolicyCommand, drafted: Drafted): string {
  const { version, review, status } = drafted
  if (status === 'active') return seenText(command, drafted)
  const { failed } = review.examples
  const how = `parley policy activate ${version} --digest ${review.digest}${whoseWords(command.named)}`
  const next = failed.length > 0 ? 'It cannot become active while examples fail.' : `To activate it:\n  ${how}`
  return `${seenText(command, drafted)}\n${command.invocation.io.typed(next)}`
}
