import type { Database } from '@parley/database'
import type { AgentRecord, ApprovalRecord, Store, UserRecord } from '@parley/store'
import { storeOver } from '@parley/store/testing'
import type { SeededRandom } from '../random.ts'
import { ApprovalRules } from './approval-rules.ts'
import { type Fault, pickFault, planFaults } from './faults.ts'
import { POLICIES, People } from './people.ts'
import { type Attempt, SteppedClient } from './stepped-client.ts'
import { SteppedGateway } from './stepped-gateway.ts'
import { type HostPorts, SteppedHost } from './stepped-host.ts'
import { settled, Steps } from './steps.ts'

export interface WorldOptions {
  readonly db: Database
  readonly users: readonly UserRecord[]
  readonly storeFor?: (store: Store, db: Database) => Store
  readonly agent: AgentRecord
  readonly random: SeededRandom
  readonly now: number
}

/** So often something goes wrong just after an approval was given or sent, within so many steps. */
const AIMED_PART = 0.3
const AIMED_STEPS = 12
/** After so long without anything due, nothing is merely late. */
const LEAP_MS = 30_000
const STOP_MS = 40_000
const LISTED = 100
/** Of so many schedules each read is a step too; the others get further in the same time. */
const FINE_PART = 0.3
const SPARE_HOST_PART = 0.3
/** What was shown of the first policy, where there is one. */
const SHOWN = 'f'.repeat(64)
/** All that is to be waited for has a bound below this. */
const ALONE_MS = 3 * 3_600_000

/** Two gateways, hosts, clients and people around one agent, all in this process. */
export class ScheduleWorld {
  readonly #options: WorldOptions
  readonly #random: SeededRandom
  readonly #steps: Steps
  readonly #rules = new ApprovalRules()
  readonly #people: People
  /** For whoever looks from outside: nobody comes in between. */
  readonly #store: Store
  readonly #counts = new Map<string, number>()
  readonly #faults: readonly { readonly at: number; readonly fault: Fault }[]
  readonly #attempts = new WeakMap<object, Attempt>()
  readonly #clients: SteppedClient[] = []
  #gateways: SteppedGateway[] = []
  #hosts: SteppedHost[] = []
  readonly #isFine: boolean
  #started = 0
  #isCommitted = false
  #isAlone = false
  /** How many are approved or dispatched and have no end; what is about to go wrong there. */
  #critical = 0
  #aimed: { inSteps: number; readonly fault: Fault } | undefined
  #aloneUntil = Number.POSITIVE_INFINITY

  constructor(options: WorldOptions) {
    const { random, now, users } = options
    this.#options = options
    this.#random = random
    this.#steps = new Steps(random, now)
    this.#store = storeOver(options.db, { now: () => this.#steps.now, random: (size) => random.bytes(size) })
    const gateways = (): readonly SteppedGateway[] => this.#gateways
    this.#people = new People({ steps: this.#steps, random, rules: this.#rules, users, gateways })
    this.#isFine = random.next() < FINE_PART
    this.#faults = planFaults(random)
  }

  get now(): number {
    return this.#steps.now
  }
  get problems(): readonly string[] {
    return this.#rules.problems
  }
  get trace(): readonly string[] {
    return this.#steps.trace
  }

  async begin(): Promise<void> {
    const { agent } = this.#options
    const { policies } = this.#store
    const random = this.#random
    if (random.next() < 0.3) {
      const subject = { layer: 'agent', agentId: agent.id } as const
      const { version } = await policies.add(subject, { text: random.pick(POLICIES.slice(0, 2)), note: '', by: 'ada' })
      await policies.reviewed(subject, version, { digest: SHOWN, base: null })
      await policies.activate(subject, version, { digest: SHOWN, by: 'ada' })
    }
    for (let count = 2; count > 0; count -= 1) this.#startGateway()
    for (let count = random.next() < SPARE_HOST_PART ? 2 : 1; count > 0; count -= 1) this.#startHost()
    const count = random.between(1, 3)
    for (let index = 0; index < count; index += 1) this.#startClient(`c${index}`)
  }

  #startGateway(): void {
    const { db: shared, storeFor } = this.#options
    const database = { committed: () => void (this.#isCommitted = true), isFine: this.#isFine }
    const options = { steps: this.#steps, random: this.#random, shared, database, ...(storeFor && { storeFor }) }
    this.#gateways.push(new SteppedGateway(`g${++this.#started}`, options))
    for (const host of this.#hosts) host.dial()
  }

  #startHost(): void {
    const rules = this.#rules
    const ports: HostPorts = {
      steps: this.#steps,
      gateways: () => this.#gateways,
      isHeld: () => this.#holder() !== undefined,
      decided: (_host, call, decision) => {
        const attempt = this.#attempts.get(call)
        if (attempt === undefined || decision.kind !== 'allow') return
        attempt.isAllowed = true
        attempt.approval = decision.approval
        attempt.sent = decision.arguments ?? attempt.sent
      },
      took: (host) => rules.took(host),
      dropped: (host) => this.#cutFrom(host),
      gaveBack: (host, why) => {
        this.#count('given back')
        rules.gaveBack(host, why)
      },
    }
    this.#hosts.push(new SteppedHost(`h${++this.#started}`, ports))
  }

  #holder(): SteppedHost | undefined {
    return this.#hosts.find(({ held }) => held !== undefined)
  }

  #startClient(name: string): void {
    const random = this.#random
    const rules = this.#rules
    const client = new SteppedClient(
      name,
      `tok ${name}`,
      { n: random.between(1, 2) },
      {
        steps: this.#steps,
        random,
        gateways: () => this.#gateways,
        holder: () => this.#holder(),
        began: (attempt) => {
          this.#attempts.set(attempt.call, attempt)
          rules.began(attempt)
        },
        effect: (attempt) => rules.effect(attempt),
        heard: (attempt) => {
          this.#count(`heard ${attempt.heard?.kind}`)
          rules.heard(attempt)
        },
      },
    )
    this.#clients.push(client)
    this.#steps.after(client, random.between(0, 5_000), `${name} begins`, () => void client.run())
  }

