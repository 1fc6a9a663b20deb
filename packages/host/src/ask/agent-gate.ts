import type { MountCall, MountDecision, MountWait } from '@parley/agent'
import type { ApprovalId, GateDefault, JsonValue } from '@parley/protocol'
import type { Caller } from '@parley/rpc'
import type { AgentOfGateway } from '../gateway-calls.ts'
import { PersonAsker, type Question } from './person-asker.ts'

const DENIED: MountDecision = {
  kind: 'deny',
  reason: 'this installation lets agents call nothing: an admin sets gate.default',
  endsTurn: false,
}
const ALLOWED: MountDecision = { kind: 'allow' }
const WHY = 'this installation asks about every call'
const WAITS_FOR_PERSON = 'waits for a person to decide'

export interface AgentGateOptions extends AgentOfGateway {
  readonly log: (level: 'info' | 'warn', message: string) => void
  /** What the installation says now. */
  readonly gate: () => GateDefault
  /** The version of a mount’s specification: what is approved of one counts for no other. */
  readonly versionOf: (mount: string) => number | null
}

/** A call of an engine's own. */
export interface OwnCall {
  readonly kind: Question['kind']
  readonly name: string
  readonly arguments: JsonValue
}

/** What one agent may do until there are policies: everything, nothing, or what a person says. */
export class AgentGate {
  readonly #options: AgentGateOptions
  readonly #asking: PersonAsker
  /** Calls under way that a person let through, by their name in the log. */
  readonly #approved = new Map<number | string, ApprovalId>()

  constructor(options: AgentGateOptions) {
    this.#options = options
    this.#asking = new PersonAsker(options)
  }

  decideMount(call: MountCall<Caller>, wait: MountWait): MountDecision | Promise<MountDecision> {
    const { kind, mount, name, arguments: args, caller } = call
    return this.#decide(() => {
      wait.held(WAITS_FOR_PERSON)
      return [
        {
          kind,
          mount,
          mount_version: this.#options.versionOf(mount),
          name,
          arguments_json: JSON.stringify(args ?? null),
          caller: tokenOf(caller),
          reason: WHY,
        },
        wait.signal,
      ]
    })
  }

  decideOwn({ kind, name, arguments: args }: OwnCall, signal: AbortSignal): MountDecision | Promise<MountDecision> {
    const about = { kind, mount: null, mount_version: null, name, arguments_json: JSON.stringify(args ?? null) }
    return this.#decide(() => [{ ...about, caller: 'engine', reason: WHY }, signal])
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

  #decide(question: () => readonly [Question, AbortSignal]): MountDecision | Promise<MountDecision> {
    const gate = this.#options.gate()
    if (gate !== 'ask') return gate === 'allow' ? ALLOWED : DENIED
    return this.#asking.decide(...question())
  }
}

/** All sessions of one token are one caller: one that comes back finds what it asked before. */
const tokenOf = ({ key }: Caller): string => key.split(' ', 1)[0] ?? key
