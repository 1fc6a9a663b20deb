import { type GatewayCaller, lineOf } from '@parley/access'
import { type AgentId, type JsonObject, messageOf, RpcError } from '@parley/protocol'
import type { Call, HeaderParam, Implementation, Link, ListKind, LogLevel, Relay, Service, ServiceResult } from '@parley/rpc'
import { TASKS_CAPABILITY } from '@parley/task'
import type { AgentWorld } from './agent-world.ts'

/** What a person pays for by the call, and what is written down. */
const NOTED: ReadonlySet<string> = new Set(['tools/call', 'resources/read', 'prompts/get'])
const NAME_SHOWN_CHARS = 128

export interface AgentServiceOptions {
  readonly agentId: AgentId
  readonly relay: Relay<GatewayCaller>
  readonly world: Pick<AgentWorld, 'audit' | 'now'>
  /** Who we are to clients. */
  readonly version: string
}

/** One agent's compositor, which is in a host: every request goes there, and who made it is written down here. */
export class AgentService implements Service<GatewayCaller> {
  readonly #options: AgentServiceOptions
  readonly #relay: Relay<GatewayCaller>
  readonly info: Implementation
  #uses = 0
  #usedAt: number

  constructor(options: AgentServiceOptions) {
    this.#options = options
    this.#relay = options.relay
    this.#usedAt = options.world.now()
    this.info = { name: 'parley', version: options.version, role: 'agent' }
  }

  /** A call about which a person is asked is a task for who declares them. */
  get capabilities(): JsonObject {
    return { ...this.#relay.capabilities, ...TASKS_CAPABILITY }
  }
  get instructions(): string | undefined {
    return this.#relay.instructions
  }

  /** Whether the way to its host is open now. */
  get isReached(): boolean {
    return this.#relay.isConnected()
  }
  /** Finds the host that holds it by now, as a call would. */
  reach(): Promise<void> {
    return this.#relay.connect()
  }

  /** For how long nobody has used it: no request, no session, no watch. */
  quietMs(now: number): number {
    return this.#uses > 0 ? 0 : now - this.#usedAt
  }

  async call(method: string, params: JsonObject, call: Call<GatewayCaller>): Promise<ServiceResult> {
    const { caller } = call
    if (!caller.meter.take()) throw new RpcError('overloaded', 'you make too many calls; slow down')
    const leave = this.#enter()
    try {
      const result = await this.#relay.call(method, params, call)
      if (NOTED.has(method)) this.#note(caller, method, params, 'ok')
      return result
    } catch (error) {
      this.#note(caller, method, params, 'failed')
      throw error
    } finally {
      leave()
    }
  }

  async watch(uri: string, changed: () => void, caller: GatewayCaller, link?: Link<GatewayCaller>): Promise<() => void> {
    const leave = this.#enter()
    try {
      const end = await this.#relay.watch?.(uri, changed, caller, link)
      if (end === undefined) throw new RpcError('subscribe_unsupported', 'nothing can be watched here')
      return () => {
        end()
        leave()
      }
    } catch (error) {
      leave()
      throw error
    }
  }

  watchLists(changed: (kind: ListKind) => void, caller: GatewayCaller): () => void {
    const leave = this.#enter()
    const end = this.#relay.watchLists?.(changed, caller)
    return () => {
      end?.()
      leave()
    }
  }

  setLevel(level: LogLevel, link: Link<GatewayCaller>): void | Promise<void> {
    return this.#relay.setLevel?.(level, link)
  }

  async headerParams(tool: string, caller: GatewayCaller): Promise<readonly HeaderParam[]> {
    try {
      return (await this.#relay.headerParams?.(tool, caller)) ?? []
    } catch (error) {
      if (error instanceof RpcError) throw error
      // Nothing was called yet: it may be tried again.
      throw new RpcError('internal_error', `the agent cannot be reached now: ${messageOf(error)}`, undefined, { cause: error })
    }
  }

  opened(link: Link<GatewayCaller>): void {
    link.signal.addEventListener('abort', this.#enter(), { once: true })
    this.#relay.opened?.(link)
  }
  closed(link: Link<GatewayCaller>): void {
    this.#relay.closed?.(link)
  }
  notified(method: string, params: JsonObject, link: Link<GatewayCaller> | undefined): void {
    this.#relay.notified?.(method, params, link)
  }

  close(): Promise<void> {
    return this.#relay.close()
  }

  #enter(): () => void {
    const { now } = this.#options.world
    let isIn = true
    this.#uses += 1
    return () => {
      if (!isIn) return
      isIn = false
      this.#uses -= 1
      this.#usedAt = now()
    }
  }

  #note(caller: GatewayCaller, method: string, { name, uri }: JsonObject, outcome: 'ok' | 'failed'): void {
    const { audit, now } = this.#options.world
    const what = typeof name === 'string' ? name : typeof uri === 'string' ? uri : ''
    audit.note(lineOf(caller, method, { at: now(), outcome, target: what.slice(0, NAME_SHOWN_CHARS) }))
  }
}
