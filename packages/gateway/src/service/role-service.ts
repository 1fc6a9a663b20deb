import {
  failureText,
  type GatewayCaller,
  inputBytes,
  lineOf,
  resourceOrNotFound,
  resourceOutOfScope,
  ResourceTable,
  runTool,
  type ServedResource,
  type ServedTool,
  structuredText,
  type ToolOutcome,
  toolOutOfScope,
  withinScopes,
} from '@parley/access'
import {
  type HeldScopes,
  type JsonObject,
  RpcError,
  ToolError,
  describeTool,
  isInScope,
  isJsonObject,
  readsOnly,
} from '@parley/protocol'
import { type Call, type Implementation, JsonText, type Service, type ServiceResult } from '@parley/rpc'
import { type KnownTask, offersTasks, TASKS_CAPABILITY } from '@parley/task'
import type { Logger } from 'pino'
import type { ToolCount } from '../metric/metrics.ts'
import type { World } from '../world.ts'
import type { InFlight } from './in-flight.ts'
import { KnownTasks } from './known-tasks.ts'
import { ListPages } from './list-pages.ts'

export interface RoleServiceOptions {
  readonly info: Implementation
  readonly instructions: string
  /** What the callers' tokens are limited to. Tools and resources beyond it are not listed, and refused with the scope that they need. */
  readonly scopes: HeldScopes
  readonly tools: readonly ServedTool<World>[]
  readonly resources: readonly ServedResource<World>[]
  readonly world: World
  readonly log: Logger
  /** Told of every call of a tool, on the hot path. */
  readonly count: ToolCount
  readonly inFlight: InFlight
}

const NAME_SHOWN_CHARS = 128

/** The server that one kind of caller sees, with one set of scopes. Everything that does not change is made once, what takes long when it is first asked for. */
export class RoleService implements Service<GatewayCaller> {
  readonly info: Implementation
  readonly instructions: string
  readonly capabilities: JsonObject
  readonly #scopes: HeldScopes
  readonly #tools: ReadonlyMap<string, ServedTool<World>>
  readonly #outside: ReadonlyMap<string, ServedTool<World>>
  /** Gateways start more often than somebody of each kind comes and asks. */
  #toolPages: ListPages | undefined
  readonly #inputBytes = new Map<string, number>()
  readonly #resources: ResourceTable<World>
  readonly #resourcePages: ListPages
  readonly #templatePages: ListPages
  readonly #world: World
  readonly #log: Logger
  readonly #count: ToolCount
  readonly #inFlight: InFlight
  readonly #tasks: KnownTasks

