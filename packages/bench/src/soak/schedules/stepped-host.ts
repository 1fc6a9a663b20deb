import type { MountCall, MountDecision } from '@parley/agent'
import { GatedCalls } from '@parley/agent/testing'
import { AgentGate, CallLog, type GatewayCall, type Timers, callRecorder } from '@parley/host/testing'
import { AGENT_LIMITS, type AgentClaim, type JsonObject, ToolError, type ToolOutput } from '@parley/protocol'
import { type Caller, WireError } from '@parley/rpc'
import { HostLink, hostCaller } from './host-link.ts'
import type { SteppedGateway } from './stepped-gateway.ts'
import type { Actor, Steps } from './steps.ts'

const RENEW_MS = AGENT_LIMITS.leaseMs / 3
const CLAIM_AGAIN_MS = 5_000
/** As `joinGateways` has it: between tries to find a gateway that answers. */
const RETRY_MS = 50
const RETRY_MAX_MS = 2_000
const MOUNT_VERSION = 1

/** What a host keeps of the agent while it holds it: the same parts as in `HeldAgent`, with a mount in place of the compositor. */
export interface Held {
  readonly claim: AgentClaim
  readonly gate: AgentGate
  readonly calls: GatedCalls<Caller>
  readonly ended: AbortController
}

export interface HostPorts {
  readonly steps: Steps
  readonly gateways: () => readonly SteppedGateway[]
  /** Whether somebody holds the agent: then nobody else gets it by asking. */
  readonly isHeld: () => boolean
  readonly decided: (host: SteppedHost, call: MountCall<Caller>, decision: MountDecision) => void
  /** It holds the agent from now on. */
  readonly took: (host: SteppedHost) => void
  /** It holds the agent no longer: who was on the way to it there is cut off. */
  readonly dropped: (host: SteppedHost) => void
  /** It gives the agent back though it could have gone on. */
  readonly gaveBack: (host: SteppedHost, why: string) => void
}

/** A host from its start to its death. */
export class SteppedHost implements Actor {
  readonly name: string
  isDead = false
  stoppedUntil = 0
  held: Held | undefined
  readonly #ports: HostPorts
  readonly #steps: Steps
  readonly #timers: Timers
  readonly #links = new Map<SteppedGateway, HostLink>()
  readonly #caller
  readonly #never = new AbortController().signal
  /** It was told that the claim is not its own any more. */
  #isLost = false
  #updating: Promise<void> = Promise.resolve()

