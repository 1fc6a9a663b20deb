import { isJsonObject, type JsonObject, type JsonValue, messageOf, parseForeign } from '@parley/protocol'
import { BadArguments, type BoundTool, type CallSubject, type Toolbox } from '../../tool/toolbox.ts'
import type { CallItem } from '../item.ts'
import type { Stopper } from '../stopper.ts'

/** A call that could be made. */
export interface PreparedCall {
  readonly kind: 'prepared'
  readonly call: CallItem
  readonly bound: BoundTool
  readonly args: JsonObject
  readonly subject: CallSubject
}

/** A call that cannot be made, and why: the model reads it and tries again. */
export interface UnfitCall {
  readonly kind: 'unfit'
  readonly mount: string | null
  readonly tool: string
  readonly arguments: JsonValue
  readonly reason: string
}

/** Names that the model is told when it calls something that is not there. */
const NAMES_SHOWN = 64

export async function prepareCall(
  call: CallItem,
  toolbox: Toolbox,
  stopper: Stopper,
): Promise<PreparedCall | UnfitCall | Stopped> {
  const bound = toolbox.find(call.name)
  const parsed = parseForeign(call.text === '' ? '{}' : call.text)
  const unfit = (reason: string): UnfitCall => ({
    kind: 'unfit',
    mount: bound?.mount ?? null,
    tool: bound?.tool ?? call.name,
    arguments: parsed ?? call.text,
    reason,
  })
  if (bound === undefined) return unfit(`there is no tool called ${call.name}; there are: ${namesIn(toolbox)}`)
  if (parsed === undefined) return unfit('the arguments are not valid JSON, or hold more than any call needs')
  if (!isJsonObject(parsed)) return unfit('the arguments must be a JSON object')
  const fitted = await fit({ call, bound, args: parsed }, stopper)
  return fitted.kind === 'misfit' ? unfit(fitted.reason) : fitted
}

/** A call with the arguments that a person gave it, or why these cannot be. */
export const prepareEdited = (
  { call, bound }: PreparedCall,
  args: JsonObject,
  stopper: Stopper,
): Promise<PreparedCall | Misfit | Stopped> => fit({ call, bound, args }, stopper)

interface Misfit {
  readonly kind: 'misfit'
  readonly reason: string
}
interface Stopped {
  readonly kind: 'stopped'
}

async function fit(
  { call, bound, args }: Pick<PreparedCall, 'call' | 'bound' | 'args'>,
  stopper: Stopper,
): Promise<PreparedCall | Misfit | Stopped> {
  try {
    const waited = await stopper.wait(Promise.resolve(bound.subject(args)))
    if (waited.kind === 'stopped') return waited
    return { kind: 'prepared', call, bound, args, subject: waited.value }
  } catch (error) {
    if (error instanceof BadArguments) return { kind: 'misfit', reason: error.message }
    return { kind: 'misfit', reason: `the call could not be prepared: ${messageOf(error)}` }
  }
}

function namesIn({ tools }: Toolbox): string {
  const names = tools.slice(0, NAMES_SHOWN).map(({ spec }) => spec.name)
  return `${names.join(', ')}${tools.length > NAMES_SHOWN ? ', …' : ''}`
}