  /** What is to go wrong before this step goes wrong now. */
  disturb(step: number): void {
    for (const { at, fault } of this.#faults) if (at === step) this.#disturb(fault)
    if (this.#aimed === undefined || this.#aimed.inSteps-- > 0) return
    const { fault } = this.#aimed
    this.#aimed = undefined
    this.#disturb(fault)
  }

  #disturb(fault: Fault): void {
    const random = this.#random
    this.#steps.note(`*** ${fault}`)
    this.#count(fault)
    const [gateway, host, client] = [this.#any(this.#gateways), this.#any(this.#hosts), this.#any(this.#clients)]
    switch (fault) {
      case 'kill gateway':
        if (gateway !== undefined) this.#killGateway(gateway)
        break
      case 'stop gateway':
        if (gateway !== undefined) gateway.stoppedUntil = this.now + random.between(1, STOP_MS)
        break
      case 'kill host':
        if (host !== undefined) this.#killHost(host)
        break
      case 'stop host':
        if (host !== undefined) host.stoppedUntil = this.now + random.between(1, STOP_MS)
        break
      case 'cut host':
        if (host !== undefined && gateway !== undefined) host.cut(gateway)
        break
      case 'cut client':
        client?.way?.cut()
        break
      case 'cancel':
        client?.cancel()
        break
      case 'change policy':
        void this.#people.changePolicy(this.#options.agent.id, random.pick(POLICIES))
        break
      case 'take allowance':
        void this.#people.takeAllowance(this.#options.agent.id)
        break
    }
  }

  #any<T>(choices: readonly T[]): T | undefined {
    return choices.length === 0 ? undefined : this.#random.pick(choices)
  }

  #killGateway(gateway: SteppedGateway): void {
    gateway.kill()
    this.#gateways = this.#gateways.filter((each) => each !== gateway)
    this.#steps.after(this.#people, this.#random.between(0, 20_000), 'a gateway starts', () => this.#startGateway())
  }

  #killHost(host: SteppedHost): void {
    host.kill()
    this.#hosts = this.#hosts.filter((each) => each !== host)
    this.#cutFrom(host)
    this.#steps.after(this.#people, this.#random.between(0, 20_000), 'a host starts', () => this.#startHost())
  }

  #cutFrom(host: SteppedHost): void {
    for (const { way } of this.#clients) if (way?.attempt.host === host) way.cut()
  }

  /** One step, with all that follows from it by itself; then what must hold is looked at. */
  async step(): Promise<boolean> {
    if (this.#steps.isQuiet) await this.#leap()
    const isTaken = this.#steps.take()
    await settled()
    if (this.#isCommitted) await this.#look()
    return isTaken
  }

  async #look(): Promise<void> {
    this.#isCommitted = false
    const { id: agentId } = this.#options.agent
    const records = await this.#store.approvals.list({ agentId, limit: LISTED })
    for (const approval of this.#rules.look(records)) this.#asked(approval)
    const critical = records.filter(({ status }) => status === 'approved' || status === 'dispatched').length
    if (critical > this.#critical && !this.#isAlone && this.#random.next() < AIMED_PART)
      this.#aimed = { inSteps: this.#random.between(0, AIMED_STEPS), fault: pickFault(this.#random) }
    this.#critical = critical
  }

  #asked(approval: ApprovalRecord): void {
    this.#steps.note(`--- ${approval.id} is asked`)
    this.#people.asked(approval)
  }

  /** Leases are kept meanwhile by those who could keep them. */
  async #leap(): Promise<void> {
    const due = this.#steps.nextDue()
    const to = due ?? this.now
    if (to - this.now < LEAP_MS) return
    for (const { held, stoppedUntil } of this.#hosts) {
      if (held === undefined || stoppedUntil > this.now) continue
      const fence = { queue: 'agents', key: held.claim.agent_id, fence: Number(held.claim.claim_id) }
      await this.#store.leases.renew(fence, to - this.now + LEAP_MS).catch(() => undefined)
    }
    this.#steps.leap(to)
  }

  /** Nothing goes wrong any more; some steps still come late. */
  leaveAlone(): void {
    this.#steps.note('*** left alone')
    this.#isAlone = true
    for (const each of [...this.#hosts, ...this.#gateways]) each.stoppedUntil = this.now
    this.#aloneUntil = this.now + ALONE_MS
  }

  async stepAlone(): Promise<boolean> {
    if (this.#steps.isQuiet && (this.#steps.nextDue() ?? Number.POSITIVE_INFINITY) > this.#aloneUntil) return false
    return this.step()
  }

  end(isStuck: boolean): void {
    if (isStuck) this.#rules.problems.push('it does not come to an end')
    this.#rules.ended()
  }

  /** Nothing of it hears anything any more. */
  close(): void {
    for (const each of [...this.#hosts, ...this.#gateways]) each.kill()
  }

  counts(): ReadonlyMap<string, number> {
    for (const { status } of this.#rules.records) this.#count(status)
    return this.#counts
  }

  #count(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }
}