  constructor(options: RoleServiceOptions) {
    this.info = options.info
    this.instructions = options.instructions
    this.#scopes = options.scopes
    this.#tasks = new KnownTasks(options.tools, options.scopes, options.world)
    this.capabilities = {
      tools: {},
      ...(options.resources.length > 0 ? { resources: { subscribe: true } } : {}),
      ...(this.#tasks.isEmpty ? {} : TASKS_CAPABILITY),
    }
    this.#world = options.world
    this.#log = options.log
    this.#count = options.count
    this.#inFlight = options.inFlight
    const tools = options.tools.toSorted((a, b) => (a.spec.name < b.spec.name ? -1 : 1))
    const { outside = [], inside = [] } = Object.groupBy(tools, ({ spec }) =>
      isInScope(options.scopes, spec, readsOnly(spec)) ? 'inside' : 'outside',
    )
    this.#tools = new Map(inside.map((tool) => [tool.spec.name, tool]))
    this.#outside = new Map(outside.map((tool) => [tool.spec.name, tool]))
    this.#resources = new ResourceTable(options.resources)
    const shown = new ResourceTable(options.resources.filter(({ spec }) => isInScope(options.scopes, spec, true)))
    this.#resourcePages = new ListPages('resources', shown.listed)
    this.#templatePages = new ListPages('resourceTemplates', shown.templates)
  }

  call(method: string, params: JsonObject, call: Call<GatewayCaller>): ServiceResult | Promise<ServiceResult> {
    if (method === 'tools/call') return this.#callTool(params, call)
    pay(call.caller)
    switch (method) {
      case 'tools/list':
        this.#toolPages ??= new ListPages(
          'tools',
          [...this.#tools.values()].map(({ spec }) => describeTool(spec)),
        )
        return this.#toolPages.get(params)
      case 'resources/list':
        return this.#resourcePages.get(params)
      case 'resources/templates/list':
        return this.#templatePages.get(params)
      case 'resources/read':
        return this.#read(params, call.caller)
      default:
        throw new RpcError('method_not_found', `there is no method ${method.slice(0, NAME_SHOWN_CHARS)}`)
    }
  }

  /** A tool without a large argument needs no large request, and nothing but tools has arguments at all. */
  requestBytes(method: string, { name }: JsonObject): number {
    if (method !== 'tools/call' || typeof name !== 'string') return 0
    const known = this.#inputBytes.get(name)
    if (known !== undefined) return known
    const tool = this.#tools.get(name)
    if (tool === undefined) return 0
    const bytes = inputBytes(describeTool(tool.spec).inputSchema)
    this.#inputBytes.set(name, bytes)
    return bytes
  }

  watch(uri: string, changed: () => void, caller: GatewayCaller): (() => void) | Promise<() => void> {
    return this.#noted('resources/subscribe', uri, caller, ({ resource, id, part }) =>
      // Whoever announces a change says more than a subscriber is to hear.
      resource.watch({ caller: withinScopes(caller, 'read'), world: this.#world, id, part }, () => changed()),
    )
  }

  findTask(taskId: string, caller: GatewayCaller): Promise<KnownTask | undefined> {
    return this.#tasks.find(taskId, caller)
  }

  #callTool(params: JsonObject, call: Call<GatewayCaller>): ServiceResult | Promise<ServiceResult> {
    const { name, arguments: args = {} } = params
    if (typeof name !== 'string') throw new RpcError('invalid_params', 'name must be the name of a tool', { field: 'name' })
    if (!isJsonObject(args)) throw new RpcError('invalid_params', 'arguments must be an object', { field: 'arguments' })
    const { caller } = call
    if (!caller.meter.take()) {
      const hint = `try again in ${caller.meter.waitSeconds} s`
      return failureText(new ToolError('rate_limited', 'you make too many calls', { hint }))
    }
    const tool = this.#tools.get(name)
    if (tool === undefined) return this.#refused(name, caller)
    const as = withinScopes(caller, readsOnly(tool.spec) ? 'read' : 'change')
    const outcome = runTool(tool, args, { caller: as, call, world: this.#world }, this.#log)
    return outcome instanceof Promise ? this.#awaited(tool, outcome, call) : this.#answer(name, outcome)
  }

  async #awaited(
    { spec, task }: ServedTool<World>,
    outcome: Promise<ToolOutcome>,
    call: Call<GatewayCaller>,
  ): Promise<JsonObject | JsonText> {
    this.#inFlight.enter()
    try {
      const done = await outcome
      const answer = this.#answer(spec.name, done)
      if (task === undefined || done.kind === 'failed' || !takesTasks(call)) return answer
      const caller = withinScopes(call.caller, 'change')
      const begun = await task.find(task.idOf(done.result), { caller, call, world: this.#world })
      return begun === undefined ? answer : { ...begun.view(), resultType: 'task' }
    } finally {
      this.#inFlight.leave()
    }
  }

  #answer(name: string, outcome: ToolOutcome): JsonText {
    this.#count(name, outcome.kind === 'done' ? 'ok' : outcome.error.code)
    if (outcome.kind === 'failed') return failureText(outcome.error)
    return new JsonText(structuredText(outcome.result))
  }

  /** Who may call a tool by their account learns which scope their token lacks; a tool of another role is unknown. */
  #refused(name: string, caller: GatewayCaller): JsonText {
    const tool = this.#outside.get(name)
    if (tool === undefined) return this.#unknownTool(name, caller)
    const error = toolOutOfScope(tool.spec, caller)
    this.#world.audit.note(lineOf(caller, name, { at: this.#world.now(), outcome: 'denied', code: error.code }))
    return this.#answer(name, { kind: 'failed', error })
  }

  /** A tool of another role is as unknown as one that does not exist: nobody learns what others may do. */
  #unknownTool(name: string, caller: GatewayCaller): never {
    const shown = name.slice(0, NAME_SHOWN_CHARS)
    this.#world.audit.note(
      lineOf(caller, 'tools/call', { at: this.#world.now(), outcome: 'denied', code: 'unknown_tool', target: shown }),
    )
    throw new RpcError('invalid_params', `unknown tool: ${shown}`)
  }

  #read(params: JsonObject, caller: GatewayCaller): ServiceResult | Promise<ServiceResult> {
    const { uri } = params
    if (typeof uri !== 'string') throw new RpcError('invalid_params', 'uri must be the URI of a resource', { field: 'uri' })
    return this.#noted('resources/read', uri, caller, ({ resource, id, part }) => {
      const contents = (value: string | object): JsonObject => ({
        contents: [{ uri, mimeType: resource.spec.mimeType, text: typeof value === 'string' ? value : JSON.stringify(value) }],
      })
      const value = resource.read({ caller: withinScopes(caller, 'read'), world: this.#world, id, part })
      return value instanceof Promise ? value.then(contents) : contents(value)
    })
  }

  /** Looks into a resource for somebody and writes down that they did, or tried. */
  #noted<Value>(
    action: string,
    uri: string,
    caller: GatewayCaller,
    look: (found: ReturnType<ResourceTable<World>['find']>) => Value | Promise<Value>,
  ): Value | Promise<Value> {
    const { audit, now } = this.#world
    const target = uri.slice(0, NAME_SHOWN_CHARS)
    const passed = (value: Value): Value => {
      audit.note(lineOf(caller, action, { at: now(), outcome: 'ok', target }))
      return value
    }
    const failed = (error: unknown): never => {
      const code = error instanceof RpcError ? 'not_found' : error instanceof ToolError ? error.code : 'internal'
      audit.note(lineOf(caller, action, { at: now(), outcome: code === 'not_found' ? 'denied' : 'failed', target, code }))
      throw error
    }
    try {
      const found = this.#resources.find(uri)
      const { spec } = found.resource
      if (!isInScope(this.#scopes, spec, true)) throw resourceOutOfScope(uri, spec, caller)
      const value = look(found)
      return value instanceof Promise ? resourceOrNotFound(uri, value).then(passed, failed) : passed(value)
    } catch (error) {
      return failed(error)
    }
  }
}

const takesTasks = ({ era, client }: Call): boolean => era === 'modern' && offersTasks(client.capabilities)

/** Each call costs the person who makes it; one too many is refused. */
function pay({ meter }: GatewayCaller): void {
  if (!meter.take()) throw new RpcError('overloaded', 'you make too many calls; slow down')
}
