import type { MountCall, MountDecision, MountWait } from '@parley/agent'
import {
  type ApprovalId,
  type JsonObject,
  type JsonValue,
  type TranscriptLine,
  isJsonObject,
  iso,
  parseJson,
} from '@parley/protocol'
import type { PolicyAnswer } from '@parley/policy'
import type { Caller } from '@parley/rpc'
import { AgentPolicies, type AskedCall, type PolicySpec } from './agent-policies.ts'
import { PersonAsker, type PersonAskerOptions, type Question, type PersonSaid } from './person-asker.ts'

const ALLOWED: MountDecision = { kind: 'allow' }
/** So often a call is asked about anew because policies changed meanwhile. */
const CHANGES_MAX = 10
const ENGINE = 'engine'
const WAITS_FOR_PERSON = 'waits for a person to decide'

type AskedLine = Extract<TranscriptLine, { type: 'asked' }>

export interface AgentGateOptions extends PersonAskerOptions {
  /** As the gateway has the agent now. */
  readonly spec: PolicySpec
  /** Has the agent told anew; settles when `set` was called with it. */
  readonly refresh: () => Promise<void>
  /** The version of a mount’s specification: what is approved of one counts for no other. */
  readonly versionOf: (mount: string) => number | null
  readonly now: () => number
}

/** A call of an engine's own. */
export interface OwnCall {
  readonly kind: Question['kind'] & AskedCall['kind']
  readonly name: string
  readonly arguments: JsonValue
}

/** What a person can make of a call: a command may be another program then. */
type Changed = Pick<AskedCall, 'name' | 'arguments'>

interface Asking {
  readonly wait: MountWait
  readonly isAgain: boolean
  readonly editedCall: (args: JsonObject) => Changed | string
}

/** What one agent may do: what its policies say, and where they ask, what a person does. */
export class AgentGate {
  readonly #options: AgentGateOptions
  readonly #asking: PersonAsker
  readonly #policies: AgentPolicies
  /** Calls under way that a person let through, by their name in the log. */
  readonly #approved = new Map<number | string, ApprovalId>()
  #told: ((line: AskedLine) => void) | undefined

  constructor(options: AgentGateOptions) {
    this.#options = options
    this.#asking = new PersonAsker({ ...options, asked: (question, id) => this.#tellAsked(question, id) })
    this.#policies = new AgentPolicies(options.spec, options.now)
  }

  /** The gateway has told the agent anew. Who waits under other policies is asked about under these. */
  set(spec: PolicySpec): void {
    const before = this.#policies.name
    this.#policies.set(spec)
    if (this.#policies.name === before) this.#asking.allowancesChanged()
    else this.#asking.policiesChanged()
  }

  /** Another host goes on: what is asked stays, whatever ends here. */
  letGo(): void {
    this.#asking.letGo()
  }

  /** `told` hears, until the turn ends, which calls of the engine wait for a person. */
  turnBegins(told: (line: AskedLine) => void): void {
    this.#policies.turnBegins()
    this.#told = told
  }

  turnEnds(): void {
    this.#told = undefined
  }

  #tellAsked({ caller, kind, mount, name, reason }: Question, id: ApprovalId): void {
    if (caller !== ENGINE) return
    this.#told?.({ type: 'asked', at: iso(this.#options.now()), approval_id: id, kind, mount, name, reason })
  }

  /** `isAgain`: a host before this one had asked about this very call. */
  decideMount(call: MountCall<Caller>, wait: MountWait, isAgain = false): MountDecision | Promise<MountDecision> {
    if (call.completes === true) return this.#unasked(this.#mountCall(call, call.caller), 'completing an argument')
    if (call.unattended === true) return this.#unasked(this.#mountCall(call, call.caller), 'taking up a subscription')
    const editedCall = (args: JsonObject): Changed => ({ name: call.name, arguments: args })
    return this.#decide(this.#mountCall(call, call.caller), { wait, isAgain, editedCall })
  }

