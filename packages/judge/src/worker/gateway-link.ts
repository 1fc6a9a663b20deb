import {
  JobId,
  JudgeAction,
  RPC_CODES,
  RpcError,
  ToolError,
  type JsonObject,
  type ToolInput,
  type ToolName,
  type ToolOutput,
} from '@parley/protocol'
import { type Client, WireError } from '@parley/rpc'
import type { Log } from './log.ts'
import { backoffMs, sleep } from './wait.ts'
import type { WorkerLimits } from './worker-limits.ts'

/** What the worker needs of a connection to the gateway. */
export type JudgeClient = Pick<Client, 'callTool' | 'close' | 'closed' | 'isClosed' | 'kind' | 'era'>
/** Opens a connection. What the gateway says unasked goes to `heard`. */
export type Connect = (heard: (method: string, params: JsonObject) => void) => Promise<JudgeClient>

export interface CallOptions {
  readonly signal: AbortSignal
  /** Called before the call is sent again, when nobody can know whether the first one arrived. */
  readonly onRetry?: () => void
  readonly timeoutMs?: number
}

export interface LinkParts {
  readonly connect: Connect
  readonly limits: WorkerLimits
  readonly random: () => number
  readonly log: Log
  /** The gateway says what to do with a job. */
  readonly control: (jobId: JobId, claimId: string, action: JudgeAction) => void
  /** A connection is there, the first or another. */
  readonly connected: () => void
}

/** The way to the gateway: one connection at a time, made again whenever it breaks, for as long as the worker lives. */
export class GatewayLink {
  readonly #parts: LinkParts
  readonly #closing = new AbortController()
  #client: JudgeClient | undefined
  #opening: Promise<JudgeClient> | undefined
  #failures = 0
  #wasConnected = false

  constructor(parts: LinkParts) {
    this.#parts = parts
  }

  /** Whether the gateway can say something unasked on the connection there is. */
  get hasPush(): boolean {
    return this.#client !== undefined && (this.#client.kind !== 'http' || this.#client.era === 'legacy')
  }

  /** Waits for a connection. Before there ever was one, being refused by the gateway is final. */
  async ready(signal: AbortSignal): Promise<void> {
    await this.#open(signal)
  }

  /**
   * Calls a tool, again after every failure of the wire, until the gateway has answered. Throws what the tool itself
   * says, and `WireError` `aborted` when the signal came first. Only for calls that may be sent twice.
   */
  async call<Name extends ToolName>(name: Name, input: ToolInput<Name>, options: CallOptions): Promise<ToolOutput<Name>> {
    const { limits, random } = this.#parts
    const signal = AbortSignal.any([options.signal, this.#closing.signal])
    for (let refusals = 0; ;) {
      const client = await this.#open(signal)
      try {
        const answer = await client.callTool(name, input, { signal, timeoutMs: options.timeoutMs ?? limits.callMs })
        this.#failures = 0
        return answer
      } catch (error) {
        if (signal.aborted || !this.#isPassing(error, refusals)) throw error
        options.onRetry?.()
        if (error instanceof WireError) this.#drop(client, error)
        else {
          this.#parts.log('warn', `${name} has to be asked again: ${error instanceof Error ? error.message : String(error)}`)
          await sleep(backoffMs(refusals, limits.reconnectMinMs, limits.reconnectMaxMs, random), signal)
          refusals += 1
        }
      }
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#opening?.catch(() => {})
    await this.#client?.close()
  }

  #isPassing(error: unknown, refusals: number): boolean {
    if (error instanceof WireError) return PASSING_WIRE.has(error.code)
    if (error instanceof RpcError) return error.code === RPC_CODES.overloaded
    if (!(error instanceof ToolError)) return false
    if (error.code === 'unavailable' || error.code === 'rate_limited') return true
    return error.code === 'internal' && refusals < this.#parts.limits.internalFailures
  }

  async #open(signal: AbortSignal): Promise<JudgeClient> {
    if (this.#client !== undefined && !this.#client.isClosed) return this.#client
    this.#opening ??= this.#reconnect().finally(() => {
      this.#opening = undefined
    })
    return orAborted(this.#opening, signal)
  }

  async #reconnect(): Promise<JudgeClient> {
    const { connect, limits, random, log, connected } = this.#parts
    for (;;) {
      // Also before the first try after a loss: a gateway that falls over at every call must not be hammered.
      if (this.#failures > 0)
        await sleep(backoffMs(this.#failures - 1, limits.reconnectMinMs, limits.reconnectMaxMs, random), this.#closing.signal)
      try {
        const client = await connect((method, params) => this.#heard(method, params))
        if (this.#closing.signal.aborted) {
          await client.close()
          throw new WireError('aborted', 'the worker ends')
        }
        void client.closed.then(({ reason }) => this.#drop(client, new WireError('closed', reason)))
        this.#client = client
        log(
          this.#wasConnected ? 'info' : 'debug',
          this.#wasConnected ? 'connected to the gateway again' : 'connected to the gateway',
        )
        this.#wasConnected = true
        connected()
        return client
      } catch (error) {
        if (this.#closing.signal.aborted) throw error
        const isRefusal = error instanceof WireError && error.code === 'unauthorized'
        // What waiting cannot mend must not be waited for by somebody who has just begun.
        if (!this.#wasConnected && (isRefusal || !(error instanceof WireError))) throw error
        if (this.#failures === 0 || isRefusal)
          log('warn', `the gateway is not there: ${error instanceof Error ? error.message : String(error)}; trying on`)
        this.#failures += 1
      }
    }
  }

  #drop(client: JudgeClient, why: Error): void {
    if (this.#client !== client) return
    this.#client = undefined
    this.#failures += 1
    if (!this.#closing.signal.aborted) this.#parts.log('info', `lost the gateway: ${why.message}`)
    client.close().catch(() => {})
    // Held jobs want to hear of a cancellation also while they have nothing to send.
    if (!this.#closing.signal.aborted) this.#open(this.#closing.signal).catch(() => {})
  }

  #heard(method: string, params: JsonObject): void {
    if (method !== 'judge_control') return
    const jobId = JobId.safeParse(params['job_id'])
    const action = JudgeAction.safeParse(params['action'])
    const claimId = params['claim_id']
    if (jobId.success && action.success && typeof claimId === 'string') this.#parts.control(jobId.data, claimId, action.data)
  }
}

/** What a restart of the gateway, a cut cable or a crowd can cause; the next try may go through. */
const PASSING_WIRE: ReadonlySet<string> = new Set([
  'closed',
  'timeout',
  'overloaded',
  'stream_lost',
  'session_lost',
  'http_status',
  'unauthorized',
  'unreachable',
])

function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new WireError('aborted', 'aborted while there was no connection'))
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    // Also after the abort somebody has to hear of its failure: a rejection that nobody hears ends the process.
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
