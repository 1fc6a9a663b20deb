import { type Compositor, openCompositor } from '@parley/agent'
import {
  AGENT_LIMITS,
  type AgentClaim,
  type AgentId,
  type ByteRoom,
  CALLER_META,
  LET_GO,
  messageOf,
  type ToolOutput,
  within,
} from '@parley/protocol'
import type { Caller } from '@parley/rpc'
import { type FrameLink, serveFrames } from '@parley/rpc/frame'
import { CallLog } from './call-log.ts'
import { callRecorder } from './call-recorder.ts'
import { callerOf, linkOf } from './tunnel-link.ts'
import { AgentGate } from './ask/agent-gate.ts'
import { readyPolicies } from './ask/ready-policies.ts'
import { openPolicyDesk } from './ask/policy-desk.ts'
import { type HeldBackgroundDesk, openBackgroundDesk } from './background-desk.ts'
import { openChatDesk } from './chat-desk.ts'
import type { GatewayCall } from './gateway-calls.ts'
import { HeldMounts } from './held-mounts.ts'
import type { ReachMount } from './mount/reach-mount.ts'
import { NewsWatch } from './news-watch.ts'
import { AgentLoop } from './turn/agent-loop.ts'
import { AgentTurns } from './turn/agent-turns.ts'
import { ENGINE_CALLER, EngineCalls, isEngine } from './turn/engine-calls.ts'
import type { TurnPorts } from './turn/turn-ports.ts'

/** How many requests one gateway may have under way for all clients of an agent. */
const TUNNEL_REQUESTS = 4_096
/** How long the last lines of its log are waited for. */
const LAST_LINES_MS = 2_000

export interface HeldAgentOptions {
  readonly claim: AgentClaim
  readonly call: GatewayCall
  readonly reachMount: ReachMount
  /** For what is kept of what mounts say, by owner. */
  readonly keptRoom: ByteRoom
  /** For those that are ours to run. */
  readonly turns: TurnPorts
  readonly version: string
  readonly now: () => number
  readonly log: (level: 'info' | 'warn', message: string) => void
  /** Nobody has used it for a while. */
  readonly quiet: () => void
  /** It cannot be held any more: what it does cannot be written down. */
  readonly failed: (why: string) => void
}

type Spec = ToolOutput<'host.agent_get'>

/** An agent that this host holds: its compositor with its mounts, the tunnels to it, the log of its calls. */
export class HeldAgent {
  readonly claim: AgentClaim
  readonly #options: HeldAgentOptions
  readonly #ended = new AbortController()
  readonly #links = new Set<FrameLink>()
  readonly #mounts: HeldMounts
  #spec: Spec
  readonly #calls: CallLog
  readonly #agentGate: AgentGate
  readonly #engineCalls = new EngineCalls()
  readonly #loop: AgentLoop
  readonly #watch: NewsWatch
  /** There from the moment that it can be reached. */
  #compositor: Compositor | undefined
  /** Of a local one, from the moment that it has its mounts. */
  #turns: AgentTurns | undefined
  readonly #background: HeldBackgroundDesk
  #updating: Promise<void> = Promise.resolve()
  #resting: NodeJS.Timeout | undefined
  #isClosing = false

