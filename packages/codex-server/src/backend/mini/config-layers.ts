import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'
import { BackendError } from '@parley/codex/port'

/** Settings in the order in which they win over each other, the last one most. */
export interface ConfigLayer {
  readonly values: JsonObject
  /** `tables`: a file, laid into what is below. `keys`: single settings by dotted key, each in place of what is there. */
  readonly form: 'tables' | 'keys'
  /**
   * Whose they are: the person's own (the data folder's file, the command line), or somebody else's that count all the same
   * (a trusted folder, a client with its call). Those get nothing of the person's environment.
   */
  readonly isOwn: boolean
}

export interface LayeredConfig {
  readonly tree: JsonObject
  /** MCP servers that are not the person's own. */
  readonly foreignServers: ReadonlySet<string>
}

const KEY_PARTS_MAX = 16
const SERVERS = 'mcp_servers'
/** Where a server is. What was meant for one address must not go to another one. */
const PLACE = ['url', 'command', 'args', 'cwd', 'environment_id'] as const
/** What it is shown. */
const SHOWN = ['env', 'env_vars', 'bearer_token_env_var', 'http_headers', 'env_http_headers'] as const

/** Lays settings over each other. Throws `BackendError` for a key that names none. */
export function layered(layers: readonly ConfigLayer[]): LayeredConfig {
  let tree: JsonObject = {}
  const foreignServers = new Set<string>()
  for (const { values, form, isOwn } of layers) {
    const before = tableAt(tree, SERVERS)
    tree = form === 'tables' ? merged(tree, values) : withKeys(tree, values)
    const said = tableAt(form === 'tables' ? values : withKeys({}, values), SERVERS)
    const servers = { ...tableAt(tree, SERVERS) }
    for (const [name, entry] of Object.entries(said)) {
      if (isJsonObject(entry) && !saysWhere(before[name], entry, isOwn)) continue
      servers[name] = entry
      if (isOwn) foreignServers.delete(name)
      else foreignServers.add(name)
    }
    if (Object.keys(said).length > 0) tree = { ...tree, [SERVERS]: servers }
  }
  return { tree, foreignServers }
}

/**
 * Whether a layer says of a server where it is: then it says all of it, and nothing that a layer below gave this name, such as
 * a token, goes to another place. One that is not the person's own does so too where it changes what the server is shown.
 */
function saysWhere(before: JsonValue | undefined, entry: JsonObject, isOwn: boolean): boolean {
  if (!isJsonObject(before)) return true
  const isOther = (field: string): boolean => field in entry && JSON.stringify(entry[field]) !== JSON.stringify(before[field])
  return PLACE.some(isOther) || (!isOwn && SHOWN.some((field) => field in entry))
}

/** What stands above wins; tables are laid into each other. */
function merged(below: JsonObject, above: JsonObject): JsonObject {
  const both: JsonObject = { ...below }
  for (const [key, value] of Object.entries(above)) {
    const known = both[key]
    both[key] = isJsonObject(known) && isJsonObject(value) ? merged(known, value) : value
  }
  return both
}

function withKeys(tree: JsonObject, values: JsonObject): JsonObject {
  const changed: JsonObject = { ...tree }
  for (const [key, value] of Object.entries(values)) setByPath(changed, key, value)
  return changed
}

function tableAt(tree: JsonObject, key: string): JsonObject {
  const table = tree[key]
  return isJsonObject(table) ? table : {}
}

/** Sets what a dotted key names, making tables on the way. */
function setByPath(tree: JsonObject, key: string, value: JsonValue | undefined): void {
  const parts = key.split('.')
  const last = parts.pop()
  if (last === undefined || last === '' || parts.length > KEY_PARTS_MAX || [...parts, last].includes('__proto__'))
    throw new BackendError('invalid_request', `config: \`${key}\` names no setting`, { data: { param: 'config' } })
  let table = tree
  for (const part of parts) {
    const inner = table[part]
    const copy: JsonObject = isJsonObject(inner) ? { ...inner } : {}
    table[part] = copy
    table = copy
  }
  table[last] = value
}
