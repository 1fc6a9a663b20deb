import { isJsonObject, RpcError } from '@parley/protocol'
import { type Call, InputRequired, JsonText, type Link, type ListKind, type Service } from '../service.ts'

/** A service that does what a test tells it and shows what happened to it. */
export interface Probe {
  readonly service: Service
  /** Says that a resource changed, or a list. */
  change(uri: string): void
  changeList(kind: ListKind): void
  watchers(): number
  readonly links: Set<Link>
  readonly cancelled: string[]
  /** Lets the oldest call of `hold` go on. */
  release(): void
  readonly holding: () => number
}

export function openProbe(): Probe {
  const watching = new Map<string, Set<() => void>>()
  const listWatchers = new Set<(kind: ListKind) => void>()
  const held: (() => void)[] = []
  const cancelled: string[] = []
  const links = new Set<Link>()

  const tools: Record<string, (input: Record<string, unknown>, call: Call) => ReturnType<Service['call']>> = {
    echo: (input) => new JsonText(JSON.stringify({ content: [], structuredContent: input })),
    fail: () => {
      throw new TypeError('a secret detail of ours')
    },
    hold: (_input, call) =>
      new Promise((resolve) => {
        call.signal.addEventListener('abort', () => {
          cancelled.push(String(call.signal.reason))
          resolve({ content: [] })
        })
        held.push(() => resolve({ content: [{ type: 'text', text: 'released' }] }))
      }),
    count: async (input, call) => {
      for (let at = 1; at <= Number(input['to']); at += 1) {
        call.progress(at, Number(input['to']))
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      return { content: [] }
    },
    drop: async (_input, call) => {
      call.dropStream()
      await new Promise((resolve) => setTimeout(resolve, 20))
      return { content: [{ type: 'text', text: 'after the drop' }] }
    },
    flood: (input, call) => {
      const data = 'x'.repeat(Number(input['bytes']))
      for (let at = 0; at < Number(input['times']); at += 1) call.log('info', data)
      return { content: [] }
    },
    ask: (_input, call) => {
      const answer = call.answers?.['name']
      if (answer !== undefined) return { content: [{ type: 'text', text: JSON.stringify({ answer, state: call.state }) }] }
      const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } }
      return new InputRequired(
        { name: { method: 'elicitation/create', params: { message: 'Who?', requestedSchema } } },
        { step: 1 },
      )
    },
  }

  const service: Service = {
    info: { name: 'probe', version: '1', role: 'user' },
    capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, logging: {} },
    call: (method, params, call) => {
      if (method === 'tools/list') return { tools: [] }
      if (method === 'resources/read')
        throw new RpcError('resource_not_found_legacy', 'Resource not found', { uri: params['uri'] ?? null })
      const run = method === 'tools/call' ? tools[JSON.stringify(params['name']).slice(1, -1)] : undefined
      if (run === undefined) throw new RpcError('method_not_found', `Method not found: ${method}`)
      return run(isJsonObject(params['arguments']) ? params['arguments'] : {}, call)
    },
    watch: (uri, changed) => {
      if (uri.startsWith('test://forbidden')) throw new RpcError('invalid_params', 'no such resource', { uri })
      const listeners = watching.get(uri) ?? new Set()
      watching.set(uri, listeners.add(changed))
      return () => {
        listeners.delete(changed)
        if (listeners.size === 0) watching.delete(uri)
      }
    },
    watchLists: (changed) => {
      listWatchers.add(changed)
      return () => listWatchers.delete(changed)
    },
    opened: (link) => void links.add(link),
    closed: (link) => void links.delete(link),
  }
  return {
    service,
    change: (uri) => {
      for (const changed of watching.get(uri) ?? []) changed()
    },
    changeList: (kind) => {
      for (const changed of listWatchers) changed(kind)
    },
    watchers: () => [...watching.values()].reduce((sum, listeners) => sum + listeners.size, 0) + listWatchers.size,
    links,
    cancelled,
    release: () => held.shift()?.(),
    holding: () => held.length,
  }
}

/** Waits until something is so, at most a minute. */
export async function until(condition: () => boolean, what = 'the condition'): Promise<void> {
  for (let waited = 0; waited < 60_000; waited += 5) {
    if (condition()) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error(`${what} did not come true`)
}
