import {
  answeredId,
  asError,
  beyondBounds,
  isJsonObject,
  type ParseBounds,
  type JsonObject,
  type JsonValue,
  messageOf,
  parseJson,
  RPC_CODES,
} from '@parley/protocol/wire'
import type { FrameLink } from './frame-link.ts'
import { PeerGone, RemoteFailure } from './wire-failure.ts'

/** Requests of ours that may wait for an answer at once. */
const PENDING_MAX = 1_024
/** What one text may hold where nobody says otherwise: a result of a tool and what stands around it, a read of much output. */
const TEXT_BOUNDS: ParseBounds = { messageValues: 1_000_000, nestingDepth: 128 }

export type WireId = string | number

/** What a peer does with what comes in. */
export interface PeerHandlers {
  /** Sees each text before it is parsed; true says that it has been dealt with. For what comes so often that parsing it all costs. */
  seen?(text: string): boolean
  /** Takes bytes that are no message; without this they are garbage. */
  bytes?(parts: readonly Buffer[]): void
  /**
   * Answers a request. Throw `RemoteFailure` for an error with a code of its own; anything else is -32603. `given` is what
   * stood in `params`, for who tells nothing, null and a list apart from an empty object.
   */
  request(method: string, params: JsonObject, id: WireId, given: JsonValue | undefined): Promise<JsonValue> | JsonValue
  notified(method: string, params: JsonObject): void
  /** A text that is no message: what it was and why. Nothing is answered unless this says so. */
  garbage(reason: string, value: JsonValue | undefined): void
  /** No more messages will come. */
  ended(): void
}

export interface FramePeerOptions {
  readonly link: FrameLink
  /** Whether what we send carries `"jsonrpc": "2.0"`. Both are read. */
  readonly jsonrpc: boolean
  readonly handlers: PeerHandlers
  /** What a text may hold; one with more is garbage, and the request of ours that it answers fails. */
  readonly bounds?: ParseBounds
  /** How long an answer may take when the asker does not say. */
  readonly answerMs?: number
  /** Of the first request of ours; 1 when left out. */
  readonly firstId?: number
}

export interface AskOptions {
  readonly signal?: AbortSignal
  /** Null: as long as it takes. */
  readonly timeoutMs?: number | null
}

interface Pending {
  readonly settle: (answer: JsonObject) => void
  readonly fail: (error: Error) => void
}

/**
 * JSON-RPC, one message a text, as Codex speaks it: with or without `jsonrpc`, requests both ways, ids of either side
 * by themselves. Answers go out as their handlers finish.
 */
export class FramePeer {
  readonly #options: FramePeerOptions
  readonly #pending = new Map<WireId, Pending>()
  #lastId: number
  #gone: PeerGone | undefined

