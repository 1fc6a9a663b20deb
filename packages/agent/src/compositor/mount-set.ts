import { ByteRoom, COMPOSITOR_TOOLS } from '@parley/protocol'
import type { Caller, ListKind } from '@parley/rpc'
import { InvalidArgument } from '../errors.ts'
import { ClientWatches } from './client-watches.ts'
import type { CompositorLimits } from './compositor-limits.ts'
import { GatedCalls } from './gated-calls.ts'
import { LogLevels } from './log-levels.ts'
import { MountTable } from './mount-table.ts'
import { MountedServer } from './mounted-server.ts'
import type { MountOptions } from './mount-options.ts'
import { MOUNTS_URI, OwnResources, stateUri, SUBSCRIPTIONS_URI } from './own-resources.ts'
import { OwnSubscriptions } from './own-subscriptions.ts'
import type { CompositorOptions } from './ports.ts'
import { Questions } from './questions.ts'
import { WatchTable } from './watch-table.ts'

const KINDS: readonly ListKind[] = ['tools', 'prompts', 'resources']

/** The mounts as they come and go, and who is told of it. */
export class MountSet<C extends Caller> {
  readonly gated: GatedCalls<C>
  readonly questions: Questions<C>
  readonly table: MountTable<C>
  readonly resources: OwnResources
  readonly watches: WatchTable<C>
  readonly clientWatches: ClientWatches<C>
  readonly subscriptions: OwnSubscriptions<C>
  readonly levels: LogLevels<C>
  readonly #options: CompositorOptions<C>
  readonly #limits: CompositorLimits
  readonly #listWatchers = new Set<(kind: ListKind) => void>()
  readonly #mountWatchers = new Set<(name: string) => void>()
  readonly #listRoom: ByteRoom
  #generation = 0
  #isClosed = false

  constructor(options: CompositorOptions<C>, limits: CompositorLimits) {
    this.#options = options
    this.#limits = limits
    this.#listRoom = new ByteRoom({ bytes: limits.listBytes, bytesPerOwner: limits.listBytesPerMount })
    const { log, now } = options
    const changed = (): void => this.resources.changed(SUBSCRIPTIONS_URI)
    this.table = new MountTable(
      { isTool: (name) => Object.hasOwn(COMPOSITOR_TOOLS, name), isResource: (uri) => this.resources.has(uri) },
      limits.mounts,
    )
    this.gated = new GatedCalls(options)
    this.questions = new Questions(this.gated)
    this.levels = new LogLevels(log)
    this.watches = new WatchTable({ table: this.table, limits, now, log, changed })
    const watching = { table: this.table, watches: this.watches, gated: this.gated, log }
    this.clientWatches = new ClientWatches(watching)
    this.subscriptions = new OwnSubscriptions({
      ...watching,
      shelf: options.subscriptions,
      limit: limits.ownSubscriptions,
      changed,
    })
    this.resources = new OwnResources({
      names: () => this.table.all.map(({ name }) => name),
      status: (name) => this.table.get(name)?.status(),
      subscriptions: () => this.subscriptions.index(),
    })
  }

  attach(options: MountOptions): void {
    if (this.#isClosed) throw new InvalidArgument('name', 'cannot be mounted: the compositor is closed')
    this.table.check(options)
    const mount: MountedServer<C> = new MountedServer<C>({
      options,
      generation: ++this.#generation,
      limits: this.#limits,
      ports: this.#options,
      taken: this.table,
      listShares: () => {
        const { keptShare } = this.#options
        return [this.#listRoom.share(options.name), ...(keptShare === undefined ? [] : [keptShare()])]
      },
      questions: this.questions,
      levelOf: (id) => this.levels.of(id),
      changed: () => this.#changed(mount.name),
      listChanged: (kind) => this.#listChanged(mount, kind),
      connected: () => {
        this.levels.tell(mount)
        this.watches.connected(mount)
      },
      lost: () => this.watches.lost(),
      notified: (method, params) => this.levels.say(method, params),
    })
    this.table.add(mount)
    // Policies may have changed while it was not there.
    void this.subscriptions.arrived(mount)
    void this.clientWatches.reconsider(mount)
    this.#cameOrWent(mount.name)
    if (options.eager === true || this.watches.wants(mount)) mount.start()
  }

  async detach(name: string): Promise<boolean> {
    const mount = this.table.remove(name)
    if (mount === undefined) return false
    const closed = mount.close()
    this.watches.lost()
    this.#cameOrWent(name)
    await closed
    return true
  }

  /** Policies are others now. */
  async reconsider(): Promise<void> {
    await Promise.all([this.subscriptions.reconsider(), this.clientWatches.reconsider()])
  }

  watchLists(changed: (kind: ListKind) => void): () => void {
    const watcher = (kind: ListKind): void => changed(kind)
    this.#listWatchers.add(watcher)
    return () => this.#listWatchers.delete(watcher)
  }

  watchMounts(changed: (name: string) => void): () => void {
    const watcher = (name: string): void => changed(name)
    this.#mountWatchers.add(watcher)
    return () => this.#mountWatchers.delete(watcher)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.subscriptions.close()
    await Promise.all(this.table.all.map(({ name }) => this.detach(name)))
  }

  #changed(name: string): void {
    this.resources.changed(MOUNTS_URI)
    this.resources.changed(stateUri(name))
    for (const watcher of this.#mountWatchers) watcher(name)
  }

  #listChanged(mount: MountedServer<C>, kind: ListKind): void {
    // A mount that is detached says nothing any more.
    if (this.table.get(mount.name) !== mount) return
    if (kind === 'resources') this.watches.listChanged(mount)
    this.#tell(kind)
    this.#changed(mount.name)
  }

  #cameOrWent(name: string): void {
    for (const kind of KINDS) this.#tell(kind)
    this.#changed(name)
    this.resources.changed(SUBSCRIPTIONS_URI)
  }

  #tell(kind: ListKind): void {
    for (const watcher of this.#listWatchers) watcher(kind)
  }
}
