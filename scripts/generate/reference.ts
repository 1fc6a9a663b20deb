import {
  type Audience,
  type JsonObject,
  type JsonValue,
  type NotificationSpec,
  RPC_CODES,
  RPC_CODE_MEANINGS,
  type ResourceSpec,
  type Scoped,
  TOOL_ERROR_META,
  TOOL_ERROR_MEANINGS,
  type ToolAnnotations,
  type ToolSpec,
  describeTool,
  isJsonObject,
  readsOnly,
  scopesFor,
} from '@parley/protocol'

/** The Markdown reference: everything that another program can hold on to, on one page. */
export function reference({
  tools,
  statusTools,
  compositorTools,
  resources,
  notifications,
  documents,
}: {
  readonly tools: readonly ToolSpec[]
  readonly statusTools: readonly ToolSpec[]
  readonly compositorTools: readonly ToolSpec[]
  readonly resources: readonly ResourceSpec[]
  readonly notifications: readonly NotificationSpec[]
  readonly documents: readonly { readonly name: string; readonly doc: string }[]
}): string {
  return (
    [
      '# Protocol reference',
      'Made from `packages/protocol` by `npm run generate`; do not edit. JSON Schemas of every tool are in [`tools/`](tools).',
      '## Tools',
      'A result carries `structuredContent` that fits the output schema, and the same as text. A failed call has `isError`, the text ' +
        `\`code: message\`, and \`_meta["${TOOL_ERROR_META}"]\` with \`code\`, \`message\`, and where they help \`field\` and \`hint\`.`,
      'A user’s token that was made with scopes is let in where one of them stands; where none does, only sign-ins and tokens without scopes are.',
      table(
        ['tool', 'for', 'scopes', 'kind', 'does'],
        tools.map((spec) => [
          link(spec.name),
          spec.roles.join(', '),
          scopesOf(spec, readsOnly(spec)),
          kind(spec.annotations),
          spec.doc,
        ]),
      ),
      ...tools.map(toolSection),
      '## Tools of the status server',
      'What an engine finds under the mount `realmoi-status`: `parley status-server` on stdio. They reach the judge at work on the job.',
      ...statusTools.map(toolSection),
      '## Tools of a compositor',
      'What an agent finds besides the tools of its mounts. `tools_search` is there where it was asked for.',
      ...compositorTools.map(toolSection),
      '## Resources',
      'Subscribe, get `notifications/resources/updated`, read again. Only subscribers are told.',
      table(
        ['URI', 'for', 'scopes', 'type', 'what'],
        resources.map((spec) => [`\`${spec.uri}\``, spec.roles.join(', '), scopesOf(spec, true), spec.mimeType, spec.doc]),
      ),
      '## Notifications',
      table(
        ['method', 'params', 'what'],
        notifications.map((spec) => [`\`${spec.method}\``, Object.keys(spec.params.shape).join(', '), spec.doc]),
      ),
      '## Documents',
      table(
        ['document', 'what'],
        documents.map(({ name, doc }) => [`[\`${name}\`](documents/${name}.schema.json)`, doc]),
      ),
      '## Errors of tools',
      table(
        ['code', 'what it means'],
        Object.entries(TOOL_ERROR_MEANINGS).map(([code, text]) => [`\`${code}\``, text]),
      ),
      '## JSON-RPC errors',
      table(
        ['code', 'name', 'what it means'],
        namedCodes().map(([name, code, text]) => [String(code), `\`${name}\``, text]),
      ),
    ].join('\n\n') + '\n'
  )
}

/** The scopes of a person's token, of which one is enough. Tokens of workers have none. */
const scopesOf = (spec: Scoped & { readonly roles: readonly Audience[] }, reads: boolean): string =>
  spec.roles.some((role) => role === 'user' || role === 'admin') ? scopesFor(spec, reads).join(', ') : ''

function toolSection(spec: ToolSpec): string {
  const { name, inputSchema, outputSchema } = describeTool(spec)
  return [
    `### ${name}`,
    spec.doc,
    `For ${spec.roles.join(', ')}. Schemas: [arguments](tools/${name}.input.schema.json), [result](tools/${name}.output.schema.json).`,
    fields('argument', 'needed', inputSchema),
    fields('result', 'always there', outputSchema),
  ].join('\n\n')
}

function fields(title: string, presence: string, schema: JsonObject): string {
  const properties = isJsonObject(schema['properties']) ? Object.entries(schema['properties']) : []
  if (properties.length === 0) return `No ${title}s.`
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const rows = properties.map(([name, value]) => [`\`${name}\``, shape(value ?? null), required.includes(name) ? 'yes' : ''])
  return table([title, 'type', presence], rows)
}

/** A schema in a few words: `integer 1–500, default 100`. */
function shape(schema: JsonValue): string {
  if (!isJsonObject(schema)) return 'any'
  const any = schema['anyOf']
  if (Array.isArray(any)) return any.map(shape).join(' or ')
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value) => `\`${plain(value)}\``).join(', ')
  const items = schema['items']
  if (schema['type'] === 'array' && items !== undefined) return `list of ${shape(items)}`
  const properties = schema['properties']
  if (isJsonObject(properties)) return `object (${Object.keys(properties).join(', ')})`
  const type = Array.isArray(schema['type']) ? schema['type'].map(plain).join(' or ') : plain(schema['type'] ?? 'any')
  return [`${type}${bounds(schema)}`, ...extras(schema)].join(', ')
}

const plain = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value))

function bounds(schema: JsonObject): string {
  const low = schema['minimum'] ?? schema['minLength']
  const high = schema['maximum'] ?? schema['maxLength']
  const unit = 'minLength' in schema || 'maxLength' in schema ? ' characters' : ''
  if (low === undefined && high === undefined) return ''
  if (high === undefined) return ` from ${plain(low ?? null)}`
  return low === undefined ? ` up to ${plain(high ?? null)}${unit}` : ` ${plain(low ?? null)} to ${plain(high ?? null)}${unit}`
}

function extras(schema: JsonObject): readonly string[] {
  const found: string[] = []
  if (typeof schema['format'] === 'string') found.push(schema['format'])
  if (typeof schema['pattern'] === 'string') found.push(`\`${schema['pattern'].replaceAll('|', '\\|')}\``)
  if (schema['default'] !== undefined) found.push(`default \`${JSON.stringify(schema['default'])}\``)
  return found
}

function kind({ readOnlyHint, destructiveHint, idempotentHint, openWorldHint }: ToolAnnotations): string {
  const words = [readOnlyHint ? 'reads' : destructiveHint ? 'ends something' : 'changes']
  if (!readOnlyHint) words.push(idempotentHint ? 'safe to repeat' : 'not to be repeated')
  if (openWorldHint) words.push('reaches outside')
  return words.join(', ')
}

function namedCodes(): readonly (readonly [name: string, code: number, meaning: string])[] {
  const meanings: Readonly<Record<string, string>> = RPC_CODE_MEANINGS
  return Object.entries(RPC_CODES).map(([name, code]) => [name, code, meanings[name] ?? ''] as const)
}

const link = (name: string): string => `[\`${name}\`](#${name.replaceAll(/[^a-z0-9_-]/g, '')})`

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
