import { type Connect, logLine, PATIENCE, SteadyClient, SYSTEM_CLOCK } from '@parley/client'
import {
  type JsonObject,
  messageOf,
  NOTIFICATIONS,
  type ToolInput,
  type ToolOutput,
  TUNNEL_TICKET_HEADER,
} from '@parley/protocol'
import { dialTunnel } from '../client/dial-tunnel.ts'
import type { ExecServer } from '../server/exec-server.ts'

/** How soon a heartbeat that failed is tried again. */
const RETRY_MS = 5_000
/** Later than the word of a gateway that lost us. */
const HURRY_MS = 1_000

export type Heartbeat = ToolInput<'worker.heartbeat'>
export type HeartbeatAnswer = ToolOutput<'worker.heartbeat'>

export interface ControlLinkOptions {
  /** The gateway: `http://host:port` or `https://…`. */
  readonly url: string
  readonly token: string
  readonly connect: Connect
  readonly server: ExecServer
  readonly heartbeat: () => Heartbeat
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
  #timer: NodeJS.Timeout | undefined
  #hasBegun = false
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
      lost: () => options.lost(),
      notified: (method, params) => this.#notified(method, params),
    })
  }

  /** The first heartbeat. Throws what the gateway has against it. */
  async begin(): Promise<HeartbeatAnswer> {
    const told = await this.#client.call('worker.heartbeat', this.#options.heartbeat(), { signal: this.#ended.signal })
    this.#hasBegun = true
    this.#next(told.heartbeat_ms)
    return told
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
      const told = await this.#client.call('worker.heartbeat', this.#options.heartbeat(), { signal })
      if (signal.aborted) return
      this.#complaint = ''
      this.#options.told(told)
      this.#next(told.heartbeat_ms)
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
    if (method === NOTIFICATIONS.worker_control.method) {
      const { data } = NOTIFICATIONS.worker_control.params.safeParse(params)
      if (data !== undefined) this.#options.server.drain(data.drain)
    } else if (method === NOTIFICATIONS.open.method) {
      const { data } = NOTIFICATIONS.open.params.safeParse(params)
      if (data !== undefined) void this.#open(data.ticket)
    }
  }

  /** Dials back with the ticket, and serves whoever is at the other end. */
  async #open(ticket: string): Promise<void> {
    const { url, token, server, log } = this.#options
    try {
      const link = await dialTunnel(url, { token, headers: { [TUNNEL_TICKET_HEADER]: ticket } })
      if (this.#ended.signal.aborted) link.close()
      else server.serve(link)
    } catch (error) {
      log(`a tunnel could not be opened: ${messageOf(error)}`)
    }
  }
}
