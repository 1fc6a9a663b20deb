import { asError, Place, type ToolInput, type ToolName, type ToolOutput, unlessAborted } from '@parley/protocol'
import { type Client, WireError } from '@parley/rpc/browser'
import { afterFailure } from './after-failure.ts'
import { backoffMs } from './backoff.ts'
import type { Clock } from './clock.ts'
import { EitherSignal } from './either-signal.ts'
import { LINK_MOVES, type LinkPlace, type LinkWord } from './link-word.ts'
import { STEADY_LIMITS, type SteadyLimits } from './steady-limits.ts'
import type { SteadyCallOptions, LinkListener, OnceOptions, SteadyOptions } from './steady-options.ts'

/** The way to a gateway: one connection at a time, made again whenever it breaks, for as long as its patience lasts. */
export class SteadyClient {
  /** Who is told; a view that draws puts itself in the place of what was told before. */
  tell: (word: LinkWord) => void
  readonly clock: Clock
  readonly limits: SteadyLimits
  readonly #options: SteadyOptions
  readonly #place = new Place<LinkPlace>(LINK_MOVES, 'idle')
  readonly #closing = new AbortController()
  readonly #unlessClosing = new EitherSignal(this.#closing.signal)
  readonly #listeners = new Set<LinkListener>()
  readonly #running: Promise<void>
  #connection: Client | undefined
  /** Settles with the next connection; fails when there will be none. */
  #next = heardOf(Promise.withResolvers<Client>())
  /** Settles when somebody needs a connection. */
  #asked = Promise.withResolvers<void>()
  #loss = Promise.withResolvers<Error>()
  #closed: Promise<void> | undefined
  #wasLive = false
  #liveSince = 0
  #awaySince: number | undefined
  /** Tries in a row that failed. */
  #failures = 0
  /** Refusals of the token in a row. */
  #refusals = 0
  /** How far the waits have grown. Only an answer, or a connection that held, takes it back: a gateway that falls at every call is spared. */
  #grown = 0
  #end: Error | undefined

  constructor(options: SteadyOptions) {
    this.#options = options
    this.tell = options.tell
    this.clock = options.clock
    this.limits = { ...STEADY_LIMITS, ...options.limits }
    this.#running = this.#run()
  }

  /** Whether the gateway can say something unasked on the connection there is. */
  get hasPush(): boolean {
    return this.#connection !== undefined && (this.#connection.kind !== 'http' || this.#connection.era === 'legacy')
  }

  /** Waits for a connection, and throws why there will be none. */
  async ready(signal?: AbortSignal): Promise<void> {
    await this.#connected(this.#until(signal))
  }

