import type { GateDecision, Reach } from '@parley/agent'
import type { JsonObject } from '@parley/protocol'
import { asksForMore } from '../../tool/escalation.ts'
import type { NewEntry } from '../transcript/entry.ts'
import type { UnnumberedRequest } from './approval-desk.ts'
import type { CallWorld } from './call-world.ts'
import { type PreparedCall, prepareEdited } from './prepare-call.ts'

/** Whether a call may be made. `declined`: the model reads why. `stopped`: the turn is over. */
export type Permit =
  | {
      readonly kind: 'granted'
      readonly reach: Reach
      readonly network: boolean
      /** The call as a person changed it. */
      readonly edited?: PreparedCall
      /** What the person who let it through says to the model. */
      readonly said?: string
      /** Another gate behind this one has it written down when it is sent. */
      readonly isLater: boolean
    }
  | { readonly kind: 'declined'; readonly reason: string }
  | { readonly kind: 'stopped' }

type Decision = Extract<NewEntry, { type: 'decision' }>

/** The gate first, then the approval mode. What nobody grants is declined. */
export async function permit(prepared: PreparedCall, world: CallWorld): Promise<Permit> {
  const gate = await passGate(prepared, world)
  if (gate === undefined) return STOPPED
  if (gate.kind === 'deny') return denied(gate, world)
  const permitted = await passed(prepared, world, gate)
  return permitted.kind !== 'granted' || gate.kind === 'ask' || gate.said === undefined
    ? permitted
    : { ...permitted, said: gate.said }
}

async function passed(prepared: PreparedCall, world: CallWorld, gate: Passed['gate']): Promise<Permit> {
  const isLater = gate.kind === 'allow' && gate.isLater === true
  if (gate.kind === 'ask' || gate.arguments === undefined) return byMode(prepared, world, { gate, isLater })
  const edited = await prepareEdited(prepared, gate.arguments, world.stopper)
  if (edited.kind === 'stopped') return edited
  if (edited.kind === 'misfit') return unfitEdit(edited.reason)
  const permitted = await byMode(edited, world, { gate, isLater })
  return permitted.kind === 'granted' ? { ...permitted, edited: permitted.edited ?? edited } : permitted
}

interface Passed {
  readonly gate: Exclude<GateDecision, { kind: 'deny' }>
  readonly isLater: boolean
}

async function byMode(prepared: PreparedCall, world: CallWorld, { gate, isLater }: Passed): Promise<Permit> {
  const more = world.reach === 'full-access' || prepared.bound.mount !== null ? undefined : escalation(prepared)
  const reasons = [gate.kind === 'ask' ? gate.reason : undefined, more, writing(prepared, world)].filter(
    (reason) => reason !== undefined,
  )
  if (reasons.length === 0 && !(world.mode === 'always' && actsOutside(prepared)))
    return { kind: 'granted', reach: world.reach, network: world.network, isLater }
  const reason = reasons.length === 0 ? null : reasons.join('; ')
  if (world.mode === 'never') return declineUnasked(prepared, world, reason)
  const answer = await ask(prepared, world, { reason, escalated: more !== undefined })
  if (answer.kind !== 'approved') return answer
  const reach =
    more === undefined
      ? { reach: approvedReach(prepared, world), network: world.network }
      : { reach: 'full-access' as const, network: true }
  return { kind: 'granted', ...reach, isLater, ...(answer.edited === undefined ? {} : { edited: answer.edited }) }
}

const STOPPED: Permit = { kind: 'stopped' }
const declined = (reason: string): Extract<Permit, { kind: 'declined' }> => ({ kind: 'declined', reason })
const unfitEdit = (reason: string): Permit => declined(`with the arguments as a person changed them: ${reason}`)

function denied({ reason, endsTurn }: Extract<GateDecision, { kind: 'deny' }>, { stopper }: CallWorld): Permit {
  if (endsTurn) stopper.stop({ kind: 'failed', code: 'denied', message: reason })
  return declined(reason)
}

/** A patch is nothing but writing: where nothing may be written, it is asked about unless nobody can be. */
function writing({ subject }: PreparedCall, { reach, mode }: CallWorld): string | undefined {
  return subject.kind === 'patch' && reach === 'read-only' && mode !== 'never'
    ? 'changes files in a conversation that may only read'
    : undefined
}

/** Whoever approved this very command or patch has approved what it writes, in the folder of the conversation. */
const approvedReach = ({ subject }: PreparedCall, { reach }: CallWorld): Reach =>
  reach === 'read-only' && subject.kind !== 'tool' ? 'workspace-write' : reach

