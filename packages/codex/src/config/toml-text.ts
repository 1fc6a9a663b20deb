/** What we write into a configuration file: no dates, no arrays of tables. */
export type TomlValue = string | number | boolean | readonly TomlValue[] | TomlTable
export interface TomlTable {
  readonly [key: string]: TomlValue
}

const BARE_KEY = /^[A-Za-z0-9_-]+$/

/** A dotted key: `mcp_servers."my.server"`. */
export const keyText = (path: readonly string[]): string =>
  path.map((key) => (BARE_KEY.test(key) ? key : stringText(key))).join('.')

/** A table with its header, sub-tables after it with headers of their own, as people write them. */
export function tableText(path: readonly string[], table: TomlTable): string {
  const entries = Object.entries(table)
  const plain = entries.flatMap(([key, value]) => (isTable(value) ? [] : [`${keyText([key])} = ${valueText(value)}\n`]))
  const below = entries.flatMap(([key, value]) => (isTable(value) ? [`\n${tableText([...path, key], value)}`] : []))
  return `[${keyText(path)}]\n${plain.join('')}${below.join('')}`
}

/** A value as it stands after `=`. */
export function valueText(value: TomlValue): string {
  if (typeof value === 'string') return stringText(value)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (isTable(value))
    return `{ ${Object.entries(value)
      .map(([key, inner]) => `${keyText([key])} = ${valueText(inner)}`)
      .join(', ')} }`
  return `[${value.map(valueText).join(', ')}]`
}

/** JSON's escapes are TOML's too, but for DEL, which TOML wants escaped. */
const stringText = (text: string): string => JSON.stringify(text).replaceAll('\u007F', String.raw`\u007F`)

const isTable = (value: TomlValue): value is TomlTable => typeof value === 'object' && !Array.isArray(value)
