import { isJsonObject, type JsonObject, RPC_CODES, RpcError } from '@parley/protocol/wire'
import { followTask, offersTasks, tasksNotDeclared } from '@parley/task'
import type { RequestId, RequestMessage } from '../message/message.ts'
import { dressing, JsonText, notificationText, resultText } from '../message/text.ts'
import { META } from '../revision.ts'
import type { Caller, ListKind, Service } from '../service.ts'
import type { Holding } from '../limit/callers.ts'
import type { Envelope } from './envelope.ts'
import { type ServedWire, taskOf } from './served-wire.ts'
import { charge } from '../limit/charge.ts'
import { checkUris } from '../limit/kept-words.ts'
import { changingLists } from './legacy-link.ts'
import type { Outlet } from './outlet.ts'
import { Subscriptions } from './subscriptions.ts'

const LIST_FIELDS = { toolsListChanged: 'tools', promptsListChanged: 'prompts', resourcesListChanged: 'resources' } as const

interface Wishes {
  readonly lists: Set<ListKind>
  readonly uris: readonly string[]
  readonly taskIds: readonly string[]
}

export interface ListenStart<C extends Caller> {
  readonly served: ServedWire<C>
  readonly service: Service<C>
  readonly caller: C
  readonly message: RequestMessage
  readonly envelope: Envelope
  readonly outlet: Outlet
  /** Sends the last message, if any, and closes what carries it. */
  readonly finish: (text: string | undefined) => void
}

/** One `subscriptions/listen`: stays until the client closes it or we go. */
export class Listen<C extends Caller> implements Holding<C> {
  readonly caller: C
  readonly lasting = true
  readonly listens = true
  readonly #start: ListenStart<C>
  readonly #subscriptions: Subscriptions<C>
  readonly #followed: (() => void)[] = []
  #ended = false

