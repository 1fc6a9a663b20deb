import { isJsonObject } from '@parley/protocol'
import type { Client } from '../client/client.ts'
import type { Unsubscribe } from '../client/subscription/subscriptions.ts'
import type { ListKind } from '../service.ts'

interface Watch {
  readonly uri: string
  readonly changed: () => void
  unsubscribe: Unsubscribe | undefined
}

const KINDS: readonly ListKind[] = ['tools', 'prompts', 'resources']

/** What is watched through one upstream. Outlives its connections: a new one is asked for all of it again. */
export class Watches {
  readonly #watches = new Set<Watch>()
  readonly #lists = new Set<(kind: ListKind) => void>()
  readonly #warn: (message: string) => void
  #client: Client | undefined

  constructor(warn: (message: string) => void) {
    this.#warn = warn
  }

  /** Resources only: lists are asked for again by whoever calls next. */
  get size(): number {
    return this.#watches.size
  }

  async add(client: Client, uri: string, changed: () => void): Promise<() => void> {
    const watch: Watch = { uri, changed, unsubscribe: undefined }
    watch.unsubscribe = await client.subscribe(uri, changed)
    this.#watches.add(watch)
    return () => {
      if (!this.#watches.delete(watch)) return
      watch.unsubscribe?.().catch((error: unknown) => this.#warn(`ending the watch of ${uri} failed: ${String(error)}`))
    }
  }

  addLists(changed: (kind: ListKind) => void): () => void {
    const own = (kind: ListKind): void => changed(kind)
    this.#lists.add(own)
    return () => this.#lists.delete(own)
  }

  connected(client: Client): void {
    const again = this.#client !== undefined
    this.#client = client
    if (changesLists(client)) client.watchLists((kind) => this.#tellLists(kind))
    for (const watch of this.#watches) {
      watch.unsubscribe = undefined
      client.subscribe(watch.uri, watch.changed).then(
        (unsubscribe) => this.#resumed(watch, unsubscribe),
        (error: unknown) => this.#warn(`${watch.uri} cannot be watched any more: ${String(error)}`),
      )
    }
    // While the connection was down anything may have changed.
    if (again) for (const kind of KINDS) this.#tellLists(kind)
  }

  #resumed(watch: Watch, unsubscribe: Unsubscribe): void {
    if (!this.#watches.has(watch)) return void unsubscribe().catch(() => {})
    watch.unsubscribe = unsubscribe
    watch.changed()
  }

  #tellLists(kind: ListKind): void {
    for (const changed of this.#lists) changed(kind)
  }
}

function changesLists({ server }: Client): boolean {
  return KINDS.some((kind) => {
    const capability = server.capabilities[kind]
    return isJsonObject(capability) && capability.listChanged === true
  })
}
