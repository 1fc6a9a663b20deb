import type * as z from 'zod'
import {
  COMPOSITOR_TOOL_LIMITS,
  COMPOSITOR_TOOLS,
  describeTool,
  isJsonObject,
  type JsonObject,
  parseJson,
  RPC_CODES,
  RpcError,
  ToolError,
} from '@parley/protocol'
import { type Call, type Caller, InputRequired, JsonText, type ServiceResult } from '@parley/rpc'
import type { BackgroundDispatch } from './background-dispatch.ts'
import type { Catalogue, Catalogued } from '../catalogue.ts'
import type { CompositorLimits } from '../compositor-limits.ts'
import type { MountDispatch, MountRequest } from '../mount-dispatch.ts'
import { pageOf } from '../list/list-page.ts'
import type { MountTable } from '../mount-table.ts'
import type { ChatDesk, LoopDesk, PolicyDesk } from '../ports.ts'
import type { OwnResources } from '../own-resources.ts'
import type { OwnSubscriptions } from '../own-subscriptions.ts'
import { readContent, type ResourceContent } from '../shown/resource-content.ts'
import { type ResourceWindow, versionChanged, windowOf } from './read-window.ts'
import { argumentFault, toolAnswer, toolFailure } from './tool-answer.ts'
import { searchTools } from './tool-search.ts'
import type { WindowCache } from './window-cache.ts'

type ToolName = keyof typeof COMPOSITOR_TOOLS
type Input<Name extends ToolName> = z.output<(typeof COMPOSITOR_TOOLS)[Name]['input']>

const OF_THE_LOOP = 'loop_'

export interface BuiltInToolsParts<C extends Caller> {
  readonly table: MountTable<C>
  readonly catalogue: Catalogue<C>
  readonly dispatch: MountDispatch<C>
  readonly resources: OwnResources
  readonly subscriptions: OwnSubscriptions<C>
  readonly windows: WindowCache
  readonly limits: CompositorLimits
  readonly hasSearch: boolean
  readonly policy: PolicyDesk<C> | undefined
  readonly chat: ChatDesk | undefined
  readonly loop: LoopDesk | undefined
  readonly background: BackgroundDispatch<C> | undefined
  readonly isEngine: (caller: C) => boolean
}

/**
 * The compositor's own tools. Those that list, and those that look at policies or wish for others, need no leave; what is read and watched
 * passes the gate as any other reading.
 */
export class BuiltInTools<C extends Caller> {
  readonly #parts: BuiltInToolsParts<C>
  readonly #descriptions: readonly { readonly name: ToolName; readonly description: JsonObject }[]

  constructor(parts: BuiltInToolsParts<C>) {
    this.#parts = parts
    this.#descriptions = Object.values(COMPOSITOR_TOOLS)
      .filter(({ name }) => this.has(name))
      .map((spec) => ({
        name: spec.name,
        description: { ...describeTool(spec), annotations: { ...spec.annotations } },
      }))
  }

  /** Those that are for this caller. */
  descriptions(caller: C): readonly JsonObject[] {
    return this.#descriptions.filter(({ name }) => this.#isFor(name, caller)).map(({ description }) => description)
  }

