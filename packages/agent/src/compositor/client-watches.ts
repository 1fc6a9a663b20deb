import type { JsonObject } from '@parley/protocol'
import type { Caller } from '@parley/rpc'
import type { GatedCalls } from './gated-calls.ts'
import type { MountTable, MountTarget } from './mount-table.ts'
import type { MountedServer } from './mounted-server.ts'
import type { MountCall } from './ports.ts'
import type { WatchTable } from './watch-table.ts'

export interface ClientWatchesParts<C extends Caller> {
  readonly table: MountTable<C>
  readonly watches: WatchTable<C>
  readonly gated: GatedCalls<C>
  readonly log: (level: 'info' | 'warn', message: string) => void
}

interface ClientWatch<C extends Caller> {
  readonly uri: string
  readonly caller: C
  readonly changed: (meta?: JsonObject) => void
  isOpen: boolean
  /** Policies deny it since: its news are left out. */
  isDenied: boolean
}

/** What clients watch at the mounts. Watching is reading: it needs the same leave, and has it for as long as policies do not deny it. */
export class ClientWatches<C extends Caller> {
  readonly #parts: ClientWatchesParts<C>
  readonly #all = new Set<ClientWatch<C>>()

  constructor(parts: ClientWatchesParts<C>) {
    this.#parts = parts
  }

  /** Throws when it may not be watched, or its server does not let it be. */
  async add(watching: Pick<ClientWatch<C>, 'uri' | 'caller' | 'changed'>, signal: AbortSignal): Promise<() => void> {
    const { table, watches, gated } = this.#parts
    const watch: ClientWatch<C> = { ...watching, isOpen: false, isDenied: false }
    const call = callOf(watch, table.resource(watch.uri))
    // From here on, not from when it is let through: policies may change between that and the first news.
    this.#all.add(watch)
    try {
      // A subscription is made by a request that may ask for many: it is no call that could be a task.
      const allowed = await gated.allow(call, { signal, cancellation: signal, held: () => undefined })
      const stop = await watches
        .add(watch.uri, (meta) => (watch.isDenied ? undefined : watch.changed(meta)))
        .catch((error: unknown) => {
          allowed.failed(error)
          throw error
        })
      allowed.returned({})
      watch.isOpen = true
      return () => {
        this.#all.delete(watch)
        stop()
      }
    } catch (error) {
      this.#all.delete(watch)
      throw error
    }
  }

  /** Policies are others now, or a mount came that was not there when they changed. */
  async reconsider(mount?: MountedServer<C>): Promise<void> {
    for (const watch of this.#all) {
      const target = this.#parts.table.findResource(watch.uri)
      if (target !== undefined && (mount === undefined || target.mount === mount)) await this.#reconsider(watch, target)
    }
  }

  async #reconsider(watch: ClientWatch<C>, target: MountTarget<C>): Promise<void> {
    const { denial, wouldAsk } = await this.#parts.gated.stands(callOf(watch, target))
    const wasDenied = watch.isDenied
    // What would be asked about now was let through before, by a person or a rule.
    watch.isDenied = denial !== undefined && !wouldAsk
    if (watch.isDenied === wasDenied) return
    const news = wasDenied ? 'again' : `no longer: ${denial?.message ?? ''}`
    this.#parts.log('info', `a client is told of changes of ${watch.uri} ${news}`)
    // What happened meanwhile was not told.
    if (wasDenied && watch.isOpen) watch.changed()
  }
}

const callOf = <C extends Caller>({ caller }: ClientWatch<C>, { mount, name }: MountTarget<C>): MountCall<C> => ({
  caller,
  kind: 'resource',
  mount: mount.name,
  name,
  arguments: {},
  annotations: undefined,
})
