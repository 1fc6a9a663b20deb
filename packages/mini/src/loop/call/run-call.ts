import { approvedText, editedText, type EngineEvent, type FileChange } from '@parley/agent'
import { messageOf } from '@parley/protocol/wire'
import type { ResultPart, ToolResult } from '../../tool/toolbox.ts'
import type { CallItem } from '../item.ts'
import { type ActEnd, beginAct, tellUnfit } from './act.ts'
import type { CallWorld } from './call-world.ts'
import { type Permit, permit } from './permit.ts'
import { type PreparedCall, prepareCall } from './prepare-call.ts'

/** What the model reads about a call. `madeUp`: there is no result, and it says why. */
export interface CallOutput {
  readonly parts: readonly ResultPart[]
  readonly madeUp: boolean
}

/** Makes one call of the model, if it may be made. `undefined`: the turn was stopped, nobody knows how far it came. */
export async function runCall(call: CallItem, world: CallWorld): Promise<CallOutput | undefined> {
  const prepared = await prepareCall(call, world.toolbox, world.stopper)
  if (prepared.kind === 'stopped') return undefined
  if (prepared.kind === 'unfit') {
    tellUnfit(call.id, prepared, world.emit)
    return madeUp(prepared.reason)
  }
  const end = beginAct(prepared, world)
  // Whatever happens below, what began must end.
  let told: ActEnd = { status: 'failed', error: 'interrupted' }
  let acted: PreparedCall = prepared
  try {
    const permitted = await permit(prepared, world)
    if (permitted.kind === 'declined') {
      told = { status: 'declined', error: permitted.reason }
      return madeUp(`The call was denied: ${permitted.reason}`)
    }
    if (permitted.kind === 'stopped' || world.stopper.end !== undefined) return undefined
    const { edited } = permitted
    acted = edited ?? prepared
    if (!permitted.isLater && !(await isWrittenDown(call, world))) return undefined
    const made = await make(acted, permitted, world)
    told = made.told
    return withApproval(made.output, permitted)
  } finally {
    end(told)
    if (acted.subject.kind === 'patch' && told.status === 'completed') tellDiff(acted.subject.changes, world)
  }
}

/** Whether the call may be sent now: from here on nobody knows what it did until it has an output. */
async function isWrittenDown(call: CallItem, { sent, stopper }: CallWorld): Promise<boolean> {
  await stopper.wait(sent.send(call.id))
  return stopper.end === undefined
}

/** With what the person who let it through changed and said. */
function withApproval(
  output: CallOutput | undefined,
  { edited, said }: Extract<Permit, { kind: 'granted' }>,
): CallOutput | undefined {
  if (output === undefined) return undefined
  const words = [...(edited === undefined ? [] : [editedText(edited.args)]), ...(said === undefined ? [] : [approvedText(said)])]
  return { ...output, parts: [...words.map((text) => ({ type: 'text', text }) as const), ...output.parts] }
}

function tellDiff(changes: readonly FileChange[], { diff, emit }: CallWorld): void {
  const text = diff.add(changes)
  if (text !== undefined) emit({ type: 'diff', diff: text })
}

/** What the model reads instead of a result. */
export const madeUp = (text: string): CallOutput => ({ parts: [{ type: 'text', text }], madeUp: true })

interface Made {
  readonly told: ActEnd
  readonly output: CallOutput | undefined
}

async function make(
  { call, bound, args }: PreparedCall,
  { reach, network }: Extract<Permit, { kind: 'granted' }>,
  { stopper, emit }: CallWorld,
): Promise<Made> {
  let isLive = true
  const tell = (event: EngineEvent): void => {
    // One that was abandoned may go on talking; nobody listens any more.
    if (isLive) emit(event)
  }
  try {
    const running = bound.run(args, { call: call.id, reach, network, emit: tell, signal: stopper.signal })
    const waited = await stopper.wait(running)
    return waited.kind === 'stopped' ? INTERRUPTED : ended(waited.value)
  } catch (error) {
    if (stopper.end !== undefined) return INTERRUPTED
    const words = `the tool failed: ${messageOf(error)}`
    return { told: { status: 'failed', error: words }, output: madeUp(words) }
  } finally {
    isLive = false
  }
}

const INTERRUPTED: Made = { told: { status: 'failed', error: 'interrupted' }, output: undefined }

function ended(result: ToolResult): Made {
  const hasFailed = result.isError || (result.exitCode !== undefined && result.exitCode !== 0)
  const error = result.isError ? result.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n') : null
  return { told: { status: hasFailed ? 'failed' : 'completed', result, error }, output: { parts: result.parts, madeUp: false } }
}
