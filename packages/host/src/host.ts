import { type AskedTunnel, type Joined, joinGateways } from '@parley/client/worker'
import {
  AGENT_LIMITS,
  type AgentClaim,
  AgentId,
  ByteRoom,
  iso,
  type JsonObject,
  messageOf,
  NOTIFICATIONS,
  ToolError,
  WORKER_LIMITS,
} from '@parley/protocol'
import { HeldAgent } from './held-agent.ts'
import type { Host, HostOptions } from './host-options.ts'
import { removeFolder, removeLeft } from './left-folders.ts'
import { KEPT_ROOM } from './mount/mount-rooms.ts'
import { pause } from './pause.ts'

/** Claims are kept with this part of the lease left. */
const RENEW_PART = 3
const CLAIM_WAIT_MS = 20_000
const RETRY_MS = 1_000
/** An agent that this host held once may be deleted while another has it: nobody tells this one. */
const SWEEP_MS = 10 * 60_000

/** Takes part as a host: holds agents for the gateways, each with its compositor. Throws why it may not. */
export async function openHost(options: HostOptions): Promise<Host> {
  const host = new OpenHost(options)
  await host.join()
  return host
}

class OpenHost implements Host {
  readonly #options: HostOptions
  readonly #keptRoom = new ByteRoom(KEPT_ROOM)
  readonly #held = new Map<AgentId, HeldAgent>()
  /** Those that are being taken: a tunnel to one may be asked for before it is there. */
  readonly #taking = new Map<AgentId, Promise<void>>()
  readonly #since = new Map<AgentId, number>()
  readonly #ended = new AbortController()
  #joined: Joined | undefined
  #isDraining = false
  #drained = new AbortController()
  #wakeClaims = Promise.withResolvers<void>()
  #working: Promise<unknown> = Promise.resolve()
  #sweptAt = 0

  constructor(options: HostOptions) {
    this.#options = options
  }

  get name(): string {
    return this.#joined?.name ?? ''
  }
  held(): number {
    return this.#held.size
  }

