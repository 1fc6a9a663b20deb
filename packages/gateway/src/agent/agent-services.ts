import { type GatewayCaller } from '@parley/access'
import { AGENT_LIMITS, type AgentId, APPROVAL_LIMITS, CALLER_META, LET_GO, messageOf } from '@parley/protocol'
import { type Call, type ClientTransport, DEFAULT_RELAY_LIMITS, Denied, HELD, openRelay, type Relay } from '@parley/rpc'
import { frameTransport, tunnelFrames } from '@parley/rpc/frame'
import { NotFound, agentTopic } from '@parley/store'
import type { Logger } from 'pino'
import { wokenOrLate } from '../judge/polls.ts'
import type { Tunnels } from '../tunnel/tunnels.ts'
import { AgentService } from './agent-service.ts'
import type { AgentWorld } from './agent-world.ts'

const SWEEP_MS = 5_000
/** How often it is looked whether a host has taken an agent, beside being told. */
const LOOK_MS = 250
const RETRY_SECONDS = 2
const REMOVED_AT_ONCE = 100
/** A person may take all the time that an approval has, and the call is made after that. */
const CALL_MS = APPROVAL_LIMITS.ttlMs + DEFAULT_RELAY_LIMITS.callMs

export interface AgentServicesOptions {
  readonly version: string
  readonly wakeMs?: number
  readonly quietMs?: number
}

/** The compositors of agents that somebody here uses, each reached through a tunnel to the host that holds its agent. */
export class AgentServices {
  readonly #world: AgentWorld
  readonly #tunnels: Tunnels
  readonly #options: Required<AgentServicesOptions>
  readonly #log: Logger
  readonly #services = new Map<AgentId, AgentService>()
  readonly #opening = new Map<AgentId, Promise<unknown>>()
  readonly #closing = new AbortController()
  readonly #sweeping: NodeJS.Timeout

  constructor(world: AgentWorld, tunnels: Tunnels, options: AgentServicesOptions) {
    this.#world = world
    this.#tunnels = tunnels
    const { version, wakeMs = AGENT_LIMITS.wakeMs, quietMs = AGENT_LIMITS.quietMs } = options
    this.#options = { version, wakeMs, quietMs }
    this.#log = world.log
    this.#sweeping = setInterval(() => this.#sweep(), Math.min(SWEEP_MS, quietMs))
    this.#sweeping.unref()
  }

  /** The service of an agent that is open. Whoever the door let in has one. */
  of(id: AgentId): AgentService | undefined {
    return this.#services.get(id)
  }

