import {
  type JsonObject,
  messageOf,
  NOTIFICATIONS,
  type ToolInput,
  type ToolName,
  type ToolOutput,
  type TunnelKind,
} from '@parley/protocol'
import { SYSTEM_CLOCK } from '../clock.ts'
import { EitherSignal } from '../either-signal.ts'
import { logLine } from '../link-word.ts'
import { PATIENCE } from '../patience.ts'
import { SteadyClient } from '../steady-client.ts'
import type { Connect } from '../steady-options.ts'

/** How soon a heartbeat that failed is tried again. */
const RETRY_MS = 5_000
/** Later than the word of a gateway that lost us. */
const HURRY_MS = 1_000

export type Heartbeat = ToolInput<'worker.heartbeat'>
export type HeartbeatAnswer = ToolOutput<'worker.heartbeat'>

/** Somebody wants to reach something in this worker: it dials this gateway with the ticket. */
export interface AskedTunnel {
  readonly gateway: string
  readonly kind: TunnelKind
  readonly subject: string
  readonly ticket: string
}

/** What a gateway tells a worker unasked. */
export interface WorkerPort {
  /** Whether it takes anything new. Told again and again. */
  drain(isDraining: boolean): void
  open(asked: AskedTunnel): void
  /** Anything else that is told. */
  notified?(method: string, params: JsonObject): void
}

export interface ControlLinkOptions {
  /** The gateway: `http://host:port` or `https://…`. */
  readonly url: string
  readonly connect: Connect
  readonly worker: WorkerPort
  readonly heartbeat: () => Heartbeat
  /** How often any gateway has said whether we drain, beside its answers. */
  readonly drainWords: { count: number }
  /** What a gateway answered. */
  readonly told: (told: HeartbeatAnswer) => void
  /** The connection was lost. The gateway behind it says that we left, until another one hears of us. */
  readonly lost: () => void
  readonly log: (message: string) => void
}

/**
 * The connection to one gateway: says from time to time that we are here, and hears when somebody wants to reach us. It comes back by itself for
 * as long as it is wanted.
 */
export class ControlLink {
  readonly #options: ControlLinkOptions
  readonly #client: SteadyClient
  readonly #ended = new AbortController()
  readonly #unlessEnded = new EitherSignal(this.#ended.signal)
  #timer: NodeJS.Timeout | undefined
  #hasBegun = false
  /** Whether the gateway knows on this connection who we are. */
  #isGreeted = false
  /** What the gateway had against the last heartbeat. */
  #complaint = ''

  constructor(options: ControlLinkOptions) {
    this.#options = options
    this.#client = new SteadyClient({
      connect: options.connect,
      patience: PATIENCE.worker,
      random: Math.random,
      clock: SYSTEM_CLOCK,
      tell: (word) => {
        const line = logLine(`the connection to ${options.url}`, word)
        if (line !== undefined && line.level !== 'debug') options.log(line.message)
      },
    })
    this.#client.follow({
      // A new connection is one on which no heartbeat has gone yet.
      connected: () => {
        if (this.#hasBegun) void this.#again()
      },
      lost: () => {
        this.#isGreeted = false
        options.lost()
      },
      notified: (method, params) => this.#notified(method, params),
    })
  }

  /** The first heartbeat. Throws what the gateway has against it. */
  async begin(): Promise<HeartbeatAnswer> {
    const told = await this.#beat()
    this.#hasBegun = true
    this.#isGreeted = true
    this.#next(told.isLate ? HURRY_MS : told.heartbeat_ms)
    return told
  }

  /** Whether something can be asked here now. */
  get isGreeted(): boolean {
    return this.#isGreeted
  }

  /** Calls a tool once, on the connection that is there. */
  once<Name extends ToolName>(name: Name, input: ToolInput<Name>, signal: AbortSignal): Promise<ToolOutput<Name>> {
    return this.#client.once(name, input, { signal: this.#unlessEnded.with(signal) })
  }

  /**
   * An answer may be older than a word that overtook it, on this connection or on that to another gateway: it then says nothing of
   * draining, and the next one comes soon.
   */
  async #beat(): Promise<HeartbeatAnswer & { readonly isLate: boolean }> {
    const { drainWords, heartbeat, worker } = this.#options
    const { count } = drainWords
    const told = await this.#client.call('worker.heartbeat', heartbeat(), { signal: this.#ended.signal })
    const isLate = drainWords.count !== count
    if (!isLate && !this.#ended.signal.aborted) worker.drain(told.drain)
    return { ...told, isLate }
  }

  /** Says soon that we are here. */
  hurry(): void {
    if (this.#hasBegun) this.#next(HURRY_MS)
  }

  async close(): Promise<void> {
    this.#ended.abort()
    clearTimeout(this.#timer)
    await this.#client.close()
  }

  #next(afterMs: number): void {
    clearTimeout(this.#timer)
    if (this.#ended.signal.aborted) return
    this.#timer = setTimeout(() => void this.#again(), afterMs)
  }

  async #again(): Promise<void> {
    clearTimeout(this.#timer)
    const { signal } = this.#ended
    try {
      const told = await this.#beat()
      if (signal.aborted) return
      this.#isGreeted = true
      this.#complaint = ''
      this.#options.told(told)
      this.#next(told.isLate ? HURRY_MS : told.heartbeat_ms)
    } catch (error) {
      if (signal.aborted) return
      const complaint = messageOf(error)
      // Once, however often it is tried again.
      if (complaint !== this.#complaint) this.#options.log(`${this.#options.url}: ${complaint}`)
      this.#complaint = complaint
      this.#next(RETRY_MS)
    }
  }

  #notified(method: string, params: JsonObject): void {
    const { worker, url } = this.#options
    if (this.#ended.signal.aborted) return
    if (method === NOTIFICATIONS.worker_control.method) {
      const { data } = NOTIFICATIONS.worker_control.params.safeParse(params)
      if (data === undefined) return
      this.#options.drainWords.count += 1
      worker.drain(data.drain)
    } else if (method === NOTIFICATIONS.open.method) {
      const { data } = NOTIFICATIONS.open.params.safeParse(params)
      if (data !== undefined) worker.open({ gateway: url, kind: data.kind, subject: data.subject, ticket: data.ticket })
    } else worker.notified?.(method, params)
  }
}
