import { isJsonObject, type JsonObject, RpcError } from '@parley/protocol'
import {
  type Call,
  type Caller,
  type HeaderParam,
  type Implementation,
  InputRequired,
  JsonText,
  type Link,
  type ListKind,
  type LogLevel,
  readMirroring,
  type Service,
  type ServiceResult,
} from '@parley/rpc'
import { BackgroundDispatch } from './built-in/background-dispatch.ts'
import { BuiltInTools } from './built-in/built-in-tools.ts'
import { Catalogue } from './catalogue.ts'
import type { CompositorLimits } from './compositor-limits.ts'
import { MountDispatch } from './mount-dispatch.ts'
import { type Listed, keyOf } from './list/fetch-list.ts'
import { banner } from './shown/instructions.ts'
import { pageOf } from './list/list-page.ts'
import type { MountOptions } from './mount-options.ts'
import type { MountStatus } from './mount-state.ts'
import type { MountSet } from './mount-set.ts'
import type { CompositorOptions } from './ports.ts'
import { checkResource } from './shown/result-size.ts'
import { VERSION_META } from './watch-table.ts'
import { WindowCache } from './built-in/window-cache.ts'

const CAPABILITIES: JsonObject = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
  logging: {},
}

const NO_HEADERS: readonly HeaderParam[] = []

/** What clients find: the mounts' tools, prompts and resources as one server's, and the compositor's own. */
export class CompositorService<C extends Caller> implements Service<C> {
  readonly info: Implementation
  readonly capabilities = CAPABILITIES
  readonly #mounts: MountSet<C>
  readonly #limits: CompositorLimits
  readonly #windows: WindowCache
  readonly #dispatch: MountDispatch<C>
  readonly #catalogue: Catalogue<C>
  readonly #tools: BuiltInTools<C>
  readonly #listsMarkedOnly: boolean
  readonly #background: BackgroundDispatch<C> | undefined

  constructor(options: CompositorOptions<C>, mounts: MountSet<C>, limits: CompositorLimits) {
    this.info = options.info
    this.#mounts = mounts
    this.#limits = limits
    this.#windows = new WindowCache(limits, options.now, options.keptShare?.())
    this.#dispatch = new MountDispatch(mounts.gated, mounts.questions, limits)
    this.#catalogue = new Catalogue(mounts.table)
    this.#listsMarkedOnly = options.toolSearch === 'instead'
    const { background: desk, log } = options
    this.#background =
      desk === undefined ? undefined : new BackgroundDispatch({ desk, table: mounts.table, dispatch: this.#dispatch, log })
    this.#tools = new BuiltInTools({
      table: mounts.table,
      catalogue: this.#catalogue,
      dispatch: this.#dispatch,
      resources: mounts.resources,
      subscriptions: mounts.subscriptions,
      windows: this.#windows,
      limits,
      hasSearch: options.toolSearch !== undefined,
      policy: options.policy,
      chat: options.chat,
      loop: options.loop,
      isEngine: options.isEngine ?? (() => false),
      background: this.#background,
    })
  }

