import { isJsonObject, type JsonObject, type JsonValue, RpcError, valuesIn } from '@parley/protocol'
import type { Client, ListKind } from '@parley/rpc'
import type { CompositorLimits } from '../compositor-limits.ts'
import { withoutPolicy } from '../shown/shown-result.ts'

/** What a server lists: templates are a list of their own, whose changes are told with those of the resources. */
export type Listed = ListKind | 'templates'

export const LISTED: readonly Listed[] = ['tools', 'prompts', 'resources', 'templates']

const METHODS = {
  tools: { method: 'tools/list', key: 'tools' },
  prompts: { method: 'prompts/list', key: 'prompts' },
  resources: { method: 'resources/list', key: 'resources' },
  templates: { method: 'resources/templates/list', key: 'resourceTemplates' },
} as const

export const methodOf = (kind: Listed): string => METHODS[kind].method
export const keyOf = (kind: Listed): string => METHODS[kind].key

/** The kind of change that concerns a list. */
export function changedWith(kind: Listed): ListKind {
  return kind === 'templates' ? 'resources' : kind
}

export interface FetchedList {
  readonly items: readonly JsonObject[]
  /** Why there is less than the server has. */
  readonly cut: string | undefined
  /** What it takes in memory, about. */
  readonly bytes: number
}

/** What a value takes beside its text, about: a list of small ones takes far more than it is long. */
const VALUE_BYTES = 32
const heldBytes = (list: readonly JsonValue[]): number => {
  const text = JSON.stringify(list)
  return text.length + VALUE_BYTES * valuesIn(text)
}

const NOTHING: FetchedList = { items: [], cut: undefined, bytes: 0 }

/** Asks a server for a whole list, as far as the limits go. What it does not offer it is not asked for. */
export async function fetchList(client: Client, kind: Listed, limits: CompositorLimits): Promise<FetchedList> {
  if (client.server.capabilities[changedWith(kind)] === undefined) return NOTHING
  const most = kind === 'tools' || kind === 'prompts' ? limits.toolsPerMount : limits.resourcesPerMount
  const { method, key } = METHODS[kind]
  const items: JsonObject[] = []
  let bytes = 0
  let cursor: string | undefined
  for (let page = 0; page < limits.listPages; page++) {
    const result = await client.request(method, cursor === undefined ? {} : { cursor })
    const found = result[key]
    if (!Array.isArray(found)) throw new RpcError('internal_error', `the answer to ${method} has no ${key}`)
    bytes += heldBytes(found)
    if (bytes > limits.listBytesPerMount)
      throw new RpcError(
        'internal_error',
        `it takes more than the ${limits.listBytesPerMount} bytes that listBytesPerMount allows`,
      )
    items.push(...found.filter(isJsonObject).map(withoutPolicy))
    if (items.length > most) return { items: items.slice(0, most), cut: `there are more than ${most} ${kind}`, bytes }
    if (typeof result.nextCursor !== 'string') return { items, cut: undefined, bytes }
    cursor = result.nextCursor
  }
  return { items, cut: `the list of ${kind} has more than ${limits.listPages} pages`, bytes }
}