  constructor(name: string, ports: HostPorts) {
    this.name = name
    this.#ports = ports
    this.#steps = ports.steps
    this.#caller = hostCaller(name)
    this.#timers = {
      now: () => this.#steps.now,
      after: (ms, act) => this.#steps.after(this, ms, `${this.name}: timer`, act),
    }
    this.dial()
    void this.#claimOn()
  }

  kill(): void {
    this.isDead = true
    for (const link of this.#links.values()) link.cut()
  }

  cut(gateway: SteppedGateway): void {
    this.#links.get(gateway)?.cut()
  }

  /** Dials every gateway that it has no connection to. */
  dial(): void {
    for (const [gateway, link] of this.#links) if (link.isCut) this.#links.delete(gateway)
    for (const gateway of this.#ports.gateways()) {
      if (this.#links.has(gateway)) continue
      const link = new HostLink({
        steps: this.#steps,
        host: this,
        caller: this.#caller,
        gateway,
        notified: (params) => this.#notified(params),
        lost: () => this.#steps.after(this, RETRY_MS, `${this.name} dials`, () => this.dial()),
      })
      this.#links.set(gateway, link)
      link.once('worker.heartbeat', this.#beat, this.#never).then(
        () => (link.isGreeted = true),
        () => link.cut(),
      )
    }
  }

  get #beat() {
    const facts = { version: '1', os: 'linux', arch: 'x64', cores: 1 }
    const instance = Buffer.from(this.name.padEnd(16)).toString('hex')
    return { name: this.name, instance, slots: 1, facts, load: { sessions: 0, running: 0, processes: [] } }
  }

  /** As `Joined.call`: on whichever gateway is there, and again after a failure that is worth it. */
  readonly call: GatewayCall = async (name, input, signal) => {
    for (let waitMs = RETRY_MS; ; waitMs = Math.min(waitMs * 2, RETRY_MAX_MS)) {
      for (const link of this.#links.values()) {
        if (signal.aborted) throw new WireError('aborted', 'nobody waits for it any more')
        if (!link.isGreeted || link.isCut) continue
        try {
          return await link.once(name, input, signal)
        } catch (error) {
          this.#isLost ||= error instanceof ToolError && error.code === 'lease_lost'
          if (signal.aborted || !isPassing(error)) throw error
        }
      }
      await this.#sleep(waitMs)
    }
  }

  #sleep(ms: number, isIdle = (): boolean => false): Promise<void> {
    return new Promise((resolve) => this.#steps.after(this, ms, `${this.name}: slept`, resolve, isIdle))
  }

  async #claimOn(): Promise<void> {
    while (this.held === undefined) {
      const { claim } = await this.call('host.claim_next', { wait_ms: 0 }, this.#never).catch(() => ({ claim: null }))
      if (claim !== null) await this.#take(claim)
      if (this.held === undefined) await this.#sleep(CLAIM_AGAIN_MS, this.#ports.isHeld)
    }
  }

  async #take(claim: AgentClaim): Promise<void> {
    this.#isLost = false
    this.#ports.took(this)
    let spec: ToolOutput<'host.agent_get'>
    try {
      spec = await this.call('host.agent_get', claim, this.#never)
    } catch {
      return this.#giveBack(claim, 'it cannot be held')
    }
    const ended = new AbortController()
    const now = (): number => this.#steps.now
    const agent = { claim, call: this.call, signal: ended.signal, timers: this.#timers }
    const failed = (why: string): void => void this.#letGo(claim, why)
    const log = (_level: string, message: string): void => this.#steps.note(`${this.name} says: ${message}`)
    const calls = new CallLog({ ...agent, offset: spec.calls_offset, failed })
    const gate = new AgentGate({ ...agent, log, spec, refresh: () => this.#update(), versionOf: () => MOUNT_VERSION, now })
    const gated = new GatedCalls<Caller>({
      gate: {
        decide: async (call, wait) => {
          const decision = await gate.decideMount(call, wait)
          this.#ports.decided(this, call, decision)
          return decision
        },
      },
      recorder: callRecorder({ calls, gate, masked: (words) => words, now }),
      log,
      now,
    })
    this.held = { claim, gate, calls: gated, ended }
    this.#renewLater(this.held)
  }

  #update(): Promise<void> {
    const { held } = this
    if (held === undefined) return Promise.resolve()
    const { claim, gate, ended } = held
    this.#updating = this.#updating
      .then(async () => gate.set(await this.call('host.agent_get', claim, ended.signal)))
      .catch((error: unknown) => this.#steps.note(`${this.name} cannot read what changed: ${String(error)}`))
    return this.#updating
  }

  #notified(params: JsonObject): void {
    if (params['action'] === 'update' && params['claim_id'] === this.held?.claim.claim_id) void this.#update()
  }

  #renewLater(held: Held): void {
    this.#steps.after(
      this,
      RENEW_MS,
      `${this.name} renews`,
      () => void this.#renew(held),
      () => true,
    )
  }

  async #renew(held: Held): Promise<void> {
    if (this.held !== held) return
    this.#renewLater(held)
    const { lost } = await this.call('host.renew', { claims: [held.claim] }, held.ended.signal).catch(() => ({ lost: [] }))
    if (lost.length > 0) this.#drop(held)
  }

  #drop(held: Held): void {
    if (this.held !== held) return
    this.held = undefined
    held.ended.abort()
    this.#ports.dropped(this)
    void this.#claimOn()
  }

  async #letGo(claim: AgentClaim, why: string): Promise<void> {
    const { held } = this
    if (held?.claim !== claim) return
    this.held = undefined
    held.ended.abort()
    this.#ports.dropped(this)
    await this.#giveBack(claim, why)
    void this.#claimOn()
  }

  async #giveBack(claim: AgentClaim, why: string): Promise<void> {
    if (!this.#isLost) this.#ports.gaveBack(this, why)
    await this.call('host.release', { ...claim, asleep: false }, this.#never).catch(() => undefined)
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof WireError) return error.code !== 'aborted'
  return error instanceof ToolError && (error.code === 'no_session' || error.code === 'unavailable')
}