  /**
   * What no person can be asked about: each letter that is typed is a request of its own, and for what is taken up again nobody waits. It is
   * not counted either.
   */
  #unasked(call: AskedCall, about: string): MountDecision {
    const answer = this.#policies.decide(call)
    const by = originOf(answer)
    const origin = by === undefined ? {} : { by }
    if (answer.decision === 'allow') return { kind: 'allow', ...origin }
    const denial = { kind: 'deny', endsTurn: false, ...origin } as const
    if (answer.decision !== 'ask') return { ...denial, reason: answer.reason }
    return { ...denial, reason: `nobody is asked about ${about}: ${answer.reason}`, wouldAsk: true }
  }

  #mountCall(
    {
      kind,
      mount,
      name,
      arguments: args,
      annotations,
    }: Pick<AskedCall, 'kind' | 'name' | 'arguments' | 'annotations'> & { readonly mount: string },
    caller: Caller,
  ): AskedCall {
    const by = tokenOf(caller)
    const mountVersion = this.#options.versionOf(mount)
    return { caller: { role: 'agent', name: by }, session: by, kind, mount, mountVersion, name, arguments: args, annotations }
  }

  /** `editedCall`: what a call is with the arguments that a person gave it, or why it is none. */
  decideOwn(
    { kind, name, arguments: args }: OwnCall,
    { signal, isAgain, editedCall }: { readonly signal: AbortSignal } & Omit<Asking, 'wait'>,
  ): MountDecision | Promise<MountDecision> {
    const wait = { signal, cancellation: signal, held: () => undefined }
    return this.#decide(ownCall(kind, name, args), { wait, isAgain, editedCall })
  }

  /** What would be decided now, without asking anybody or counting it. */
  wouldAllow({ kind, name, arguments: args }: OwnCall): boolean {
    return this.#policies.decide(ownCall(kind, name, args)).decision === 'allow'
  }

  /** What would be decided now about a call of this caller. `mount` is null for what an engine does itself. */
  check(asked: OwnCall & { readonly mount: string | null }, caller: Caller): PolicyAnswer {
    const { mount, ...call } = asked
    if (mount === null) return this.#policies.decide(ownCall(call.kind, call.name, call.arguments))
    return this.#policies.decide(this.#mountCall({ ...call, mount, annotations: undefined }, caller))
  }

  /** What was decided about a call, by its name in the log. */
  decided(id: number | string, decision: MountDecision): void {
    if (decision.kind === 'allow' && decision.approval !== undefined) this.#approved.set(id, decision.approval)
  }

  /** What became of it. */
  ended(id: number | string, end: 'returned' | 'failed'): void {
    const approval = this.#approved.get(id)
    if (approval === undefined) return
    this.#approved.delete(id)
    this.#asking.settle(approval, end)
  }

  #decide(call: AskedCall, asking: Asking): MountDecision | Promise<MountDecision> {
    const answer = this.#policies.decide(call)
    return answer.decision === 'ask' ? this.#ask(call, answer, asking) : this.#settled(call, answer)
  }

  /** What needs no person. */
  #settled(call: AskedCall, answer: PolicyAnswer): MountDecision {
    const by = originOf(answer)
    if (answer.decision === 'allow') {
      this.#policies.count(call)
      return by === undefined ? ALLOWED : { kind: 'allow', by }
    }
    return {
      kind: 'deny',
      reason: answer.reason,
      endsTurn: answer.decision === 'deny_abort',
      ...(answer.decision === 'evaluator_error' ? { isFault: true } : {}),
      ...(by === undefined ? {} : { by }),
    }
  }

  async #ask(call: AskedCall, first: PolicyAnswer, { wait, isAgain, editedCall }: Asking): Promise<MountDecision> {
    // What a server asks belongs to a call that was sent.
    wait.held(WAITS_FOR_PERSON, call.kind === 'question' ? undefined : 'unsent')
    const { signal } = wait
    let answer = first
    for (let changes = 0; changes < CHANGES_MAX; changes++) {
      if (answer.decision !== 'ask') {
        wait.goesOn?.()
        return this.#settled(call, answer)
      }
      const asked = answer
      const question = { ...questionOf(call, asked, this.#policies.name), again: isAgain && changes === 0 }
      const said = await this.#asking.decide(question, signal, {
        refusalOf: (edited) => this.#refusalOf(call, asked, { edited, editedCall }),
        isSettled: () => this.#policies.decide(call).decision !== 'ask',
      })
      // A denied call ends with this; one whose server asked something goes on either way.
      if (said.kind === 'allow' || (said.kind === 'deny' && call.kind === 'question')) wait.goesOn?.()
      if (said.kind !== 'changed') return this.#heard(changedCall(call, said, editedCall), asked, said)
      await this.#options.refresh()
      answer = this.#policies.decide(call)
    }
    return { kind: 'deny', reason: 'its policies change faster than it can be asked about; try again', endsTurn: false }
  }

  #heard(call: AskedCall, answer: PolicyAnswer, said: Exclude<PersonSaid, { readonly kind: 'changed' }>): MountDecision {
    if (said.kind === 'allow') this.#policies.count(call)
    const by = originOf(answer)
    return by === undefined ? said : { ...said, by }
  }

  /** Arguments that a person changed pass the policies again: nobody lets through what these deny, or what others must be asked about. */
  #refusalOf(
    call: AskedCall,
    asked: PolicyAnswer,
    { edited, editedCall }: Pick<Asking, 'editedCall'> & { readonly edited: string },
  ): string | undefined {
    const args = parseJson(edited)
    if (!isJsonObject(args)) return 'the arguments that a person wrote are no JSON object'
    const changed = editedCall(args)
    if (typeof changed === 'string') return changed
    const answer = this.#policies.decide({ ...call, ...changed })
    if (answer.decision === 'allow') return undefined
    if (answer.decision !== 'ask') return `with the arguments as a person changed them: ${answer.reason}`
    const isSame = JSON.stringify(answer.approvers) === JSON.stringify(asked.approvers)
    return isSame ? undefined : 'with the arguments as a person changed them, others would have to be asked'
  }
}