  async join(): Promise<void> {
    const { url, connect, log, about, slots } = this.#options
    this.#joined = await joinGateways({
      url,
      connect,
      log: (message) => log('warn', message),
      worker: {
        drain: (isDraining) => this.#drain(isDraining),
        open: (asked) => void this.#open(asked),
        notified: (method, params) => this.#notified(method, params),
      },
      heartbeat: () => ({ ...about(), slots, load: this.#load() }),
      ...(this.#options.signal === undefined ? {} : { signal: this.#options.signal }),
    })
    this.#working = Promise.all([this.#claimOn(), this.#renewOn(), this.#sweep()])
  }

  async close(): Promise<void> {
    this.#ended.abort()
    this.#wakeClaims.resolve()
    await this.#working
    await Promise.allSettled([...this.#taking.values()])
    await Promise.all([...this.#held.values()].map((agent) => this.#letGo(agent, { asleep: false })))
    await this.#joined?.close()
  }

  /** Claims one agent after the other for as long as there is room. */
  async #claimOn(): Promise<void> {
    const { signal } = this.#ended
    while (!signal.aborted) {
      if (this.#isDraining || this.#held.size + this.#taking.size >= this.#options.slots) {
        this.#wakeClaims = Promise.withResolvers()
        await this.#wakeClaims.promise
        continue
      }
      try {
        const unlessDrained = AbortSignal.any([signal, this.#drained.signal])
        const { claim } = await this.#call('host.claim_next', { wait_ms: CLAIM_WAIT_MS }, unlessDrained)
        if (claim !== null && this.#isDraining) await this.#release(claim, { asleep: false })
        else if (claim !== null) this.#take(claim)
      } catch (error) {
        if (signal.aborted) return
        if (this.#isDraining) continue
        this.#options.log('warn', `agents cannot be claimed: ${messageOf(error)}`)
        await pause(RETRY_MS, this.#ended.signal)
      }
    }
  }

  #take(claim: AgentClaim): void {
    const id = claim.agent_id
    // An earlier claim of ours that ran out: what it began is over.
    const before = this.#held.get(id)
    const taking = (async () => {
      if (before !== undefined) await this.#drop(before)
      try {
        const agent = await HeldAgent.open(this.#agentOptions(claim), this.#ended.signal)
        this.#held.set(id, agent)
        this.#since.set(id, this.#options.now())
      } catch (error) {
        if (this.#ended.signal.aborted) return
        this.#options.log('warn', `${id} cannot be held: ${messageOf(error)}`)
        await this.#release(claim, { asleep: false })
      }
    })().finally(() => {
      this.#taking.delete(id)
      this.#wakeClaims.resolve()
    })
    this.#taking.set(id, taking)
  }

  #agentOptions(claim: AgentClaim) {
    const { reachMount, turns, version, now, log } = this.#options
    const id = claim.agent_id
    const own = (act: (agent: HeldAgent) => void): void => {
      const agent = this.#held.get(id)
      if (agent?.claim.claim_id === claim.claim_id) act(agent)
    }
    return {
      claim,
      call: this.#call,
      reachMount,
      keptRoom: this.#keptRoom,
      turns,
      version,
      now,
      log: (level: 'info' | 'warn', message: string) => log(level, `${id}: ${message}`),
      quiet: () => own((agent) => void this.#letGo(agent, { asleep: true })),
      failed: (why: string) =>
        own((agent) => {
          log('warn', `${id}: ${why}`)
          void this.#letGo(agent, { asleep: false })
        }),
    }
  }

  async #renewOn(): Promise<void> {
    const { signal } = this.#ended
    while (!signal.aborted) {
      await pause(AGENT_LIMITS.leaseMs / RENEW_PART, this.#ended.signal)
      const held = [...this.#held.values()]
      if (signal.aborted) continue
      if (this.#options.now() - this.#sweptAt > SWEEP_MS) await this.#sweep()
      if (held.length === 0) continue
      try {
        const { lost } = await this.#call('host.renew', { claims: held.map(({ claim }) => claim) }, signal)
        for (const agent of held) if (lost.includes(agent.id)) await this.#drop(agent)
        // It may be lost because it was deleted, by a gateway whose word did not arrive.
        if (lost.length > 0) await this.#sweep()
      } catch (error) {
        if (!signal.aborted) this.#options.log('warn', `agents cannot be kept: ${messageOf(error)}`)
      }
    }
  }

  /** Somebody else has it, or nobody may: all that belongs to it ends, and nothing is said of it any more. */
  async #drop(agent: HeldAgent): Promise<void> {
    if (this.#held.get(agent.id) === agent) {
      this.#held.delete(agent.id)
      this.#since.delete(agent.id)
    }
    this.#wakeClaims.resolve()
    await agent.close().catch((error: unknown) => this.#options.log('warn', `${agent.id} does not end: ${messageOf(error)}`))
  }

  /** It was deleted: what is here of it goes too, and whoever deletes it is told when it has. */
  async #end(agent: HeldAgent): Promise<void> {
    if (this.#held.get(agent.id) !== agent) return
    await this.#drop(agent)
    await removeFolder(agent.id, this.#options)
    await this.#release(agent.claim, { asleep: true })
  }

  #sweep(): Promise<void> {
    this.#sweptAt = this.#options.now()
    const { folders, log } = this.#options
    const isHere = (id: AgentId): boolean => this.#held.has(id) || this.#taking.has(id)
    return removeLeft({ folders, log, isHere, call: this.#call, signal: this.#ended.signal })
  }

  async #letGo(agent: HeldAgent, how: { readonly asleep: boolean }): Promise<void> {
    if (this.#held.get(agent.id) !== agent) return
    await this.#drop(agent)
    await this.#release(agent.claim, how)
  }

  /** Also while we end: another host takes it at once then, and not when the lease has run out. */
  async #release(claim: AgentClaim, { asleep }: { readonly asleep: boolean }): Promise<void> {
    try {
      await this.#call('host.release', { ...claim, asleep }, AbortSignal.timeout(RETRY_MS * 2))
    } catch (error) {
      this.#options.log('warn', `${claim.agent_id} is not given back: ${messageOf(error)}`)
    }
  }

  #drain(isDraining: boolean): void {
    if (isDraining === this.#isDraining) return
    this.#isDraining = isDraining
    // What is given back must not come back by a claim that waits.
    if (isDraining) this.#drained.abort()
    else this.#drained = new AbortController()
    this.#wakeClaims.resolve()
    if (isDraining) for (const agent of this.#held.values()) void this.#letGo(agent, { asleep: false })
  }

  #notified(method: string, params: JsonObject): void {
    if (method !== NOTIFICATIONS.host_control.method) return
    const { data } = NOTIFICATIONS.host_control.params.safeParse(params)
    const agent = data === undefined ? undefined : this.#held.get(data.agent_id)
    if (data === undefined || agent?.claim.claim_id !== data.claim_id) return
    switch (data.action) {
      case 'update':
        return void agent.update()
      case 'prompt':
        return agent.prompt()
      case 'news':
        return agent.news()
      case 'abort':
        return agent.abort()
      case 'release':
        return void this.#end(agent)
    }
  }

  /** Dials back for a gateway that wants to reach an agent here. */
  async #open({ gateway, subject, ticket }: AskedTunnel): Promise<void> {
    const { dialBack, log } = this.#options
    try {
      const link = await dialBack(gateway, ticket)
      const { data: id } = AgentId.safeParse(subject)
      if (id !== undefined) await this.#taking.get(id)
      const agent = id === undefined ? undefined : this.#held.get(id)
      if (agent === undefined) link.close('the agent is not here any more')
      else agent.serve(link)
    } catch (error) {
      log('warn', `a tunnel could not be opened: ${messageOf(error)}`)
    }
  }

  #load() {
    const now = this.#options.now()
    return {
      sessions: this.#held.size,
      running: this.#held.size,
      processes: [...this.#held.keys()]
        .slice(0, WORKER_LIMITS.processes)
        .map((id) => ({ program: id, since: iso(this.#since.get(id) ?? now) })),
    }
  }

  readonly #call: Joined['call'] = (name, input, signal) => {
    if (this.#joined === undefined) throw new ToolError('unavailable', 'there is no gateway yet')
    return this.#joined.call(name, input, signal)
  }
}
