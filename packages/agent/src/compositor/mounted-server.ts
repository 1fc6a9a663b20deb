import { type ByteShare, type JsonObject, keptText, messageOf, Place, RpcError, unlessAborted, within } from '@parley/protocol'
import {
  type Call,
  type Caller,
  type Client,
  type ClientTransport,
  DEFAULT_RELAY_LIMITS,
  type ForwardParts,
  type Implementation,
  type ListKind,
  type LogLevel,
  MAY_ASK,
  OutputWrapping,
  Upstream,
  WireError,
} from '@parley/rpc'
import { budgetedLog } from '../log-budget.ts'
import { AskingTurns } from './asking-turns.ts'
import type { CompositorLimits } from './compositor-limits.ts'
import { MountLists } from './list/mount-lists.ts'
import { declaredFor, declaredTo, type MountOptions } from './mount-options.ts'
import { MOUNT_MOVES, type MountState, type MountStatus } from './mount-state.ts'
import { statusOf } from './mount-status.ts'
import type { CompositorOptions } from './ports.ts'
import { isOwnAnswer, type Questions } from './questions.ts'
import { resultOver } from './shown/result-size.ts'
import { MountView, type TakenNames } from './shown/shown-lists.ts'
import { shownResult } from './shown/shown-result.ts'

/** One connection carries the calls of every client, the requests of the compositor itself, and all listening. */
const OWN_REQUESTS = 64

export interface MountedServerParts<C extends Caller> {
  readonly options: MountOptions
  /** Another one for each time that something is attached: what was said to one mount is not said to its successor. */
  readonly generation: number
  readonly limits: CompositorLimits
  readonly ports: Pick<CompositorOptions<C>, 'info' | 'connect' | 'log' | 'masked' | 'now'>
  readonly taken: TakenNames
  /** Shares of the rooms in which a list of it is kept. */
  readonly listShares: () => readonly ByteShare[]
  /** Answers what its server asks. */
  readonly questions: Questions<C>
  readonly levelOf: (linkId: string) => LogLevel | undefined
  /** Its state, or something that its state tells, is another one. */
  readonly changed: () => void
  readonly listChanged: (kind: ListKind) => void
  readonly connected: (client: Client) => void
  readonly lost: () => void
  /** What it says outside any call. */
  readonly notified: (method: string, params: JsonObject) => void
}

/**
 * One mount: a connection that is kept up by itself once somebody needed it, what the server lists, and how all that is shown.
 * It is tried again without end; calls under way when it dies fail, and none is sent twice.
 */
export class MountedServer<C extends Caller> {
  readonly options: MountOptions
  readonly generation: number
  readonly upstream: Upstream<C>
  readonly lists: MountLists
  readonly view: MountView
  readonly forwarding: ForwardParts
  readonly #parts: MountedServerParts<C>
  readonly #turns: AskingTurns
  readonly #place = new Place<MountState>(MOUNT_MOVES, 'pending')
  readonly #life = new AbortController()
  #since: number
  #lastError: string | undefined
  /** Of the last try. */
  #transport: ClientTransport | undefined
  #restarts = 0
  /** Tries in a row that failed. */
  #failures = 0
  #isSupervised = false
  #calls = 0
  #instructions: string | undefined

  constructor(parts: MountedServerParts<C>) {
    const { options, limits, ports } = parts
    // What a server does wrong is told in warnings, and it may do so without end.
    const log = budgetedLog(ports.log)
    this.#parts = parts
    this.options = options
    this.generation = parts.generation
    this.#since = ports.now()
    this.view = new MountView(options, parts.taken)
    this.#turns = new AskingTurns({ aloneMs: limits.aloneMs, quietSubjects: limits.toolsPerMount })
    this.upstream = new Upstream<C>(
      {
        connect: ({ capabilities }) => this.#connect(capabilities),
        clientInfo: ports.info,
        limits: { ...DEFAULT_RELAY_LIMITS, reconnectMs: limits.restartMs, reconnectMaxMs: limits.restartMaxMs },
        clientLimits: {
          pendingRequests: limits.callsPerMount + OWN_REQUESTS,
          // Each call may have a question under way.
          pendingAsks: limits.callsPerMount,
          requestTimeoutMs: limits.startMs,
          subscriptions: limits.subscriptions,
        },
        log: (level, message) => log(level, `mount ${options.name}: ${message}`),
        isChosen: options.era !== undefined,
        spoken: { era: options.era ?? 'auto' },
      },
      declaredTo(options),
      {
        ask: (request, flight) => {
          if (!isOwnAnswer(options, request.method)) this.#turns.asked()
          return parts.questions.ask(options, request, flight)
        },
        notified: parts.notified,
        connected: (client) => this.#connected(client),
        ended: (reason) => this.#ended(reason),
      },
    )
    this.lists = new MountLists({
      limits,
      now: ports.now,
      shares: parts.listShares,
      ready: () => this.ready(),
      masked: this.#masked,
      changed: parts.listChanged,
      noted: parts.changed,
    })
    this.upstream.watches.addLists((kind) => this.lists.invalidate(kind))
    this.forwarding = {
      callMs: Math.min(options.callTimeoutMs ?? limits.callMs, limits.callMs),
      wrapping: new OutputWrapping(),
      log: (message) => log('warn', `mount ${options.name}: ${message}`),
      levelOf: parts.levelOf,
      onBehalfOf: ({ client }) => ({ capabilities: declaredFor(options, client.capabilities), info: client.info }),
      shown: (method, reply) =>
        resultOver(method, reply, limits.resultBytes) ?? shownResult(method, reply.result, (uri) => this.view.uri(uri) ?? uri),
    }
  }

