import { type McpServerEntry, McpServerEntry as EntrySchema } from './mcp-server-entry.ts'
import { type TomlPath, TomlEditError, addTable, parseToml, removeFrom } from './toml-edit.ts'
import type { TomlTable, TomlValue } from './toml-text.ts'

const TABLE = 'mcp_servers'
const pathOf = (name: string): TomlPath => [TABLE, name]

export interface NamedServer {
  readonly name: string
  readonly entry: McpServerEntry
}

export interface ServersOfFile {
  /** By name. */
  readonly servers: readonly NamedServer[]
  /** Entries that are not usable, each with what is wrong with it. */
  readonly problems: readonly string[]
}

/** All MCP servers of a configuration file. Throws `TomlEditError` when it is no TOML. */
export function readServers(text: string): ServersOfFile {
  const table = parseToml(text)[TABLE]
  if (table === undefined) return { servers: [], problems: [] }
  if (typeof table !== 'object' || table === null || Array.isArray(table))
    throw new TomlEditError(`${TABLE} must be a table of servers`)
  const servers: NamedServer[] = []
  const problems: string[] = []
  for (const [name, value] of Object.entries(table).toSorted(([left], [right]) => (left < right ? -1 : 1))) {
    const parsed = EntrySchema.safeParse(value)
    if (parsed.success) servers.push({ name, entry: parsed.data })
    else {
      const [first] = parsed.error.issues
      const where = [TABLE, name, ...(first?.path ?? [])].join('.')
      problems.push(`${where} ${first?.path.length === 0 ? (first.message ?? '') : `is wrong: ${first?.message ?? ''}`}`)
    }
  }
  return { servers, problems }
}

export const hasServer = (text: string, name: string): boolean => {
  const table = parseToml(text)[TABLE]
  return typeof table === 'object' && table !== null && Object.hasOwn(table, name)
}

/** Adds a server at the end, in place of one of the same name. */
export function withServer(text: string, name: string, entry: TomlTable): string {
  return addTable(removeFrom(text, pathOf(name)), pathOf(name), entry)
}

export const withoutServer = (text: string, name: string): string => removeFrom(text, pathOf(name))

/** The entry as it stands in a file, to be put into another. Throws `TomlEditError` for what we cannot write. */
export function rawServer(text: string, name: string): TomlTable {
  const table = parseToml(text)[TABLE]
  const entry: unknown =
    typeof table === 'object' && table !== null ? Object.entries(table).find(([key]) => key === name)?.[1] : undefined
  return writable(entry, `${TABLE}.${name}`)
}

function writable(value: unknown, where: string): TomlTable {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TomlEditError(`${where} must be a table`)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, writableValue(inner, `${where}.${key}`)]))
}

function writableValue(value: unknown, where: string): TomlValue {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  if (Array.isArray(value)) return value.map((item) => writableValue(item, where))
  if (value instanceof Date) throw new TomlEditError(`${where} is a date, which cannot be taken over`)
  return writable(value, where)
}