  private constructor(options: HeldAgentOptions, spec: Spec) {
    this.#options = options
    this.claim = options.claim
    this.#spec = spec
    const { call, claim } = options
    const { signal } = this.#ended
    this.#calls = new CallLog({ claim, call, signal, offset: spec.calls_offset, failed: options.failed })
    this.#mounts = new HeldMounts({ ...options, signal, spec: () => this.#spec })
    this.#agentGate = new AgentGate({
      claim,
      call,
      signal,
      log: options.log,
      spec,
      refresh: () => this.update(),
      now: options.now,
      versionOf: (mount) => this.#mounts.versionOf(mount),
    })
    const of = { claim, call, signal, log: options.log, changed: () => this.#rest() }
    this.#loop = new AgentLoop({ ...of, rest: spec.rest, goesOn: () => this.#turns?.goesOn === true })
    this.#watch = new NewsWatch({ ...of, listens: spec.subscriptions })
    const mounts = (): Spec['mounts'] => this.#spec.mounts
    this.#background = openBackgroundDesk({ ...of, mounts, refusal: (caller) => this.#loop.overFor(caller) })
    this.#rest()
  }

  /** Takes what the gateway has of the agent, and mounts what there is. Throws when it is not ours any more. */
  static async open(options: HeldAgentOptions, signal: AbortSignal): Promise<HeldAgent> {
    const spec = await options.call('host.agent_get', options.claim, signal)
    await readyPolicies(spec)
    const held = new HeldAgent(options, spec)
    await held.#begin()
    return held
  }

  async #begin(): Promise<void> {
    const { subscriptions: listened, kind } = this.#spec
    const isLocal = kind === 'local'
    const { call, claim, version, now, log, keptRoom } = this.#options
    const { signal } = this.#ended
    const { masked } = this.#mounts
    const compositor = await openCompositor({
      info: { name: 'parley', version, role: 'agent' },
      gate: {
        decide: (asked, wait) =>
          this.#loop.refusal(asked) ?? this.#agentGate.decideMount(asked, wait, this.#engineCalls.isAgain(asked)),
      },
      recorder: callRecorder({ calls: this.#calls, gate: this.#agentGate, engineCalls: this.#engineCalls, masked, now }),
      masked,
      connect: (name, need) => this.#mounts.connect(name, need.signal),
      policy: openPolicyDesk({ claim, call, signal }, this.#agentGate),
      chat: openChatDesk({ claim, call, signal }),
      subscriptions: {
        caller: ENGINE_CALLER,
        list: () => listened,
        add: (uri) => this.#watch.listen(uri, true, null),
        remove: (uri) => this.#watch.listen(uri, false, null),
        ...(isLocal ? this.#watch.shelf : {}),
      },
      keptShare: () => keptRoom.share(this.#spec.owner),
      ...(isLocal ? { loop: this.#loop, background: this.#background, isEngine } : {}),
      log,
      now,
    })
    this.#compositor = compositor
    await this.#mounts.show(compositor)
    if (isLocal) this.#takeTurns(compositor)
  }

  #takeTurns(compositor: Compositor): void {
    const { turns: ports, ...options } = this.#options
    this.#turns = new AgentTurns({
      ...options,
      ports,
      signal: this.#ended.signal,
      spec: () => this.#spec,
      compositor,
      calls: this.#calls,
      gate: this.#agentGate,
      engineCalls: this.#engineCalls,
      loop: this.#loop,
      idle: () => this.#rest(),
    })
    this.#turns.wake()
  }

  get id(): AgentId {
    return this.claim.agent_id
  }

  /** Something about it was changed. */
  update(): Promise<void> {
    this.#updating = this.#updating.then(async () => {
      if (this.#ended.signal.aborted) return
      const spec = await this.#options.call('host.agent_get', this.claim, this.#ended.signal)
      await readyPolicies(spec)
      this.#spec = spec
      this.#agentGate.set(this.#spec)
      if (this.#compositor === undefined) return
      // Whoever waits for other policies does not wait for what is written down of subscriptions.
      void this.#compositor.reconsider()
      await this.#mounts.converge()
      this.#rest()
    })
    this.#updating = this.#updating.catch((error: unknown) => {
      if (!this.#ended.signal.aborted) this.#options.log('warn', `what changed cannot be read: ${messageOf(error)}`)
    })
    return this.#updating
  }

  /** A local one was told something. */
  prompt(): void {
    this.#turns?.wake()
  }

  /** There is something to tell a local one. */
  news(): void {
    this.#loop.told()
  }

  /** Somebody wants the turn of a local one to end. */
  abort(): void {
    void this.#turns?.abort()
  }

  /** A gateway’s end of a tunnel: MCP, for whichever of its clients each request is made. */
  serve(link: FrameLink): void {
    const service = this.#compositor
    if (this.#ended.signal.aborted || service === undefined) return link.close('the agent is not here any more')
    this.#links.add(link)
    clearTimeout(this.#resting)
    const left = (): void => {
      this.#links.delete(link)
      if (this.#links.size === 0) this.#rest()
    }
    serveFrames<Caller>({
      link: { ...linkOf(link), open: (sink) => link.open({ ...sink, ended: (reason) => (left(), sink.ended(reason)) }) },
      service,
      caller: { key: 'gateway' },
      callerIn: (meta) => callerOf(meta[CALLER_META]),
      limits: { inFlightRequests: TUNNEL_REQUESTS, callsPerCaller: TUNNEL_REQUESTS },
    })
  }

  /** Ends all that belongs to it. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#agentGate.letGo()
    clearTimeout(this.#resting)
    this.#mounts.close()
    for (const link of this.#links) link.close(LET_GO)
    await this.#turns?.close()
    await this.#compositor?.close()
    // Where no gateway is there, nobody will write them down: they must not keep us.
    await within(this.#calls.idle(), LAST_LINES_MS)
    this.#ended.abort()
  }

  /** While it takes a turn, and while somebody has to watch what may wake it. */
  get #isNeeded(): boolean {
    if (this.#turns === undefined) return false
    const mayWake = this.#loop.rest?.wake_on?.includes('resources') ?? true
    return this.#turns.isBusy || this.#background.running > 0 || (this.#spec.wake.resources && mayWake && !this.#watch.isEmpty)
  }

  #rest(): void {
    clearTimeout(this.#resting)
    // The last link goes also because we close: nobody is to be told that it is quiet then, and a timer would hold the process.
    if (this.#isClosing || this.#links.size > 0 || this.#isNeeded) return
    this.#resting = setTimeout(() => {
      // Its turns may have begun since.
      if (!this.#isNeeded) this.#options.quiet()
    }, AGENT_LIMITS.quietMs)
  }
}