  /** Wakes the agent and opens the way to it. Throws `Denied`: 503 while no host can take it. */
  ready(caller: GatewayCaller): GatewayCaller | Promise<GatewayCaller> {
    const { agentId } = caller
    if (agentId === null) throw new Denied(403, 'forbidden', 'this token names no agent')
    const service = this.#services.get(agentId)
    if (service?.isReached === true) return caller
    let opening = this.#opening.get(agentId)
    if (opening === undefined) {
      const open = service === undefined ? this.#open(agentId) : this.#reachAgain(agentId, service)
      opening = open.finally(() => this.#opening.delete(agentId))
      this.#opening.set(agentId, opening)
    }
    return opening.then(() => caller)
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeping)
    this.#closing.abort()
    await Promise.allSettled([...this.#opening.values()])
    await Promise.all([...this.#services.values()].map((service) => service.close()))
    this.#services.clear()
  }

  async #open(id: AgentId): Promise<AgentService> {
    try {
      const relay = await this.#openRelay(id)
      const service = new AgentService({ agentId: id, relay, world: this.#world, version: this.#options.version })
      if (this.#closing.signal.aborted) {
        await service.close()
        throw new Denied(503, 'draining', 'shutting down; come back in a moment', RETRY_SECONDS)
      }
      this.#services.set(id, service)
      return service
    } catch (error) {
      throw this.#denied(id, error)
    }
  }

  /** Its host is gone: whoever comes is told so at the door. Sessions and watches that are open stay, and go on when a host is there. */
  async #reachAgain(id: AgentId, service: AgentService): Promise<void> {
    const reached = service.reach().then(
      () => undefined,
      (error: unknown) => error,
    )
    const late = new AbortController()
    try {
      const failure = await Promise.race([reached, wokenOrLate(late.signal, this.#options.wakeMs).then(noHost)])
      if (failure !== undefined) throw this.#denied(id, failure)
    } finally {
      late.abort()
    }
  }

  #denied(id: AgentId, error: unknown): Denied {
    if (error instanceof Denied) return error
    this.#log.warn({ agent: id, err: error }, 'an agent cannot be reached')
    return new Denied(503, 'unavailable', `the agent cannot be reached now: ${messageOf(error)}`, RETRY_SECONDS)
  }

  /** Again while there is time: a host may be asked for an agent before it has heard that it holds it, or after it has let go. */
  async #openRelay(id: AgentId): Promise<Relay<GatewayCaller>> {
    const until = performance.now() + this.#options.wakeMs
    for (;;) {
      try {
        return await openRelay<GatewayCaller>({
          connect: () => this.#reach(id),
          clientInfo: { name: 'parley-gateway', version: this.#options.version },
          era: 'modern',
          stamp: stampOf,
          limits: { callMs: CALL_MS },
          ordinaryEnd: LET_GO,
          log: (level, message) => this.#log[level]({ agent: id }, message),
        })
      } catch (error) {
        if (error instanceof Denied || this.#closing.signal.aborted || performance.now() > until) throw error
      }
      await wokenOrLate(this.#closing.signal, LOOK_MS)
    }
  }

  /** A way to the host that holds the agent, which is woken for it. A host that lets go of it just then is asked for no more than that. */
  async #reach(id: AgentId): Promise<ClientTransport> {
    const gone = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(this.#options.wakeMs)])
    let why: Error | undefined
    for (;;) {
      const host = await this.#heldBy(id, gone)
      if (host === undefined) throw why ?? noHost()
      try {
        const end = await this.#tunnels.open({ kind: 'agent', worker: host, subject: id, person: `agent ${id}`, gone })
        return frameTransport(tunnelFrames(end))
      } catch (error) {
        if (!(error instanceof Denied) || gone.aborted) throw error
        why = error
      }
      await wokenOrLate(gone, LOOK_MS)
    }
  }

  /** The host that holds it, once one does; `undefined` when none has taken it in time. */
  async #heldBy(id: AgentId, gone: AbortSignal): Promise<string | undefined> {
    const { agents, topics } = this.#world.store
    let told = Promise.withResolvers<void>()
    const off = topics.subscribe(agentTopic(id), () => told.resolve())
    try {
      while (!gone.aborted) {
        told = Promise.withResolvers<void>()
        await agents.wake(id)
        const held = await agents.held(id)
        if (held.kind === 'awake') return held.host
        await Promise.race([told.promise, wokenOrLate(gone, LOOK_MS)])
      }
      return undefined
    } catch (error) {
      if (error instanceof NotFound) throw new Denied(401, 'unknown_token', 'there is no such agent any more')
      throw error
    } finally {
      off()
    }
  }

  /** What a gateway that died had begun to delete, and the agents of people who were deleted. */
  async #removeMarked(): Promise<void> {
    const { agents } = this.#world.store
    for (const id of await agents.deleting(REMOVED_AT_ONCE)) await agents.remove(id)
  }

  #sweep(): void {
    this.#removeMarked().catch((error: unknown) => this.#log.warn({ err: error }, 'deleted agents cannot be removed now'))
    for (const [id, service] of this.#services) {
      if (service.quietMs(this.#world.now()) < this.#options.quietMs) continue
      this.#services.delete(id)
      service.close().catch((error: unknown) => this.#log.warn({ agent: id, err: error }, 'the way to an agent does not close'))
    }
  }
}

const noHost = (): Denied =>
  new Denied(503, 'unavailable', 'no host has taken this agent yet; parley host list shows those that are here', RETRY_SECONDS)

const stampOf = ({ caller, link }: Pick<Call, 'caller' | 'link'>) => ({
  [CALLER_META]: { key: caller.key, ...(link === undefined ? {} : { link: link.id }) },
  [HELD.meta]: true,
})