  has(name: string): name is ToolName {
    if (name === 'tools_search') return this.#parts.hasSearch
    if (name.startsWith('policy_') && this.#parts.policy === undefined) return false
    if (name.startsWith('chat_') && this.#parts.chat === undefined) return false
    if (name === 'loop_yield') return this.#parts.loop !== undefined
    if (name.startsWith(OF_THE_LOOP) && this.#parts.background === undefined) return false
    return Object.hasOwn(COMPOSITOR_TOOLS, name)
  }

  async call(name: ToolName, args: JsonObject, call: Call<C>): Promise<ServiceResult> {
    try {
      if (!this.#isFor(name, call.caller))
        throw new ToolError('forbidden', `${name} is for the agent’s own engine alone`, {
          hint: 'a person prompts the agent with agent.prompt, and ends its turn with agent.abort',
        })
      const result = await this.#run(name, args, call)
      return result instanceof InputRequired ? result : toolAnswer(result)
    } catch (error) {
      return toolFailure(asToolError(error))
    }
  }

  /** What goes on beside a turn, or ends it, is for who takes it. */
  #isFor(name: string, caller: C): boolean {
    return !name.startsWith(OF_THE_LOOP) || this.#parts.isEngine(caller)
  }

  #run(name: ToolName, args: JsonObject, call: Call<C>): Promise<object> {
    switch (name) {
      case 'resources_list':
        return this.#list(read(name, args), call)
      case 'resources_templates':
        return this.#templates(read(name, args), call)
      case 'resources_read':
        return this.#read(read(name, args), call)
      case 'resources_subscribe':
        return this.#subscribe(read(name, args), call)
      case 'resources_unsubscribe':
        return this.#unsubscribe(read(name, args))
      case 'tools_search':
        return this.#search(read(name, args), call)
      case 'chat_post':
        return this.#chat.post(read(name, args))
      case 'chat_read_since':
        return this.#chat.readSince(read(name, args), call.signal)
      case 'loop_call':
        return this.#callInBackground(read(name, args), call)
      case 'loop_calls':
        return this.#background.list().then((calls) => ({ calls }))
      case 'loop_cancel':
        return this.#cancel(read(name, args))
      case 'loop_result':
        return this.#result(read(name, args))
      case 'loop_yield':
        return this.#loop.yield(read(name, args))
      case 'policy_get':
        return this.#policy.get()
      case 'policy_check':
        return Promise.resolve(this.#policy.check(read(name, args), call.caller))
      case 'policy_propose':
        return this.#policy.propose(read(name, args))
      case 'policy_withdraw':
        return this.#policy.withdraw(read(name, args))
      default:
        return name satisfies never
    }
  }

  get #chat(): ChatDesk {
    const { chat } = this.#parts
    if (chat === undefined) throw new TypeError('a tool of the chat was called where there is none')
    return chat
  }

  get #loop(): LoopDesk {
    const { loop } = this.#parts
    if (loop === undefined) throw new TypeError('a tool of the loop was called where no turns are taken')
    return loop
  }

  get #background(): BackgroundDispatch<C> {
    const { background } = this.#parts
    if (background === undefined) throw new TypeError('a background call was made where there are none')
    return background
  }

