import { type GatewayCaller } from '@parley/access'
import { NOTIFICATIONS } from '@parley/protocol'
import type { Link } from '@parley/rpc'
import { type Store, type WorkerKind, type WorkerRecord, onceAtATime, workersTopic } from '@parley/store'
import type { Logger } from 'pino'

const KINDS: readonly WorkerKind[] = ['host', 'executor']

/** A worker with its connections to this gateway; the last one is the one that is spoken on. */
interface Linked {
  readonly kind: WorkerKind
  readonly name: string
  readonly instance: string
  readonly links: Set<Link<GatewayCaller>>
  /** What it was told of draining. */
  drain: boolean
}

/** The hosts and executors that hold a connection to this gateway. Nothing here must survive a restart. */
export class LinkedWorkers {
  readonly #store: Pick<Store, 'workers' | 'topics'>
  readonly #log: Logger
  readonly #workers = new Map<string, Linked>()
  readonly #names = new WeakMap<Link<GatewayCaller>, string>()
  #ends: (() => void)[] | undefined
  #isClosed = false

  constructor(store: Pick<Store, 'workers' | 'topics'>, log: Logger) {
    this.#store = store
    this.#log = log
  }

  /** The name that a connection speaks for, once it has spoken for one. It speaks for no other. */
  nameOn(link: Link<GatewayCaller>): string | undefined {
    return this.#names.get(link)
  }

  /** Its heartbeat came on this connection: from now on it is reached there. */
  took({ kind, name, instance, drain }: WorkerRecord, link: Link<GatewayCaller>): void {
    this.#ends ??= KINDS.map((each) => this.#follow(each))
    this.#names.set(link, name)
    const key = keyOf(kind, name)
    const known = this.#workers.get(key)
    const linked = known?.instance === instance ? known : { kind, name, instance, links: new Set([link]), drain }
    linked.drain = drain
    this.#workers.set(key, linked)
    // The last one that a heartbeat came on is the one that surely works.
    const isNew = !linked.links.delete(link) || linked !== known
    linked.links.add(link)
    if (link.signal.aborted) return this.#left(linked, link)
    if (isNew) link.signal.addEventListener('abort', () => this.#left(linked, link), { once: true })
  }

  /** Where a worker can be told something. */
  linkTo(kind: WorkerKind, name: string): Link<GatewayCaller> | undefined {
    return [...(this.#workers.get(keyOf(kind, name))?.links ?? [])].at(-1)
  }

  close(): void {
    this.#isClosed = true
    for (const end of this.#ends ?? []) end()
    this.#workers.clear()
  }

  #left(linked: Linked, link: Link<GatewayCaller>): void {
    linked.links.delete(link)
    // When we close, all of them were sent away by us and come back to somebody.
    if (linked.links.size > 0 || this.#isClosed) return
    const key = keyOf(linked.kind, linked.name)
    if (this.#workers.get(key) === linked) this.#workers.delete(key)
    this.#store.workers
      .left(linked)
      .catch((error: unknown) => this.#log.warn({ err: error, name: linked.name }, 'it cannot be written that a worker left'))
  }

  #follow(kind: WorkerKind): () => void {
    const failed = (error: unknown): void => this.#log.warn({ err: error }, `what ${kind}s are to do cannot be read now`)
    return this.#store.topics.subscribe(
      workersTopic(kind),
      onceAtATime(() => this.#tellDrains(kind), failed),
    )
  }

  async #tellDrains(kind: WorkerKind): Promise<void> {
    for (const linked of this.#workers.values()) {
      if (linked.kind !== kind) continue
      const record = await this.#store.workers.byName(kind, linked.name)
      if (record?.instance !== linked.instance || record.drain === linked.drain) continue
      const { method } = NOTIFICATIONS.worker_control
      // A connection that lags hears it in the answer to its next heartbeat.
      if (this.linkTo(kind, linked.name)?.notify(method, { name: linked.name, drain: record.drain }) === true)
        linked.drain = record.drain
    }
  }
}

const keyOf = (kind: WorkerKind, name: string): string => `${kind} ${name}`