  constructor(options: FramePeerOptions) {
    this.#options = options
    this.#lastId = (options.firstId ?? 1) - 1
    options.link.open({
      text: (text) => this.#receive(text),
      bytes: (parts) => {
        const { handlers } = options
        if (this.#gone !== undefined) return
        if (handlers.bytes === undefined) handlers.garbage('a frame is not text', undefined)
        else handlers.bytes(parts)
      },
      fault: (fault) => {
        if (this.#gone === undefined) options.handlers.garbage(fault, undefined)
      },
      ended: (reason) => this.end(reason),
    })
  }

  /** Whether nothing more will come. */
  get isGone(): boolean {
    return this.#gone !== undefined
  }

  /** Throws `RemoteFailure`, `PeerGone`, or the reason of the signal. */
  ask(
    method: string,
    params?: JsonObject,
    { signal, timeoutMs = this.#options.answerMs ?? null }: AskOptions = {},
  ): Promise<JsonValue> {
    if (this.#gone !== undefined) return Promise.reject(this.#gone)
    if (signal?.aborted === true) return Promise.reject(asError(signal.reason))
    if (this.#pending.size >= PENDING_MAX) return Promise.reject(new PeerGone(`${PENDING_MAX} requests wait for an answer`))
    this.#lastId += 1
    const id = this.#lastId
    return new Promise((resolve, reject) => {
      const late =
        timeoutMs === null
          ? undefined
          : setTimeout(() => finish(() => reject(new PeerGone(`${method} was not answered`))), timeoutMs)
      const onAbort = (): void => finish(() => reject(asError(signal?.reason)))
      const finish = (settle: () => void): void => {
        clearTimeout(late)
        signal?.removeEventListener('abort', onAbort)
        this.#pending.delete(id)
        settle()
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#pending.set(id, {
        settle: (answer) => finish(() => settleWith(answer, resolve, reject)),
        fail: (error) => finish(() => reject(error)),
      })
      this.#send({ id, method, ...(params === undefined ? {} : { params }) })
    })
  }

  tell(method: string, params?: JsonObject): void {
    this.#send({ method, ...(params === undefined ? {} : { params }) })
  }

  /** A text as it is, for who writes messages by itself. */
  sendText(text: string): void {
    if (this.#gone === undefined) this.#options.link.send(text)
  }

  /** Whether bytes that are no message can be sent. */
  get hasBytes(): boolean {
    return this.#options.link.sendBytes !== undefined
  }

  sendBytes(parts: readonly Buffer[]): void {
    if (this.#gone === undefined) this.#options.link.sendBytes?.(parts)
  }

  /** What was sent and has not left this process yet. */
  bufferedBytes(): number {
    return this.#options.link.bufferedBytes()
  }

  /** Settles when what was sent has left this process, or the other side is gone. */
  drained(belowBytes?: number): Promise<void> {
    return this.#gone === undefined ? this.#options.link.drained(belowBytes) : Promise.resolve()
  }

  /** Every request under way fails; nothing is sent any more. */
  end(reason: string): void {
    if (this.#gone !== undefined) return
    this.#gone = new PeerGone(reason)
    for (const { fail } of [...this.#pending.values()]) fail(this.#gone)
    this.#options.handlers.ended()
  }

  #send(message: JsonObject): void {
    this.sendText(JSON.stringify(this.#options.jsonrpc ? { jsonrpc: '2.0', ...message } : message))
  }

  #receive(text: string): void {
    if (this.#gone !== undefined) return
    const { handlers } = this.#options
    if (handlers.seen?.(text) === true) return
    const excess = beyondBounds(text, this.#options.bounds ?? TEXT_BOUNDS)
    if (excess !== undefined) return this.#passOver(text, excess)
    const value = parseJson(text)
    if (!isJsonObject(value)) return handlers.garbage(value === undefined ? 'a line is not JSON' : 'a line is no message', value)
    const { id, method } = value
    if (typeof method === 'string') {
      const params = isJsonObject(value['params']) ? value['params'] : {}
      if (typeof id === 'string' || typeof id === 'number') return void this.#serve(id, method, params, value['params'])
      if (id === undefined) return handlers.notified(method, params)
      return handlers.garbage('an id is neither text nor a number', value)
    }
    const pending = typeof id === 'string' || typeof id === 'number' ? this.#pending.get(id) : undefined
    if (pending === undefined) return handlers.garbage('a message is neither a request nor an answer that is waited for', value)
    pending.settle(value)
  }

  #passOver(text: string, excess: string): void {
    this.#options.handlers.garbage(excess, undefined)
    this.#pending.get(answeredId(text) ?? -1)?.fail(new PeerGone(`the answer is not read: ${excess}`))
  }

  async #serve(id: WireId, method: string, params: JsonObject, given: JsonValue | undefined): Promise<void> {
    try {
      this.#send({ id, result: await this.#options.handlers.request(method, params, id, given) })
    } catch (error) {
      const { code, data } = error instanceof RemoteFailure ? error : { code: RPC_CODES.internal_error, data: undefined }
      const message = messageOf(error)
      this.#send({ id, error: { code, message, ...(data === undefined ? {} : { data }) } })
    }
  }
}

function settleWith(answer: JsonObject, resolve: (result: JsonValue) => void, reject: (error: Error) => void): void {
  const { error, result } = answer
  if (isJsonObject(error)) reject(RemoteFailure.of(error))
  else resolve(result ?? null)
}
