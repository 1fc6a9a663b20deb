import { type GatewayCaller, localCaller } from '@parley/access'
import {
  type AgentId,
  type ApprovalAnswer,
  type ApprovalId,
  type JsonObject,
  Meter,
  type ToolInput,
  type ToolName,
  type ToolOutput,
  messageOf,
  parseJson,
  isJsonObject,
} from '@parley/protocol'
import type { ApprovalRecord, UserRecord } from '@parley/store'
import type { SeededRandom } from '../random.ts'
import type { ApprovalRules } from './approval-rules.ts'
import type { SteppedGateway } from './stepped-gateway.ts'
import type { Actor, Steps } from './steps.ts'

const RATE = { perSecond: 1e9, burst: 1e9 }
const ANSWERS: readonly ApprovalAnswer[] = [
  'approve',
  'approve',
  'approve',
  'approve',
  'approve_session',
  'approve_rule',
  'deny_continue',
  'deny_abort',
]
const EDITS_PART = 0.15
/** So many wait until the very end of an approval's time. */
const LAST_MOMENT_PART = 0.12

const rule = (name: string, decision: string): string =>
  `[[rule]]\nname = "${name}"\nmount = "files"\ntool = "write"\ndecision = "${decision}"\n\n` +
  `[[example]]\ncall = { mount = "files", tool = "write", args = { n = 1 } }\ndecision = "${decision}"\n`
export const POLICIES: readonly string[] = [
  rule('ask', 'ask'),
  `[approvers]\nusers = ["ada", "bob"]\nneeded = 2\n\n${rule('two', 'ask')}`,
  rule('yes', 'allow'),
  rule('no', 'deny_continue'),
]

/** Everybody who decides and writes policies, on whichever gateway is there. They never die. */
export class People implements Actor {
  readonly name = 'people'
  isDead = false
  stoppedUntil = 0
  readonly #steps: Steps
  readonly #random: SeededRandom
  readonly #rules: ApprovalRules
  readonly #callers: readonly GatewayCaller[]
  readonly #gateways: () => readonly SteppedGateway[]

  constructor(options: {
    readonly steps: Steps
    readonly random: SeededRandom
    readonly rules: ApprovalRules
    readonly users: readonly UserRecord[]
    readonly gateways: () => readonly SteppedGateway[]
  }) {
    this.#steps = options.steps
    this.#random = options.random
    this.#rules = options.rules
    this.#gateways = options.gateways
    this.#callers = options.users.map(personCaller)
  }

  /** Nobody, somebody or several decide about it, and do not always agree. */
  asked(approval: ApprovalRecord): void {
    const needed = Math.max(1, ...approval.approvers.map((each) => each.needed))
    for (let count = this.#random.between(0, 2) + needed - 1; count > 0; count -= 1) this.#decideSometime(approval)
    for (const offMs of [this.#random.between(0, 1), this.#random.between(2, 30_000)])
      this.#steps.after(
        this,
        approval.expiresAt + offMs - this.#steps.now,
        'a gateway looks what has run out',
        () => this.#sweep(),
        () => this.#rules.isOver(approval.id),
      )
  }

  /** What a gateway does by itself again and again. */
  #sweep(): void {
    const gateways = this.#gateways()
    if (gateways.length > 0) void this.#random.pick(gateways).store.approvals.expire(100)
  }

  #decideSometime(approval: ApprovalRecord): void {
    const random = this.#random
    const leftMs = approval.expiresAt - this.#steps.now
    const inMs =
      random.next() < LAST_MOMENT_PART ? leftMs + random.between(-1, 1) : random.between(0, random.pick([10, 3_000, 30_000]))
    const decision = random.pick(ANSWERS)
    const caller = random.pick(this.#callers)
    const edited = decision === 'approve' && random.next() < EDITS_PART ? { arguments_json: editedOf(approval) } : {}
    this.#steps.after(this, inMs, `${caller.name} wants to ${decision}`, () => {
      void this.#decide(approval.id, { decision, preview_sha256: approval.previewSha256, ...edited }, caller)
    })
  }

  async #decide(
    approval: ApprovalId,
    { decision, ...more }: Omit<ToolInput<'approval.decide'>, 'approval_id'>,
    caller: GatewayCaller,
  ): Promise<void> {
    const by = caller.name
    try {
      const { status } = await this.#call('approval.decide', { approval_id: approval, decision, ...more }, caller)
      this.#rules.said({ approval, decision, by, status })
    } catch {
      this.#rules.said({ approval, decision, by, status: undefined })
    }
  }

  /** Another policy of the agent becomes active, as a person makes it so. */
  async changePolicy(agentId: AgentId, text: string): Promise<void> {
    const [caller] = this.#callers
    if (caller === undefined) return
    try {
      const set = await this.#call('policy.set', { agent_id: agentId, text, note: '' }, caller)
      await this.#call('policy.activate', { agent_id: agentId, version: set.version, digest: set.review.digest }, caller)
    } catch (error) {
      this.#steps.note(`no other policy: ${messageOf(error)}`)
    }
  }

  /** What was allowed for a session is allowed no longer. */
  async takeAllowance(agentId: AgentId): Promise<void> {
    const [caller] = this.#callers
    if (caller === undefined) return
    try {
      const { allowances } = await this.#call('policy.get', { agent_id: agentId }, caller)
      for (const { id } of allowances) await this.#call('policy.disallow', { agent_id: agentId, allowance_id: id }, caller)
    } catch (error) {
      this.#steps.note(`no allowance is taken: ${messageOf(error)}`)
    }
  }

  async #call<Name extends ToolName>(name: Name, input: ToolInput<Name>, caller: GatewayCaller): Promise<ToolOutput<Name>> {
    const gateways = this.#gateways()
    if (gateways.length === 0) throw new Error('there is no gateway')
    const gateway = this.#random.pick(gateways)
    const way = `${caller.name}-${gateway.name}`
    await this.#steps.turn(gateway, `${way} → ${name} ${JSON.stringify(input)}`)
    const [answered] = await Promise.allSettled([gateway.desk.call(name, input, { caller, call: undefined })])
    const words = answered.status === 'fulfilled' ? 'answer' : String(answered.reason)
    await this.#steps.turn(this, `${way} ← ${name}: ${words}`)
    if (answered.status === 'rejected') throw answered.reason
    return answered.value
  }
}

/** Somebody who signed in. */
function personCaller({ id, username }: UserRecord): GatewayCaller {
  const local = localCaller(new Meter(RATE, () => 0), { id, username })
  return { ...local, key: username, person: username, name: username, signInId: username }
}

function editedOf(approval: ApprovalRecord): string {
  const given = parseJson(approval.arguments)
  const args: JsonObject = isJsonObject(given) ? given : {}
  return JSON.stringify({ ...args, edited: true })
}