  async #callInBackground({ tool, arguments: given }: Input<'loop_call'>, { caller }: Call<C>): Promise<JsonObject> {
    if (this.has(tool))
      throw new ToolError('invalid_argument', `tool: ${tool} is no tool of a mount and answers at once; call it itself`, {
        field: 'tool',
      })
    const { call_id, uri, state } = await this.#background.begin(tool, given, caller)
    return { call_id, uri, state }
  }

  async #cancel({ call_id }: Input<'loop_cancel'>): Promise<JsonObject> {
    return { call_id, cancelling: await this.#background.cancel(call_id) }
  }

  #result({ call_id: id, offset, max_bytes: maxBytes }: Input<'loop_result'>): Promise<object> {
    return this.#background.result(id, { offset, maxBytes })
  }

  get #policy(): PolicyDesk<C> {
    const { policy } = this.#parts
    if (policy === undefined) throw new TypeError('a tool about policies was called where none decides')
    return policy
  }

  async #list({ mount, uri_prefix = '', cursor }: Input<'resources_list'>, { era }: Call<C>): Promise<JsonObject> {
    const own: readonly JsonObject[] =
      mount === undefined ? this.#parts.resources.list().map((item) => ({ ...item, mount: null })) : []
    const found = this.#ofMount(await this.#parts.catalogue.list('resources', era), mount)
    const all = [...own, ...found].filter(({ uri }) => typeof uri === 'string' && uri.startsWith(uri_prefix))
    const { items, nextCursor } = pageOf(all, 'uri', cursor, this.#parts.limits.toolPageItems)
    return { resources: [...items], next_cursor: nextCursor ?? null }
  }

  async #templates({ mount }: Input<'resources_templates'>, { era }: Call<C>): Promise<JsonObject> {
    return { templates: this.#ofMount(await this.#parts.catalogue.list('templates', era), mount) }
  }

  async #search({ query, limit }: Input<'tools_search'>, { era }: Call<C>): Promise<JsonObject> {
    const tools = await this.#parts.catalogue.list('tools', era)
    const found = searchTools(
      tools.map(({ mount, item }) => ({ mount, tool: item })),
      query,
    )
    const shown = found.slice(0, limit ?? COMPOSITOR_TOOL_LIMITS.searchResults.default)
    return { tools: shown.map(({ mount, tool }) => ({ ...tool, mount })), more: found.length - shown.length }
  }

  async #read(wish: Input<'resources_read'>, call: Call<C>): Promise<ResourceWindow | InputRequired> {
    const { uri, version, part = 0, offset = 0, max_bytes: maxBytes = COMPOSITOR_TOOL_LIMITS.windowBytes.default } = wish
    const content = await this.#content(uri, version, call)
    if (content instanceof InputRequired) return content
    if (version !== undefined && content.version !== version) throw versionChanged(uri)
    return windowOf(content, { part, offset, maxBytes })
  }

  /** Leave is asked for each window; the server is asked once for all windows of a version. */
  async #content(uri: string, version: string | undefined, call: Call<C>): Promise<ResourceContent | InputRequired> {
    const own = this.#parts.resources.read(uri)
    if (own !== undefined) return readContent(own)
    const { background } = this.#parts
    if (background?.has(uri) === true) return readContent(await background.read(uri))
    const { dispatch, windows } = this.#parts
    const request = this.#reading(uri, call)
    const { mount, name } = request.target
    // What a server answered one caller, it need not answer another.
    const key = JSON.stringify([mount.generation, name, call.caller.key])
    const kept = version === undefined ? undefined : windows.get(key)
    if (kept !== undefined && kept.version === version) {
      const allowed = await dispatch.allow(request)
      allowed.returned({})
      return kept
    }
    const result = await dispatch.call(request)
    if (result instanceof InputRequired) return result
    const content = readContent(objectOf(result))
    windows.put(key, content)
    return content
  }

  async #subscribe({ uri }: Input<'resources_subscribe'>, call: Call<C>): Promise<JsonObject> {
    const { dispatch, resources, subscriptions } = this.#parts
    if (resources.has(uri) || this.#parts.background?.has(uri) === true)
      throw new ToolError('invalid_argument', `uri: ${uri} is watched by clients themselves`, { field: 'uri' })
    const allowed = await dispatch.allow(this.#reading(uri, call))
    await subscriptions.add(uri, call.caller).catch((error: unknown) => {
      allowed.failed(error)
      throw error
    })
    const entry = subscriptions.entry(uri)
    allowed.returned({})
    return entry
  }

  async #unsubscribe({ uri }: Input<'resources_unsubscribe'>): Promise<JsonObject> {
    return { uri, removed: await this.#parts.subscriptions.remove(uri) }
  }

  #reading(uri: string, call: Call<C>): MountRequest<C> {
    const target = this.#parts.table.resource(uri)
    return { kind: 'resource', target, method: 'resources/read', params: { uri: target.name }, call }
  }

  #ofMount(entries: readonly Catalogued[], wanted: string | undefined): JsonObject[] {
    if (wanted !== undefined && this.#parts.table.get(wanted) === undefined)
      throw new ToolError('not_found', `there is no mount ${wanted}`, { field: 'mount', hint: 'compositor://mounts lists them' })
    return entries.filter(({ mount }) => wanted === undefined || mount === wanted).map(({ mount, item }) => ({ ...item, mount }))
  }
}

function read<Name extends ToolName>(name: Name, args: JsonObject): Input<Name>
function read(name: ToolName, args: JsonObject): object {
  const parsed = COMPOSITOR_TOOLS[name].input.safeParse(args)
  if (!parsed.success) throw argumentFault(parsed.error.issues)
  return parsed.data
}

function objectOf(result: JsonObject | JsonText): JsonObject {
  if (!(result instanceof JsonText)) return result
  const parsed = parseJson(result.text)
  return isJsonObject(parsed) ? parsed : {}
}

const MISSING: ReadonlySet<number> = new Set([RPC_CODES.invalid_params, RPC_CODES.resource_not_found_legacy])
const FAILED: ReadonlySet<number> = new Set([RPC_CODES.internal_error, RPC_CODES.method_not_found])

/** What a server says of a resource is the tool's failure; what the gate says, and what the protocol needs, stays what it is. */
function asToolError(error: unknown): unknown {
  if (!(error instanceof RpcError)) return error
  if (MISSING.has(error.code))
    return new ToolError('not_found', error.message, { hint: 'list the resources with resources_list', cause: error })
  return FAILED.has(error.code) ? new ToolError('unavailable', error.message, { cause: error }) : error
}