  /** As they are when somebody asks. */
  get instructions(): string | undefined {
    return banner(this.#mounts.table.all, this.#limits)
  }

  call(method: string, params: JsonObject, call: Call<C>): Promise<ServiceResult> {
    switch (method) {
      case 'tools/list':
        return this.#list('tools', params, call)
      case 'prompts/list':
        return this.#list('prompts', params, call)
      case 'resources/list':
        return this.#list('resources', params, call)
      case 'resources/templates/list':
        return this.#list('templates', params, call)
      case 'tools/call':
        return this.#callTool(params, call)
      case 'prompts/get':
        return this.#getPrompt(params, call)
      case 'resources/read':
        return this.#read(params, call)
      case 'completion/complete':
        return this.#complete(params, call)
      default:
        return Promise.reject(new RpcError('method_not_found', `Method not found: ${method}`))
    }
  }

  async watch(uri: string, changed: (meta?: JsonObject) => void, caller: C, link?: Link<C>): Promise<() => void> {
    const { clientWatches, resources } = this.#mounts
    if (resources.has(uri)) return resources.watch(uri, changed)
    if (this.#background?.has(uri) === true) return this.#background.watch(uri, changed)
    return clientWatches.add({ uri, caller, changed }, link?.signal ?? new AbortController().signal)
  }

  watchLists(changed: (kind: ListKind) => void): () => void {
    return this.#mounts.watchLists(changed)
  }

  setLevel(level: LogLevel, link: Link<C>): void {
    this.#mounts.levels.set(level, link, this.#mounts.table.all)
  }

  async headerParams(tool: string): Promise<readonly HeaderParam[]> {
    if (this.#tools.has(tool)) return NO_HEADERS
    const { mount, name } = this.#mounts.table.tool(tool)
    if (mount.lists.tool(name) === undefined) await mount.lists.get('tools')
    const mirroring = readMirroring(mount.lists.tool(name)?.inputSchema)
    return mirroring.kind === 'valid' ? mirroring.arguments : NO_HEADERS
  }

  /** Only a mount that is given the roots of its clients wants to know that those changed. */
  notified(method: string, params: JsonObject): void {
    if (method !== 'notifications/roots/list_changed') return
    for (const { options, upstream } of this.#mounts.table.all)
      if (options.roots === 'client' && upstream.client?.era === 'legacy') upstream.client.notify(method, params).catch(() => {})
  }

  opened(link: Link<C>): void {
    this.#mounts.levels.opened(link)
  }
  closed(link: Link<C>): void {
    this.#mounts.levels.closed(link)
  }

  attach(options: MountOptions): void {
    this.#mounts.attach(options)
  }
  detach(name: string): Promise<boolean> {
    return this.#mounts.detach(name)
  }
  mounts(): readonly MountStatus[] {
    return this.#mounts.table.all.map((mount) => mount.status())
  }
  reconsider(): Promise<void> {
    return this.#mounts.reconsider()
  }
  watchMounts(changed: (name: string) => void): () => void {
    return this.#mounts.watchMounts(changed)
  }
  close(): Promise<void> {
    this.#background?.close()
    this.#windows.close()
    return this.#mounts.close()
  }

  async #list(kind: Listed, params: JsonObject, { era, caller }: Call<C>): Promise<JsonObject> {
    const found = await this.#catalogue.list(kind, era)
    const shown = this.#listsMarkedOnly && kind === 'tools' ? found.filter(({ isMarked }) => isMarked) : found
    const all = [...this.#own(kind, caller), ...shown.map(({ item }) => item)]
    const { items, nextCursor } = pageOf(all, IDENTIFIED_BY[kind], params.cursor, this.#limits.pageItems)
    return { [keyOf(kind)]: [...items], nextCursor }
  }

  #own(kind: Listed, caller: C): readonly JsonObject[] {
    if (kind === 'tools') return this.#tools.descriptions(caller)
    return kind === 'resources' ? this.#mounts.resources.list() : []
  }

  async #callTool(params: JsonObject, call: Call<C>): Promise<ServiceResult> {
    const name = wordOf(params, 'name')
    if (this.#tools.has(name)) return this.#tools.call(name, isJsonObject(params.arguments) ? params.arguments : {}, call)
    const target = this.#mounts.table.tool(name)
    return this.#dispatch.call({ kind: 'tool', target, method: 'tools/call', params: { ...params, name: target.name }, call })
  }

  async #getPrompt(params: JsonObject, call: Call<C>): Promise<ServiceResult> {
    const target = this.#mounts.table.prompt(wordOf(params, 'name'))
    return this.#dispatch.call({ kind: 'prompt', target, method: 'prompts/get', params: { ...params, name: target.name }, call })
  }

  async #read(params: JsonObject, call: Call<C>): Promise<ServiceResult> {
    const uri = wordOf(params, 'uri')
    const own = this.#mounts.resources.read(uri)
    if (own !== undefined) return own
    if (this.#background?.has(uri) === true) return this.#background.read(uri)
    const target = this.#mounts.table.resource(uri)
    const request = { kind: 'resource', target, method: 'resources/read', params: { ...params, uri: target.name }, call } as const
    const result = await this.#dispatch.call(request)
    if (result instanceof InputRequired) return result
    checkResource(result, this.#limits.resultBytes)
    return withVersion(result, this.#mounts.watches.version(uri))
  }

  /** A prompt is named, a template given: both tell whose they are. */
  async #complete(params: JsonObject, call: Call<C>): Promise<ServiceResult> {
    const { table } = this.#mounts
    const ref = isJsonObject(params.ref) ? params.ref : {}
    const isPrompt = ref.type === 'ref/prompt'
    const target = isPrompt ? table.prompt(wordOf(ref, 'name')) : table.resource(wordOf(ref, 'uri'))
    const own = isPrompt ? { ...ref, name: target.name } : { ...ref, uri: target.name }
    const kind = isPrompt ? 'prompt' : 'resource'
    return this.#dispatch.complete({ kind, target, method: 'completion/complete', params: { ...params, ref: own }, call })
  }
}

const IDENTIFIED_BY = { tools: 'name', prompts: 'name', resources: 'uri', templates: 'uriTemplate' } as const

/** Who was away compares it with that of the last news. */
function withVersion(result: JsonObject | JsonText, version: number | undefined): JsonObject | JsonText {
  if (version === undefined) return result
  const more = { [VERSION_META]: version }
  if (result instanceof JsonText) return new JsonText(result.text, { ...result.meta, ...more })
  return { ...result, _meta: { ...(isJsonObject(result._meta) ? result._meta : {}), ...more } }
}

function wordOf(params: JsonObject, field: string): string {
  const word = params[field]
  if (typeof word !== 'string' || word === '') throw new RpcError('invalid_params', `${field} must be a string`, { field })
  return word
}
