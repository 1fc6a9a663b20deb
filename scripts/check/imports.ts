import { parseSync } from 'vite'

/** One mention of another module, or of something global that has an owner. */
export interface Reach {
  readonly kind: 'import' | 'global'
  /** The specifier as written, or `process.env` and the like. */
  readonly what: string
  /** Types are gone at run time: they can reach a room, they cannot do harm. */
  readonly typeOnly: boolean
  /** The names taken by a plain `import { … }`; undefined when it may be all of them. */
  readonly names: readonly string[] | undefined
  readonly line: number
}

/** Stands for the name of a module that only the running program knows. */
export const COMPUTED = '(computed)'

/** Everything that one file reaches for: imports of every form, and members of `process`. */
export function reaches(path: string, source: string): readonly Reach[] {
  const parsed = parseSync(path, source)
  const lineAt = (offset: number): number => source.slice(0, offset).split('\n').length
  const found: Reach[] = []
  const add: Add = (kind, what, typeOnly, offset, names) => {
    found.push({ kind, what, typeOnly, names, line: lineAt(offset) })
  }
  for (const { moduleRequest, entries, start } of parsed.module.staticImports) {
    const names = entries.filter((entry) => !entry.isType).map((entry) => entry.importName.name ?? '*')
    add('import', moduleRequest.value, entries.length > 0 && names.length === 0, start, names.length === 0 ? undefined : names)
  }
  for (const { entries, start } of parsed.module.staticExports) {
    const from = entries.find((entry) => entry.moduleRequest !== null)?.moduleRequest
    if (from)
      add(
        'import',
        from.value,
        entries.every((entry) => entry.isType),
        start,
      )
  }
  walk(parsed.program, (node) => inspect(node, add))
  return found
}

type Add = (kind: Reach['kind'], what: string, typeOnly: boolean, offset: number, names?: readonly string[]) => void
type Node = Readonly<Record<string, unknown>>

/** The forms that the module record does not list: `import()`, `require()`, `import('x').T` in types, members of `process`. */
function inspect(node: Node, add: Add): void {
  const offset = typeof node['start'] === 'number' ? node['start'] : 0
  switch (node['type']) {
    case 'ImportExpression':
      add('import', literal(node['source']) ?? COMPUTED, false, offset)
      break
    case 'TSImportType':
      add('import', literal(node['source']) ?? literal(node['argument']) ?? COMPUTED, true, offset)
      break
    case 'CallExpression':
      if (isIdentifier(node['callee'], 'require')) add('import', literal(first(node['arguments'])) ?? COMPUTED, false, offset)
      break
    case 'MemberExpression':
      if (isIdentifier(node['object'], 'process')) add('global', `process.${nameOf(node['property'])}`, false, offset)
      break
    case 'VariableDeclarator':
      if (isIdentifier(node['init'], 'process'))
        for (const name of keysOf(node['id'])) add('global', `process.${name}`, false, offset)
      break
    default:
  }
}

function walk(value: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) walk(item, visit)
    return
  }
  if (!isNode(value)) return
  visit(value)
  for (const child of Object.values(value)) if (typeof child === 'object') walk(child, visit)
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value
const isIdentifier = (value: unknown, name: string): boolean =>
  isNode(value) && value['type'] === 'Identifier' && value['name'] === name
const first = (value: unknown): unknown => (Array.isArray(value) ? value[0] : undefined)

function literal(value: unknown): string | undefined {
  if (!isNode(value)) return undefined
  if (value['type'] === 'TSLiteralType') return literal(value['literal'])
  return typeof value['value'] === 'string' ? value['value'] : undefined
}
function nameOf(value: unknown): string {
  if (!isNode(value)) return '?'
  return typeof value['name'] === 'string' ? value['name'] : (literal(value) ?? '?')
}
function keysOf(pattern: unknown): readonly string[] {
  if (!isNode(pattern) || !Array.isArray(pattern['properties'])) return []
  return pattern['properties'].map((property: unknown) => (isNode(property) ? nameOf(property['key']) : '?'))
}