/** What is let through and counted. */
function changedCall(call: AskedCall, said: MountDecision, editedCall: Asking['editedCall']): AskedCall {
  const changed = said.kind === 'allow' && said.arguments !== undefined ? editedCall(said.arguments) : call
  return typeof changed === 'string' ? call : { ...call, ...changed }
}

function ownCall(kind: OwnCall['kind'], name: string, args: JsonValue): AskedCall {
  return {
    caller: { role: 'agent', name: ENGINE },
    session: ENGINE,
    kind,
    mount: null,
    mountVersion: null,
    name,
    arguments: args,
    annotations: undefined,
  }
}

function questionOf(call: AskedCall, { reason, rule, layer, approvers, trace }: PolicyAnswer, policy: string): Question {
  const asking = trace.flatMap((step) => (step.outcome === 'ask' && !step.delegated && !step.shadow ? [step.layer] : []))
  return {
    kind: call.kind,
    mount: call.mount,
    mount_version: call.mountVersion,
    name: call.name,
    arguments_json: JSON.stringify(call.arguments ?? null),
    caller: call.caller.name,
    reason,
    policy,
    rule,
    layer,
    askers: asking.length === 0 ? ['default'] : asking,
    approvers: approvers.map((each) => ({ ...each })),
  }
}

/** Whose rule it was, for the log; what policies in shadow would have said. */
function originOf({ layer, rule, allowances, shadow, decision }: PolicyAnswer): MountDecision['by'] {
  const isOther = shadow !== null && shadow.decision !== decision
  if (layer === null && allowances.length === 0 && !isOther) return undefined
  return {
    ...(layer === null ? {} : { layer, rule }),
    ...(allowances.length === 0 ? {} : { allowances }),
    ...(isOther ? { shadow: { decision: shadow.decision, layer: shadow.layer, rule: shadow.rule } } : {}),
  }
}

/** All sessions of one token are one caller: one that comes back finds what it asked before. */
const tokenOf = ({ key }: Caller): string => key.split(' ', 1)[0] ?? key
