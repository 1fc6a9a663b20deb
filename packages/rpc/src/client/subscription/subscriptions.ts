import type { JsonObject } from '@parley/protocol'
import type { ListKind } from '../../service.ts'

export type Unsubscribe = () => Promise<void>

/** Watching resources and lists, in the way of one era. */
export interface ClientSubscriptions {
  subscribe(uri: string, changed: () => void): Promise<Unsubscribe>
  watchLists(changed: (kind: ListKind) => void): () => void
  /** Takes a notification that is about a subscription. */
  notified(method: string, params: JsonObject): boolean
  /** The server forgot us: everything has to be asked for again, and may have changed meanwhile. */
  renew(): Promise<void>
  close(): void
}

const LIST_CHANGED: Readonly<Record<string, ListKind>> = {
  'notifications/tools/list_changed': 'tools',
  'notifications/prompts/list_changed': 'prompts',
  'notifications/resources/list_changed': 'resources',
}

/** Who wants to hear of what. Knows nothing of links. */
export class Watchers {
  readonly #byUri = new Map<string, Set<() => void>>()
  readonly #lists = new Set<(kind: ListKind) => void>()

  get uris(): string[] {
    return [...this.#byUri.keys()]
  }
  get watchesLists(): boolean {
    return this.#lists.size > 0
  }

  /** Answers whether this is the first watcher of the resource. */
  add(uri: string, changed: () => void): boolean {
    const known = this.#byUri.get(uri)
    if (known !== undefined) {
      known.add(changed)
      return false
    }
    this.#byUri.set(uri, new Set([changed]))
    return true
  }

  /** Answers whether that was the last watcher of the resource. */
  remove(uri: string, changed: () => void): boolean {
    const known = this.#byUri.get(uri)
    if (known === undefined || !known.delete(changed) || known.size > 0) return false
    this.#byUri.delete(uri)
    return true
  }

  addLists(changed: (kind: ListKind) => void): void {
    this.#lists.add(changed)
  }
  removeLists(changed: (kind: ListKind) => void): void {
    this.#lists.delete(changed)
  }

  /** Hands a notification to those who watch its subject. */
  notified(method: string, params: JsonObject): boolean {
    const kind = LIST_CHANGED[method]
    if (kind !== undefined) {
      for (const changed of this.#lists) changed(kind)
      return true
    }
    if (method !== 'notifications/resources/updated' || typeof params.uri !== 'string') return false
    const exact = this.#byUri.get(params.uri)
    if (exact !== undefined) for (const changed of exact) changed()
    else this.#tellParents(params.uri)
    return true
  }

  /** Everything may have changed while nobody listened. */
  tellAll(): void {
    for (const watchers of this.#byUri.values()) for (const changed of watchers) changed()
    for (const changed of this.#lists) for (const kind of Object.values(LIST_CHANGED)) changed(kind)
  }

  /** A server may name a part of what was subscribed to. */
  #tellParents(uri: string): void {
    for (const [watched, watchers] of this.#byUri) {
      if (uri.startsWith(watched)) for (const changed of watchers) changed()
    }
  }
}