  constructor(start: ListenStart<C>) {
    this.#start = start
    this.caller = start.caller
    this.#subscriptions = new Subscriptions({
      service: start.service,
      caller: start.caller,
      link: undefined,
      outlet: start.outlet,
      text: textFor(start.message.id),
      served: start.served,
    })
    // Nothing may come before the acknowledgement.
    this.#subscriptions.hold()
  }

  /** Watches what can be watched, then acknowledges that; throws before anything is sent when the request is wrong. */
  async open(): Promise<void> {
    const { message, served, outlet } = this.#start
    try {
      const wishes = wishesOf(message.params, served.limits.subscriptions)
      const honoured = await this.#honour(wishes)
      if (this.#ended) return
      const acknowledged = { ...tag(message.id), notifications: honoured }
      if (!outlet.send(notificationText('notifications/subscriptions/acknowledged', acknowledged)))
        throw new RpcError('overloaded', 'the client does not read')
      if (wishes.lists.size > 0) this.#subscriptions.watchLists(wishes.lists)
      this.#subscriptions.release()
    } catch (error) {
      const wasOver = this.#ended
      this.#stop()
      // Who cancelled while we opened is owed no answer.
      if (!wasOver) throw error
    }
  }

  /** Ends it from our side: the client gets its result and knows that it may come back. */
  end(_reason: string): void {
    if (this.#ended) return
    this.#stop()
    const { id } = this.#start.message
    this.#start.finish(
      resultText(id, tag(id), dressing({ resultType: 'complete' }, { [META.serverInfo]: this.#start.service.info })),
    )
  }

  /** The client closed or cancelled it: nothing more is sent. */
  cancel(): void {
    if (this.#ended) return
    this.#stop()
    this.#start.finish(undefined)
  }

  #stop(): void {
    this.#ended = true
    this.#subscriptions.end()
    for (const stop of this.#followed.splice(0)) stop()
    this.#start.served.callers.remove(this)
  }

  async #honour(wishes: Wishes): Promise<JsonObject> {
    const honoured: JsonObject = {}
    const able = changingLists(this.#start.service.capabilities)
    for (const [field, kind] of Object.entries(LIST_FIELDS)) {
      if (!wishes.lists.has(kind)) continue
      if (able.has(kind)) honoured[field] = true
      else wishes.lists.delete(kind)
    }
    const { resources } = this.#start.service.capabilities
    if (wishes.uris.length > 0 && isJsonObject(resources) && resources['subscribe'] === true) {
      honoured['resourceSubscriptions'] = await this.#watchAll(wishes.uris)
    }
    if (wishes.taskIds.length > 0 && offersTasks(this.#start.service.capabilities))
      honoured['taskIds'] = await this.#followAll(wishes.taskIds)
    return honoured
  }

  /** One that is not there is left out of the acknowledgement. How the others stand is told at once, for it may be the last word. */
  async #followAll(ids: readonly string[]): Promise<string[]> {
    const { served, service, caller, envelope, message } = this.#start
    if (!offersTasks(envelope.client.capabilities)) throw tasksNotDeclared('taskIds')
    const followed: string[] = []
    for (const id of new Set(ids)) {
      charge(caller)
      const task = await taskOf(served, service, id, caller)
      if (this.#ended) return []
      if (task === undefined) continue
      if (served.callers.watchesOf(caller) >= served.limits.subscriptionsPerCaller)
        throw new RpcError('overloaded', `one person watches at most ${served.limits.subscriptionsPerCaller} resources at once`)
      const tell = (text: string): void =>
        this.#subscriptions.tell(id, () => notificationText('notifications/tasks', new JsonText(text, subscription(message.id))))
      const stop = followTask(task, tell)
      served.callers.watched(caller, 1)
      this.#followed.push(() => {
        stop()
        served.callers.watched(caller, -1)
      })
      followed.push(id)
    }
    return followed
  }

  /** A resource that cannot be watched is left out of the acknowledgement; the rest holds. */
  async #watchAll(uris: readonly string[]): Promise<string[]> {
    const watched: string[] = []
    for (const uri of new Set(uris)) {
      try {
        await this.#subscriptions.watch(uri)
        watched.push(uri)
      } catch (error) {
        if (!(error instanceof RpcError) || error.code === RPC_CODES.overloaded) throw error
      }
    }
    return watched
  }
}

function textFor(id: RequestId) {
  return {
    updated: (uri: string, meta: JsonObject | undefined): string =>
      notificationText('notifications/resources/updated', { ...tag(id, meta), uri }),
    listChanged: (kind: ListKind): string => notificationText(`notifications/${kind}/list_changed`, tag(id)),
  }
}

function tag(id: RequestId, meta?: JsonObject): JsonObject {
  return { _meta: { ...meta, ...subscription(id) } }
}

const subscription = (id: RequestId): JsonObject => ({ [META.subscriptionId]: id })

function wishesOf(params: JsonObject, limit: number): Wishes {
  const { notifications } = params
  if (!isJsonObject(notifications))
    throw new RpcError('invalid_params', 'notifications must be an object', { field: 'notifications' })
  const lists = new Set<ListKind>()
  for (const [field, kind] of Object.entries(LIST_FIELDS)) if (notifications[field] === true) lists.add(kind)
  const uris = wordsIn(notifications, 'resourceSubscriptions', 'URIs')
  const taskIds = wordsIn(notifications, 'taskIds', 'ids of tasks')
  if (uris.length + taskIds.length > limit)
    throw new RpcError('internal_error', `at most ${limit} resources can be watched by one request`)
  return { lists, uris, taskIds }
}

function wordsIn(notifications: JsonObject, name: string, what: string): readonly string[] {
  const words = notifications[name] ?? []
  const field = `notifications.${name}`
  if (!Array.isArray(words) || !words.every((word) => typeof word === 'string'))
    throw new RpcError('invalid_params', `${name} must be a list of ${what}`, { field })
  checkUris(words, field)
  return words
}
