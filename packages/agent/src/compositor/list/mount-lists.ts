import { type ByteShare, isJsonObject, type JsonObject, keptText, messageOf, RpcError, settlesWithin } from '@parley/protocol'
import type { Client, ListKind } from '@parley/rpc'
import type { CompositorLimits } from '../compositor-limits.ts'
import { type Listed, LISTED, changedWith, fetchList, methodOf } from './fetch-list.ts'

interface CachedList {
  items: readonly JsonObject[] | undefined
  /** Counts what was told, so that an answer that was under way meanwhile is not taken for current. */
  told: number
  /** The count that the items belong to, and when they came. */
  current: number
  fetchedAt: number
  pending: Promise<void> | undefined
  /** Somebody was given less than there is: they are told when the rest is there. */
  owed: boolean
  problem: string | undefined
  cut: string | undefined
  bytes: number
  /** Of the rooms of the agent and of the host. */
  readonly shares: readonly ByteShare[]
}

export interface MountListsParts {
  readonly limits: CompositorLimits
  readonly now: () => number
  /** Shares of the rooms in which the lists are kept: one of each for each list. */
  readonly shares: () => readonly ByteShare[]
  /** The connection, as soon as there is one. */
  readonly ready: () => Promise<Client>
  /** What is told of it without what is secret. */
  readonly masked: (words: string) => string
  /** A list is another one than it was. */
  readonly changed: (kind: ListKind) => void
  /** There is something new to say about a list. */
  readonly noted: () => void
}

/** The lists of one mount: asked for once, kept until the server tells of a change, and never waited for longer than a bound. */
export class MountLists {
  readonly #parts: MountListsParts
  readonly #lists: ReadonlyMap<Listed, CachedList>
  #tells: ReadonlySet<ListKind> = new Set()
  #isClosed = false
  #tools: { readonly from: readonly JsonObject[]; readonly byName: ReadonlyMap<string, JsonObject> } | undefined

  constructor(parts: MountListsParts) {
    this.#parts = parts
    this.#lists = new Map(LISTED.map((kind) => [kind, newList(parts.shares())]))
  }

  /** The list as it is now, or as it last was when that does not come in time. */
  async get(kind: Listed): Promise<readonly JsonObject[]> {
    const list = this.#of(kind)
    if (this.#isCurrent(kind, list)) return list.items ?? []
    list.pending ??= this.#fetch(kind, list).finally(() => {
      list.pending = undefined
    })
    if (await settlesWithin(list.pending, this.#parts.limits.listMs)) {
      list.owed ||= list.problem !== undefined
      return list.items ?? []
    }
    list.owed = true
    this.#note(list, `${methodOf(kind)} was not answered within ${this.#parts.limits.listMs} ms`)
    return list.items ?? []
  }

  /** What is known without asking. */
  known(kind: Listed): readonly JsonObject[] {
    return this.#of(kind).items ?? []
  }

  /** What the server said about one of its tools, if it was listed. */
  tool(name: string): JsonObject | undefined {
    const from = this.known('tools')
    if (this.#tools?.from !== from) this.#tools = { from, byName: byName(from) }
    return this.#tools.byName.get(name)
  }

  /**
   * Whether the server lists nothing of this name. It is asked anew before that is said, for it may have got more without telling; of a list
   * that could not be read, or not to its end, nobody knows.
   */
  async lacks(kind: 'tools' | 'prompts', name: string): Promise<boolean> {
    const list = this.#of(kind)
    const has = (): boolean =>
      kind === 'tools' ? this.tool(name) !== undefined : this.known(kind).some((item) => item.name === name)
    if (has()) return false
    const before = list.items
    await this.get(kind)
    if (has()) return false
    if (list.items === before) {
      list.told++
      await this.get(kind)
    }
    return !has() && list.items !== undefined && list.problem === undefined && list.cut === undefined
  }

  problems(): readonly string[] {
    return [...this.#lists.values()].flatMap(({ problem, cut }) => [problem, cut].filter((words) => words !== undefined))
  }

  /** A new connection: the server may be another one than before. */
  connected(client: Client): void {
    const { capabilities } = client.server
    const tells = ({ listChanged }: JsonObject): boolean => listChanged === true
    this.#tells = new Set(
      KINDS.filter((kind) => {
        const capability = capabilities[kind]
        return isJsonObject(capability) && tells(capability)
      }),
    )
    for (const list of this.#lists.values()) list.told++
    for (const kind of LISTED) this.#settleDebt(kind)
  }

  /** The server says that a list changed. */
  invalidate(kind: ListKind): void {
    for (const listed of LISTED) if (changedWith(listed) === kind) this.#of(listed).told++
    this.#parts.changed(kind)
  }

  /** Nothing of them is needed any more. */
  close(): void {
    this.#isClosed = true
    for (const list of this.#lists.values()) {
      list.items = undefined
      hold(list, 0)
    }
  }

  #of(kind: Listed): CachedList {
    const list = this.#lists.get(kind)
    if (list === undefined) throw new Error(`there is no list ${kind}`)
    return list
  }

  #isCurrent(kind: Listed, { items, told, current, fetchedAt }: CachedList): boolean {
    if (items === undefined || told !== current) return false
    return this.#tells.has(changedWith(kind)) || this.#parts.now() - fetchedAt < this.#parts.limits.untoldListMs
  }

  async #fetch(kind: Listed, list: CachedList): Promise<void> {
    try {
      const client = await this.#parts.ready()
      const { told } = list
      const { items, cut, bytes } = await fetchList(client, kind, this.#parts.limits)
      if (this.#isClosed) return
      if (!hold(list, bytes))
        throw new RpcError('overloaded', `there is no room for its ${bytes} bytes beside what other mounts list`)
      Object.assign(list, { items, current: told, fetchedAt: this.#parts.now(), cut })
      this.#note(list, undefined)
      this.#settleDebt(kind)
    } catch (error) {
      const { masked, limits } = this.#parts
      this.#note(list, keptText(masked(`${methodOf(kind)} failed: ${messageOf(error)}`), limits.errorChars))
    }
  }

  #settleDebt(kind: Listed): void {
    const list = this.#of(kind)
    if (!list.owed) return
    list.owed = false
    this.#parts.changed(changedWith(kind))
  }

  #note(list: CachedList, problem: string | undefined): void {
    const isNew = list.problem !== problem
    list.problem = problem
    if (isNew) this.#parts.noted()
  }
}

function byName(tools: readonly JsonObject[]): ReadonlyMap<string, JsonObject> {
  return new Map(tools.flatMap((tool) => (typeof tool.name === 'string' ? [[tool.name, tool] as const] : [])))
}

const KINDS: readonly ListKind[] = ['tools', 'prompts', 'resources']

/** Holds so much in every room, or what it held in all of them. */
function hold(list: CachedList, bytes: number): boolean {
  for (const [at, share] of list.shares.entries()) {
    if (share.hold(bytes)) continue
    for (const before of list.shares.slice(0, at)) before.hold(list.bytes)
    return false
  }
  list.bytes = bytes
  return true
}

function newList(shares: readonly ByteShare[]): CachedList {
  return {
    items: undefined,
    told: 0,
    current: -1,
    fetchedAt: 0,
    pending: undefined,
    owed: false,
    problem: undefined,
    cut: undefined,
    bytes: 0,
    shares,
  }
}
