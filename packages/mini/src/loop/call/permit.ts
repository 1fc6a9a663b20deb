import type { GateDecision, Reach } from '@parley/agent'
import { asksForMore } from '../../tool/escalation.ts'
import type { NewEntry } from '../transcript/entry.ts'
import type { UnnumberedRequest } from './approval-desk.ts'
import type { CallWorld } from './call-world.ts'
import type { PreparedCall } from './prepare-call.ts'

/** Whether a call may be made. `declined`: the model reads why. `stopped`: the turn is over. */
export type Permit =
  | { readonly kind: 'granted'; readonly reach: Reach; readonly network: boolean }
  | { readonly kind: 'declined'; readonly reason: string }
  | { readonly kind: 'stopped' }

type Decision = Extract<NewEntry, { type: 'decision' }>

/** The gate first, then the approval mode. What nobody grants is declined. */
export async function permit(prepared: PreparedCall, world: CallWorld): Promise<Permit> {
  const gate = await passGate(prepared, world)
  if (gate === undefined) return { kind: 'stopped' }
  if (gate.kind === 'deny') {
    if (gate.endsTurn) world.stopper.stop({ kind: 'failed', code: 'denied', message: gate.reason })
    return { kind: 'declined', reason: gate.reason }
  }
  const more = world.reach === 'full-access' || prepared.bound.mount !== null ? undefined : escalation(prepared)
  const reasons = [gate.kind === 'ask' ? gate.reason : undefined, more, writing(prepared, world)].filter(
    (reason) => reason !== undefined,
  )
  if (reasons.length === 0 && !(world.mode === 'always' && actsOutside(prepared)))
    return { kind: 'granted', reach: world.reach, network: world.network }
  const reason = reasons.length === 0 ? null : reasons.join('; ')
  if (world.mode === 'never') return declineUnasked(prepared, world, reason)
  const refusal = await refusalOf(prepared, world, { reason, escalated: more !== undefined })
  if (refusal !== undefined) return refusal
  if (more !== undefined) return { kind: 'granted', reach: 'full-access', network: true }
  return { kind: 'granted', reach: approvedReach(prepared, world), network: world.network }
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
  const { gate, stopper, conversation } = world
  if (gate === undefined) return { kind: 'allow' }
  const asked = { conversation, call: call.id, mount: bound.mount, tool: bound.tool, arguments: args }
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
  return { kind: 'declined', reason: words }
}

/** `undefined`: it is approved. */
async function refusalOf(
  prepared: PreparedCall,
  world: CallWorld,
  { reason, escalated }: { readonly reason: string | null; readonly escalated: boolean },
): Promise<Permit | undefined> {
  const { call } = prepared
  const { desk, stopper } = world
  const key = JSON.stringify([escalated, sameness(prepared)])
  if (desk.remembers(key)) {
    note(world, { call: call.id, by: 'remembered', decision: 'approved', reason })
    return undefined
  }
  const decision = await desk.ask(requestOf(prepared, reason), key, stopper)
  if (stopper.end !== undefined) return { kind: 'stopped' }
  note(world, { call: call.id, by: 'person', decision, reason })
  if (decision === 'approved' || decision === 'approved_for_session') return undefined
  if (decision === 'abort') stopper.stop({ kind: 'interrupted' })
  return { kind: 'declined', reason: `whoever was asked said no${reason === null ? '' : ` (${reason})`}` }
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
      return { kind: 'command', call: call.id, reason, argv: subject.argv, folder: subject.folder }
    case 'patch':
      return { kind: 'patch', call: call.id, reason, changes: subject.changes, grantRoot: null }
    case 'tool':
      return { kind: 'tool', call: call.id, reason, mount: bound.mount, tool: bound.tool, arguments: args }
  }
}

const note = (world: CallWorld, decision: Omit<Decision, 'type'>): void => void world.log.add({ type: 'decision', ...decision })
