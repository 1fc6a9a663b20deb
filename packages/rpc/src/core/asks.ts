import { type JsonObject, RpcError } from '@parley/protocol/wire'
import type { ResponseMessage } from '../message/message.ts'
import { notificationText, requestText } from '../message/text.ts'
import type { AskOptions } from '../service.ts'
import type { Outlet } from './outlet.ts'

interface Pending {
  readonly resolve: (result: JsonObject) => void
  readonly reject: (error: Error) => void
}

/** Requests of ours that a client has yet to answer. Bounded in number and in time. */
export class Asks {
  readonly #pending = new Map<number, Pending>()
  readonly #limit: number
  readonly #timeoutMs: number
  #lastId = 0

  constructor(limits: { readonly pendingAsks: number; readonly askTimeoutMs: number }) {
    this.#limit = limits.pendingAsks
    this.#timeoutMs = limits.askTimeoutMs
  }

  send(outlet: Outlet, method: string, params: JsonObject | undefined, options: AskOptions = {}): Promise<JsonObject> {
    if (this.#pending.size >= this.#limit) {
      return Promise.reject(new RpcError('overloaded', `the client has ${this.#limit} requests to answer already`))
    }
    if (options.signal?.aborted === true) return Promise.reject(new RpcError('internal_error', `${method}: cancelled`))
    this.#lastId += 1
    const id = this.#lastId
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>()
    const giveUp = (reason: string): void => {
      if (!this.#pending.has(id)) return
      outlet.send(notificationText('notifications/cancelled', { requestId: id, reason }))
      reject(new RpcError('internal_error', `${method}: ${reason}`))
    }
    const timer = setTimeout(giveUp, options.timeoutMs ?? this.#timeoutMs, 'the client did not answer in time')
    timer.unref()
    const onAbort = (): void => giveUp('cancelled')
    options.signal?.addEventListener('abort', onAbort, { once: true })
    this.#pending.set(id, { resolve, reject })
    if (!outlet.send(requestText(id, method, params))) reject(new RpcError('overloaded', `${method}: the client does not read`))
    return promise.finally(() => {
      clearTimeout(timer)
      options.signal?.removeEventListener('abort', onAbort)
      this.#pending.delete(id)
    })
  }

  /** An answer to nothing that we asked is dropped: it may be late. */
  answered(response: ResponseMessage): void {
    const pending = typeof response.id === 'number' ? this.#pending.get(response.id) : undefined
    if (pending === undefined) return
    if (response.error === undefined) pending.resolve(response.result ?? {})
    else pending.reject(new RpcError(response.error.code, response.error.message, response.error.data))
  }

  rejectAll(reason: string): void {
    for (const { reject } of this.#pending.values()) reject(new RpcError('internal_error', reason))
  }
}
