import { Backoff } from '@parley/protocol/wire'
import { WireError } from '@parley/fetch/browser'
import { isJsonObject, type JsonObject, messageOf, RpcError } from '@parley/protocol'
import type { ListKind } from '../../service.ts'
import type { ClientLimits } from '../client-limits.ts'
import type { Reply } from '../connection.ts'
import { sleep } from '../sleep.ts'
import { type ClientSubscriptions, type Unsubscribe, Watchers } from './subscriptions.ts'

export interface ListenParts {
  readonly limits: ClientLimits
  /** Sends `subscriptions/listen`, which lasts until the signal. */
  readonly listen: (
    notifications: JsonObject,
    signal: AbortSignal,
    onNotification: (method: string, params: JsonObject) => void,
  ) => Promise<Reply>
  readonly warn: (message: string) => void
}

/** One open `subscriptions/listen`: what it was asked for, and what the server granted. */
interface Listening {
  readonly controller: AbortController
  readonly asked: JsonObject
  readonly acknowledged: Promise<JsonObject>
  live: boolean
}

/**
 * One `subscriptions/listen` for all watchers. A new set of resources means a new stream, opened before the old one
 * closes, so that nothing falls in between; a stream that drops is opened again and everybody is told to look.
 */
export class ListenSubscriptions implements ClientSubscriptions {
  readonly #parts: ListenParts
  readonly #watchers = new Watchers()
  readonly #backoff: Backoff
  readonly #life = new AbortController()
  #current: Listening | undefined
  #turn: Promise<unknown> = Promise.resolve()

  constructor(parts: ListenParts) {
    this.#parts = parts
    this.#backoff = new Backoff(parts.limits.reconnectMs, parts.limits.reconnectMaxMs)
  }

  async subscribe(uri: string, changed: () => void): Promise<Unsubscribe> {
    const { limits } = this.#parts
    if (this.#watchers.uris.length >= limits.subscriptions)
      throw new WireError('overloaded', `at most ${limits.subscriptions} subscriptions`)
    const watcher = (): void => changed()
    const remove = async (): Promise<void> => {
      if (this.#watchers.remove(uri, watcher)) await this.#follow()
    }
    this.#watchers.add(uri, watcher)
    try {
      await this.#follow()
      const granted = await this.#current?.acknowledged
      const uris = granted?.resourceSubscriptions
      if (!Array.isArray(uris) || !uris.includes(uri))
        throw new RpcError('subscribe_unsupported', `the server does not let ${uri} be watched`)
    } catch (error) {
      this.#watchers.remove(uri, watcher)
      throw error
    }
    return remove
  }

  watchLists(changed: (kind: ListKind) => void): () => void {
    const watcher = (kind: ListKind): void => changed(kind)
    this.#watchers.addLists(watcher)
    this.#followQuietly()
    return () => {
      this.#watchers.removeLists(watcher)
      this.#followQuietly()
    }
  }

  notified(method: string, params: JsonObject): boolean {
    return this.#watchers.notified(method, params)
  }

  async renew(): Promise<void> {}

  close(): void {
    this.#life.abort()
    this.#current?.controller.abort()
    this.#current = undefined
  }

  #followQuietly(): void {
    this.#follow().catch((error: unknown) => {
      if (!this.#life.signal.aborted) this.#parts.warn(`subscriptions/listen failed: ${messageOf(error)}`)
    })
  }

  /** Brings the stream in line with what is watched now. One change at a time; changes in between are taken together. */
  #follow(): Promise<void> {
    const turn = this.#turn.then(() => this.#switch())
    this.#turn = turn.catch(() => {})
    return turn
  }

  async #switch(): Promise<void> {
    if (this.#life.signal.aborted) throw new WireError('closed', 'the client is closed')
    const wanted = this.#wanted()
    if (JSON.stringify(wanted) === JSON.stringify(this.#current?.asked ?? {})) return
    const before = this.#current
    if (Object.keys(wanted).length === 0) this.#current = undefined
    else {
      const next = this.#listen(wanted)
      this.#current = next
      try {
        await next.acknowledged
      } catch (error) {
        next.controller.abort()
        if (this.#current === next) this.#current = before
        throw error
      }
    }
    before?.controller.abort()
  }

  #wanted(): JsonObject {
    const uris = this.#watchers.uris
    return {
      ...(uris.length > 0 ? { resourceSubscriptions: uris } : {}),
      ...(this.#watchers.watchesLists ? { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true } : {}),
    }
  }

  #listen(asked: JsonObject): Listening {
    const controller = new AbortController()
    const ack = Promise.withResolvers<JsonObject>()
    const timer = setTimeout(
      () => ack.reject(new WireError('timeout', 'subscriptions/listen was not acknowledged')),
      this.#parts.limits.requestTimeoutMs,
    )
    const listening: Listening = { controller, asked, acknowledged: ack.promise.finally(() => clearTimeout(timer)), live: false }
    // Whoever waits for it sees the failure; when nobody does, the stream's own end is enough.
    listening.acknowledged.catch(() => {})
    const heard = (method: string, params: JsonObject): void => {
      if (method !== 'notifications/subscriptions/acknowledged') return void this.#watchers.notified(method, params)
      listening.live = true
      this.#backoff.reset()
      ack.resolve(isJsonObject(params.notifications) ? params.notifications : {})
    }
    const over = (error: unknown): void => {
      ack.reject(error)
      this.#dropped(listening)
    }
    this.#parts
      .listen(asked, controller.signal, heard)
      .then(() => over(new WireError('stream_lost', 'the server ended the subscription')), over)
    return listening
  }

  /** A stream that was never acknowledged is the business of whoever opened it. */
  #dropped(listening: Listening): void {
    if (!listening.live || this.#current !== listening) return
    this.#current = undefined
    this.#listenAgain()
  }

  #listenAgain(): void {
    sleep(this.#backoff.next(), this.#life.signal)
      .then(() => this.#follow())
      .then(() => this.#watchers.tellAll())
      .catch(() => {
        if (!this.#life.signal.aborted && this.#current === undefined) this.#listenAgain()
      })
  }
}