  get name(): string {
    return this.options.name
  }
  get isPlain(): boolean {
    return this.options.plain === true
  }
  get state(): MountState {
    return this.#place.at
  }
  get instructions(): string | undefined {
    return this.#instructions
  }

  /** Connects, and goes on trying until it is closed. */
  start(): void {
    if (this.#isSupervised || this.#place.at === 'active' || this.#place.at === 'closed') return
    this.#isSupervised = true
    void this.#supervise().finally(() => {
      this.#isSupervised = false
    })
  }

  /** The connection as soon as there is one. One that fails again and again is not waited for. */
  async ready(): Promise<Client> {
    const { client } = this.upstream
    if (client !== undefined) return client
    if (this.#place.at === 'closed' || (this.#place.at === 'failed' && this.#failures > 1)) throw this.#unavailable()
    this.start()
    const opened = await within(
      this.upstream.open().catch(() => undefined),
      this.#parts.limits.startMs,
    )
    if (opened === undefined) throw this.#unavailable()
    return opened
  }

  /** Counts a call until it is over. */
  began(): () => void {
    const { callsPerMount } = this.#parts.limits
    if (this.#calls >= callsPerMount)
      throw new RpcError(
        'overloaded',
        `mount ${this.name} has ${callsPerMount} calls under way, the most that callsPerMount allows`,
      )
    this.#calls++
    return () => {
      this.#calls--
    }
  }

  /** Waits until a call may be sent, where its server does not say what it asks about; `undefined`: at once. */
  turn(
    { method, name, call }: { readonly method: string; readonly name: string; readonly call: Call<C> },
    cancellation: Call['cancellation'],
  ): Promise<() => void> | undefined {
    const upstream = this.upstream.client
    if (upstream === undefined || upstream.era === 'modern' || upstream.kind === 'http') return undefined
    const { elicitation, sampling } = declaredFor(this.options, call.client.capabilities)
    const canBeAsked = MAY_ASK.has(method) && (elicitation !== undefined || sampling !== undefined)
    return this.#turns.enter(method === 'tools/call' ? `${method} ${name}` : method, canBeAsked, cancellation)
  }

  status(): MountStatus {
    const { client } = this.upstream
    return statusOf(this, {
      state: this.#place.at,
      since: this.#since,
      // It may say anything, what it was started with too.
      server: client === undefined ? null : this.#told(client.server.info),
      era: client?.era ?? null,
      restarts: this.#restarts,
      lastError: this.#lastError,
      leftOutShown: this.#parts.limits.leftOutShown,
    })
  }

  #told({ name, version }: Implementation): { readonly name: string; readonly version: string } {
    return { name: this.#masked(name), version: this.#masked(version) }
  }
  readonly #masked = (words: string): string => this.#parts.ports.masked?.(words) ?? words

  async close(): Promise<void> {
    if (this.#place.at !== 'closed') this.#move('closed')
    this.#life.abort(new Error(`mount ${this.name} was detached`))
    this.lists.close()
    await this.upstream.close()
  }

  async #supervise(): Promise<void> {
    while (!this.#life.signal.aborted) {
      try {
        await this.upstream.open()
        return
      } catch (error) {
        // Of a server that ended its transport has said the same already.
        const isSilent = error instanceof WireError && error.code === 'timeout'
        this.#failed(`${messageOf(error)}${isSilent ? (this.#transport?.said?.() ?? '') : ''}`)
      }
    }
  }

  async #connect(capabilities: JsonObject): Promise<ClientTransport> {
    if (this.#place.at === 'pending') this.#move('starting')
    if (this.#place.at === 'failed') this.#move('restarting')
    const { limits, ports } = this.#parts
    // Not a signal that fires later: whoever connects may hold on to it, and would end what it has made.
    const waiting = new AbortController()
    const stop = (): void => waiting.abort(new Error('the mount was detached'))
    const late = setTimeout(() => waiting.abort(new Error(`no connection within ${limits.startMs} ms`)), limits.startMs)
    this.#life.signal.addEventListener('abort', stop, { once: true })
    try {
      this.#transport = await unlessAborted(ports.connect(this.name, { capabilities, signal: waiting.signal }), waiting.signal)
      return this.#transport
    } finally {
      clearTimeout(late)
      this.#life.signal.removeEventListener('abort', stop)
    }
  }

  #connected(client: Client): void {
    if (this.#place.at === 'closed') return
    if (this.#place.at === 'restarting') this.#restarts++
    this.#failures = 0
    this.#transport = undefined
    this.#instructions = client.server.instructions
    this.#move('active')
    this.lists.connected(client)
    this.#parts.connected(client)
  }

  #ended(reason: string): void {
    if (this.#place.at !== 'active') return
    this.#failed(reason)
    this.#parts.lost()
    this.start()
  }

  #failed(words: string): void {
    if (this.#place.at === 'closed') return
    this.#failures++
    this.#lastError = keptText(this.#masked(words), this.#parts.limits.errorChars)
    if (this.#place.may('failed')) this.#move('failed')
  }

  #move(next: MountState): void {
    this.#place.to(next)
    this.#since = this.#parts.ports.now()
    this.#parts.changed()
  }

  #unavailable(): RpcError {
    const why = this.#lastError === undefined ? '' : `: ${this.#lastError}`
    return new RpcError('internal_error', `mount ${this.name} is not there (${this.#place.at})${why}`)
  }
}