async function passGate({ call, bound, args }: PreparedCall, world: CallWorld): Promise<GateDecision | undefined> {
  const { gate, stopper, conversation, isAgain, sent } = world
  if (gate === undefined) return { kind: 'allow' }
  const sending = async (): Promise<void> => {
    stopper.signal.throwIfAborted()
    await sent.send(call.id)
    stopper.signal.throwIfAborted()
  }
  const asked = { conversation, call: call.id, mount: bound.mount, tool: bound.tool, arguments: args, isAgain, sending }
  let decision: GateDecision
  try {
    const deciding = Promise.resolve(gate.decide(asked, stopper.signal))
    const waited = await stopper.waitUnlessStopped(deciding)
    if (waited.kind === 'stopped') return undefined
    decision = waited.value
  } catch (error) {
    decision = { kind: 'deny', reason: `the gate failed: ${String(error)}`, endsTurn: false }
  }
  note(world, { call: call.id, by: 'gate', decision: decision.kind, reason: decision.kind === 'allow' ? null : decision.reason })
  return decision
}

/** In words, for whoever has to approve it. */
function escalation({ bound, args }: PreparedCall): string | undefined {
  const asked = asksForMore(bound.tool, args)
  if (asked === undefined) return undefined
  return `asks to run outside the sandbox${asked.justification === null ? '' : `: ${asked.justification}`}`
}

/** Reading and planning are the engine's own business; everything else reaches out. */
const actsOutside = ({ subject, bound }: PreparedCall): boolean => subject.kind !== 'tool' || bound.mount !== null

function declineUnasked({ call, bound }: PreparedCall, world: CallWorld, reason: string | null): Permit {
  const words = `nobody can be asked in this conversation${reason === null ? '' : ` (${reason})`}`
  note(world, { call: call.id, by: 'mode', decision: 'deny', reason: words })
  world.emit({ type: 'warning', message: `${bound.spec.name} was denied: ${words}` })
  return declined(words)
}

type Approved = { readonly kind: 'approved'; readonly edited?: PreparedCall }

/** Asks whoever listens, unless the same was approved for good. */
async function ask(
  prepared: PreparedCall,
  world: CallWorld,
  { reason, escalated }: { readonly reason: string | null; readonly escalated: boolean },
): Promise<Approved | Permit> {
  const { call } = prepared
  const { desk, stopper } = world
  const key = JSON.stringify([escalated, sameness(prepared)])
  if (desk.remembers(key)) {
    note(world, { call: call.id, by: 'remembered', decision: 'approved', reason })
    return { kind: 'approved' }
  }
  const answer = await desk.ask(requestOf(prepared, reason), key, stopper)
  if (stopper.end !== undefined) return STOPPED
  note(world, { call: call.id, by: 'person', decision: answer.decision, reason: answer.reason ?? reason })
  if (answer.decision === 'abort') stopper.stop({ kind: 'interrupted' })
  if (answer.decision === 'abort' || answer.decision === 'denied') {
    const why = answer.reason === undefined || answer.reason === '' ? '' : `: ${answer.reason}`
    return declined(`whoever was asked said no${why}${reason === null ? '' : ` (${reason})`}`)
  }
  return answer.arguments === undefined ? { kind: 'approved' } : approvedEdit(prepared, answer.arguments, world)
}

/** Arguments that a person changed pass the gate again, and get no more reach than was asked for. */
async function approvedEdit(prepared: PreparedCall, args: JsonObject, world: CallWorld): Promise<Approved | Permit> {
  const edited = await prepareEdited(prepared, args, world.stopper)
  if (edited.kind === 'stopped') return edited
  if (edited.kind === 'misfit') return unfitEdit(edited.reason)
  if (escalation(prepared) === undefined && escalation(edited) !== undefined)
    return unfitEdit('they ask for more than anybody was asked about')
  const gate = await passGate(edited, world)
  if (gate === undefined) return STOPPED
  if (gate.kind === 'deny') return denied(gate, world)
  if (gate.kind === 'allow' && gate.arguments !== undefined) return unfitEdit('somebody else changed them too')
  return { kind: 'approved', edited }
}

/** What an approval for the session covers: this very command, these very files, this tool. */
function sameness({ subject, bound }: PreparedCall): readonly (string | null)[] {
  switch (subject.kind) {
    case 'command':
      return ['command', subject.folder, ...subject.argv]
    case 'patch':
      return ['patch', ...subject.changes.map(({ path }) => path).toSorted()]
    case 'tool':
      return ['tool', bound.mount, bound.tool]
  }
}

function requestOf({ call, bound, args, subject }: PreparedCall, reason: string | null): UnnumberedRequest {
  switch (subject.kind) {
    case 'command':
      return { kind: 'command', call: call.id, reason, editable: args, argv: subject.argv, folder: subject.folder }
    case 'patch':
      return { kind: 'patch', call: call.id, reason, editable: args, changes: subject.changes, grantRoot: null }
    case 'tool':
      return { kind: 'tool', call: call.id, reason, editable: args, mount: bound.mount, tool: bound.tool, arguments: args }
  }
}

const note = (world: CallWorld, decision: Omit<Decision, 'type'>): void => void world.log.add({ type: 'decision', ...decision })
