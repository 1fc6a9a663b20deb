import { isAbsolute, resolve } from 'node:path'
import { isJsonObject, type JsonObject, type JsonValue } from '@parley/protocol'
import { TOOL_PARAMS } from '@parley/contracts/params'
import type { DialectFacts } from './dialect-facts.ts'
import type { OpenOrder } from '@parley/codex/port'

/** What was asked for, or why it cannot be read, in the words of the old server. */
export type Read<T> = { readonly ok: T } | { readonly fault: string }

export interface CodexArguments {
  readonly prompt: string
  readonly order: OpenOrder
}
export interface ReplyArguments {
  readonly prompt: string
  readonly threadId: string
}

const SANDBOXES = ['read-only', 'workspace-write', 'danger-full-access'] as const
const POLICIES = ['untrusted', 'on-failure', 'on-request', 'never'] as const
const STRINGS = ['prompt', 'model', 'profile', 'cwd', 'base-instructions', 'developer-instructions', 'compact-prompt'] as const
const KNOWN: ReadonlySet<string> = new Set([...STRINGS, 'approval-policy', 'sandbox', 'config', 'include-plan-tool'])
const EXPECTED =
  '`prompt`, `model`, `cwd`, `approval-policy`, `sandbox`, `config`, `base-instructions`, `developer-instructions`, `compact-prompt`'
/** Hexadecimal and dashes, with or without the prefix: what the old one's parser took. */
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i

export interface Reading {
  readonly dialect: DialectFacts
  /** Where a relative path begins. */
  readonly folder: string
  readonly defaults: OpenOrder
}

export function readCodexArguments(args: JsonObject | undefined, reading: Reading): Read<CodexArguments> {
  if (args === undefined) return { fault: 'Missing arguments for codex tool-call; the `prompt` field is required.' }
  const fault = faultIn(args, reading.dialect)
  if (fault !== undefined) return { fault: `Failed to parse configuration for Codex tool: ${fault}` }
  const { prompt = '', model, profile, cwd, ...instructions } = stringsIn(args)
  const { 'base-instructions': base, 'developer-instructions': developer, 'compact-prompt': compactPrompt } = instructions
  const { defaults, folder } = reading
  const config = isJsonObject(args['config']) ? { ...defaults.config, ...args['config'] } : defaults.config
  const approvalPolicy = POLICIES.find((word) => word === args['approval-policy'])
  const sandbox = SANDBOXES.find((word) => word === args['sandbox'])
  const planTool = args['include-plan-tool']
  const order: OpenOrder = {
    ...defaults,
    folder: cwd === undefined ? (defaults.folder ?? folder) : isAbsolute(cwd) ? cwd : resolve(folder, cwd),
    ...(model === undefined ? {} : { model }),
    ...(profile === undefined ? {} : { profile }),
    ...(approvalPolicy === undefined ? {} : { approvalPolicy }),
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(config === undefined ? {} : { config }),
    ...(base === undefined ? {} : { baseInstructions: base }),
    ...(developer === undefined ? {} : { developerInstructions: developer }),
    ...(compactPrompt === undefined ? {} : { compactPrompt }),
    ...(typeof planTool === 'boolean' ? { planTool } : {}),
  }
  return { ok: { prompt, order } }
}

export function readReplyArguments(args: JsonObject | undefined, dialect: DialectFacts): Read<ReplyArguments> {
  const { idName: name, missingId } = dialect
  if (args === undefined)
    return { fault: `Missing arguments for codex-reply tool-call; the \`${name}\` and \`prompt\` fields are required.` }
  const { prompt, threadId, conversationId } = args
  const field = [threadId, conversationId].find((id) => id !== undefined && id !== null)
  for (const value of [prompt, field]) {
    if (value !== undefined && typeof value !== 'string')
      return { fault: `Failed to parse configuration for Codex tool: ${wrongType(value, 'a string', dialect)}` }
  }
  if (typeof prompt !== 'string') return { fault: 'Failed to parse configuration for Codex tool: missing field `prompt`' }
  if (typeof field !== 'string') return { fault: missingId }
  const id = field.startsWith('urn:uuid:') ? field.slice('urn:uuid:'.length) : field
  return UUID.test(id) ? { ok: { prompt, threadId: id } } : { fault: `Failed to parse ${name}: ${uuidFault(field)}` }
}

/** Arguments of other versions: they are taken, and whoever reads the log should know. */
export function foreignArguments(tool: string, args: JsonObject, dialect: DialectFacts): readonly string[] {
  return TOOL_PARAMS.flatMap((row) => {
    const isGiven =
      row.tool === tool && args[row.param] !== undefined && (row.value === undefined || args[row.param] === row.value)
    return isGiven && dialect.isForeign(row)
      ? [row.value === undefined ? `'${row.param}'` : `'${row.param}' = '${row.value}'`]
      : []
  })
}

function faultIn(args: JsonObject, dialect: DialectFacts): string | undefined {
  for (const [key, value] of Object.entries(args)) {
    const unknown = KNOWN.has(key) ? undefined : dialect.unknownField(key, EXPECTED)
    if (unknown !== undefined) return unknown
    if (value === undefined || value === null) continue
    const fault = valueFault(key, value, dialect)
    if (fault !== undefined) return fault
  }
  return typeof args['prompt'] === 'string' ? undefined : 'missing field `prompt`'
}

function valueFault(key: string, value: JsonValue, dialect: DialectFacts): string | undefined {
  if (STRINGS.some((name) => name === key)) return typeof value === 'string' ? undefined : wrongType(value, 'a string', dialect)
  if (key === 'config') return isJsonObject(value) ? undefined : wrongType(value, 'a map', dialect)
  if (key === 'include-plan-tool') return typeof value === 'boolean' ? undefined : wrongType(value, 'a boolean', dialect)
  const words = key === 'sandbox' ? SANDBOXES : key === 'approval-policy' ? POLICIES : undefined
  if (words === undefined) return undefined
  if (typeof value !== 'string') return wrongType(value, 'a string', dialect)
  const list = words.map((word) => `\`${word}\``).join(', ')
  return words.some((word) => word === value) ? undefined : `unknown variant \`${value}\`, expected one of ${list}`
}

function wrongType(value: JsonValue, expected: string, dialect: DialectFacts): string {
  return `invalid type: ${typeWords(value, dialect)}, expected ${expected}`
}

function typeWords(value: JsonValue, dialect: DialectFacts): string {
  if (value === null) return 'null'
  if (typeof value === 'number') return dialect.numberWords(value)
  if (typeof value === 'boolean') return `boolean \`${value}\``
  if (typeof value === 'string') return `string ${JSON.stringify(value)}`
  return Array.isArray(value) ? 'sequence' : 'map'
}

function uuidFault(id: string): string {
  const at = id.search(/[^0-9a-fA-F-]/)
  if (at === -1) return `invalid length: expected length 32 for simple format, found ${id.length}`
  return `invalid character: expected an optional prefix of \`urn:uuid:\` followed by [0-9a-fA-F-], found \`${String.fromCodePoint(id.codePointAt(at) ?? 0)}\` at ${at + 1}`
}

function stringsIn(args: JsonObject): Partial<Record<(typeof STRINGS)[number], string>> {
  return Object.fromEntries(STRINGS.flatMap((name) => (typeof args[name] === 'string' ? [[name, args[name]]] : [])))
}