  /** Tells the listener of every connection and every loss from now on, also of what is so already. The answer ends it. */
  follow(listener: LinkListener): () => void {
    this.#listeners.add(listener)
    if (this.#connection !== undefined) listener.connected?.(this.#connection)
    else if (this.#place.at === 'waiting') listener.lost?.()
    else if (this.#end !== undefined) listener.ended?.(this.#end)
    return () => this.#listeners.delete(listener)
  }

  /** Calls a tool once, as soon as there is a connection. For what must not happen twice. */
  async once<Name extends ToolName>(name: Name, input: ToolInput<Name>, options: OnceOptions = {}): Promise<ToolOutput<Name>> {
    const signal = this.#until(options.signal)
    const connection = await this.#connected(signal)
    return connection.callTool(name, input, { signal, timeoutMs: options.timeoutMs ?? this.limits.callMs })
  }

  /** Calls a tool once, and only on a connection that is there: whoever clicks wants to hear now that it cannot be. */
  onceNow<Name extends ToolName>(name: Name, input: ToolInput<Name>): Promise<ToolOutput<Name>> {
    if (this.#connection !== undefined) return this.once(name, input)
    return Promise.reject(new WireError('closed', 'The gateway cannot be reached right now. Try again in a moment.'))
  }

  /**
   * Calls a tool, again after every failure that is worth it, until the gateway has answered. Throws what the tool itself says,
   * and `WireError` `aborted` when the signal came first. Only for calls that may be sent twice.
   */
  async call<Name extends ToolName>(
    name: Name,
    input: ToolInput<Name>,
    options: SteadyCallOptions = {},
  ): Promise<ToolOutput<Name>> {
    const { random, patience } = this.#options
    const signal = this.#until(options.signal)
    let failsSince: number | undefined
    for (let refusals = 0, faults = 0; ;) {
      const connection = await this.#connected(signal)
      try {
        const answer = await connection.callTool(name, input, { signal, timeoutMs: options.timeoutMs ?? this.limits.callMs })
        this.#grown = 0
        return answer
      } catch (error) {
        if (signal.aborted || !(error instanceof Error)) throw error
        const after = afterFailure(error)
        const isLost = after === 'reconnect' || (after === 'refused' && patience.refused === 'waits')
        if (after === 'few') faults += 1
        const mayWait = after === 'wait' || (after === 'few' && faults <= this.limits.internalFailures)
        failsSince ??= this.clock.now()
        if ((!isLost && !mayWait) || this.clock.now() - failsSince > patience.awayMs) throw error
        options.onRetry?.()
        if (isLost) this.#drop(connection, error)
        else {
          refusals += 1
          this.tell({ kind: 'asked-again', tool: name, why: error, times: refusals })
          await this.clock.sleep(backoffMs(refusals - 1, this.#waits, random), signal)
        }
      }
    }
  }

  /** Ends everything that waits, and lets go of the connection. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#asked.resolve()
    if (this.#connection !== undefined) this.#drop(this.#connection, closedByUs())
    await this.#running
    await this.#closed
  }

  get #waits(): { readonly minMs: number; readonly maxMs: number } {
    return { minMs: this.limits.reconnectMinMs, maxMs: this.limits.reconnectMaxMs }
  }

  #until(signal: AbortSignal | undefined): AbortSignal {
    return this.#unlessClosing.with(signal)
  }

  #connected(signal: AbortSignal): Promise<Client> {
    // It may have ended in this very turn, before anybody could tell us.
    if (this.#connection?.isClosed === true) this.#drop(this.#connection, new WireError('closed', 'the connection was closed'))
    if (this.#connection !== undefined) return Promise.resolve(this.#connection)
    this.#asked.resolve()
    return unlessAborted(this.#next.promise, signal, givenUp)
  }

  /** The only place that moves from one state to the next, apart from a loss, which counts from the moment it is known. */
  async #run(): Promise<void> {
    const { patience, explain, random } = this.#options
    const { signal } = this.#closing
    await this.#asked.promise
    while (!signal.aborted) {
      const { why: failure, wasLive } = await this.#live()
      if (wasLive && patience.reopens === 'when-asked') await this.#asked.promise
      if (signal.aborted) break
      this.tell({ kind: 'lost', why: failure, wasLive })
      const why = (await explain?.(failure, signal)) ?? failure
      if (signal.aborted) break
      if (!this.#isWorthATry(why)) return this.#over(why)
      const isRefused = afterFailure(why) === 'refused'
      this.#refusals = isRefused ? this.#refusals + 1 : 0
      const { minMs, maxMs } = this.#waits
      const againMs = backoffMs(this.#grown, { minMs, maxMs: isRefused ? maxMs * this.limits.refusedTimes : maxMs }, random)
      this.#grown += 1
      this.#place.to('waiting')
      this.tell({ kind: 'waiting', why, isRefused, refusals: this.#refusals, failures: this.#failures, againMs })
      for (const listener of [...this.#listeners]) listener.lost?.()
      await this.clock.sleep(againMs, signal).catch(() => {})
    }
    this.#over(undefined)
  }

  /** One connection from the try to its loss. */
  async #live(): Promise<{ readonly why: Error; readonly wasLive: boolean }> {
    this.#place.to('connecting')
    this.tell({ kind: 'connecting', failures: this.#failures })
    const hears = { isOpen: true }
    let connection: Client
    try {
      connection = await this.#connect(hears)
    } catch (error) {
      hears.isOpen = false
      this.#place.to('lost')
      this.#failures += 1
      this.#awaySince ??= this.clock.now()
      return { why: asError(error), wasLive: false }
    }
    this.#place.to('live')
    this.#connection = connection
    this.#asked = Promise.withResolvers()
    this.#loss = Promise.withResolvers()
    this.#failures = 0
    this.#refusals = 0
    this.#awaySince = undefined
    this.#liveSince = this.clock.now()
    const isFirst = !this.#wasLive
    this.#wasLive = true
    void connection.closed.then(({ reason }) => this.#drop(connection, new WireError('closed', reason)))
    const pings = new AbortController()
    void this.#ping(connection, pings.signal)
    this.tell({ kind: 'live', isFirst })
    // Listeners before those who wait: what they asked of the connection before is over by the time that a call goes on.
    for (const listener of [...this.#listeners]) listener.connected?.(connection)
    this.#next.resolve(connection)
    const why = await this.#loss.promise
    hears.isOpen = false
    pings.abort()
    return { why, wasLive: true }
  }

  async #connect(hears: { readonly isOpen: boolean }): Promise<Client> {
    const { connectMs } = this.limits
    const late = new AbortController()
    const signal = AbortSignal.any([late.signal, this.#closing.signal])
    const done = new AbortController()
    void this.clock.sleep(connectMs, done.signal).then(
      () => late.abort(),
      () => {},
    )
    const opening = this.#options.connect((method, params) => {
      if (!hears.isOpen) return
      for (const listener of [...this.#listeners]) listener.notified?.(method, params)
    }, signal)
    try {
      return await unlessAborted(opening, signal, givenUp)
    } catch (error) {
      // One that comes after all is wanted by nobody.
      opening.then((connection) => connection.close()).catch(() => {})
      if (late.signal.aborted) throw new WireError('timeout', `there was no connection within ${connectMs} ms`)
      throw error
    } finally {
      done.abort()
    }
  }

  async #ping(connection: Client, signal: AbortSignal): Promise<void> {
    const { ping } = this.#options
    if (ping === undefined) return
    try {
      for (;;) {
        await this.clock.sleep(ping.everyMs, signal)
        await connection.request('ping', {}, { timeoutMs: ping.limitMs, signal })
      }
    } catch (error) {
      if (!signal.aborted) this.#drop(connection, asError(error))
    }
  }

  #drop(connection: Client, why: Error): void {
    if (this.#connection !== connection) return
    this.#place.to('lost')
    this.#connection = undefined
    this.#next = heardOf(Promise.withResolvers())
    this.#awaySince = this.clock.now()
    if (this.#awaySince - this.#liveSince >= this.limits.reconnectMaxMs) this.#grown = 0
    this.#closed = connection.close().catch(() => {})
    this.#loss.resolve(why)
  }

  #isWorthATry(why: Error): boolean {
    const { patience } = this.#options
    const after = afterFailure(why)
    const passes = after !== 'refused' && after !== 'final'
    if (!this.#wasLive) return passes && patience.first === 'in-time'
    if (!passes) return patience.refused === 'waits'
    return this.#awaySince === undefined || this.clock.now() - this.#awaySince <= patience.awayMs
  }

  #over(why: Error | undefined): void {
    this.#place.to('ended')
    const end = why ?? closedByUs()
    this.#end = end
    this.tell({ kind: 'ended', wasLive: this.#wasLive, ...(why === undefined ? {} : { why }) })
    for (const listener of [...this.#listeners]) listener.ended?.(end)
    this.#next.reject(end)
  }
}

const closedByUs = (): WireError => new WireError('aborted', 'the way to the gateway was closed')
const givenUp = (): WireError => new WireError('aborted', 'aborted while there was no connection')

/** A rejection that nobody waits for must not end the process. */
function heardOf<Value>(promise: PromiseWithResolvers<Value>): PromiseWithResolvers<Value> {
  promise.promise.catch(() => {})
  return promise
}

/** Opens the first connection too, and leaves nothing behind when there is none. */
export async function openSteadyClient(options: SteadyOptions, signal?: AbortSignal): Promise<SteadyClient> {
  const client = new SteadyClient(options)
  try {
    await client.ready(signal)
    return client
  } catch (error) {
    await client.close()
    throw error
  }
}
