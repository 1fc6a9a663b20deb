import type { TomlDocument } from './toml-edit.ts'
import type { TomlTable } from './toml-text.ts'

/** Something about a configuration that will not work, or may not. */
export interface ConfigFinding {
  readonly level: 'error' | 'warning'
  /** Where in the file. */
  readonly key: string
  readonly message: string
  readonly hint: string
}

export interface ProviderCheck {
  readonly findings: readonly ConfigFinding[]
  /** What Codex would use. */
  readonly model: string | null
  readonly provider: string
  readonly wire: string | null
  /** Left out where nothing is to be repaired, or nobody knows how. */
  readonly repair?: ProviderRepair
}

/**
 * `profile`: a provider that works, beside the one that cannot, and a profile that uses it. `in-place`: a Codex that
 * knows no `chat` any more does not even read a file with that word in it, so a new profile alone would change nothing.
 */
export type ProviderRepair =
  | {
      readonly kind: 'profile'
      readonly providerId: string
      readonly provider: TomlTable
      readonly model: string | null
      readonly reason: string
    }
  | { readonly kind: 'in-place'; readonly providers: readonly string[]; readonly reason: string }

export interface CheckedConfig {
  readonly document: TomlDocument
  /** Whether a variable is set and not empty. Its value is never asked for. */
  readonly isSet: (variable: string) => boolean
  /** Left out: the newest. */
  readonly version?: { readonly major: number; readonly minor: number }
  /** Instead of the `profile` of the file. */
  readonly profile?: string
}

const WIRES = ['responses', 'chat']
/** Providers that Codex has by itself: a table of the same name in the file is not looked at. */
const BUILT_IN = ['openai', 'oss', 'ollama', 'lmstudio']
/** Since then only the Responses API is spoken. */
const CHAT_GONE_MINOR = 95
/** Since then a profile is a file, and a line that names one stops Codex. */
const PROFILE_LINE_GONE_MINOR = 147
/** What Codex adds to an address by itself. */
const METHOD_NAME = /\/(responses|chat\/completions)\/?$/
const REPAIR_ID = 'parley-responses'
/** Models that are served over one wire alone; others may be over either. */
const ONE_WIRE: readonly (readonly [RegExp, 'responses' | 'chat'])[] = [
  [/^(gpt-5.*-codex|codex-|o[134](-|$)|gpt-5-pro)/, 'responses'],
  [/^(gpt-3\.5|gpt-4(-|$)|claude-|gemini-)/, 'chat'],
]

type Find = (level: ConfigFinding['level'], key: string, message: string, hint: string) => void

/** Looks over what Codex would talk to, without talking to it. */
export function checkProvider(config: CheckedConfig): ProviderCheck {
  const { document } = config
  const findings: ConfigFinding[] = []
  const find: Find = (level, key, message, hint) => void findings.push({ level, key, message, hint })
  const profile = checkTop(config, find)
  const model = textOf(profile, 'model') ?? textOf(document, 'model') ?? null
  const provider = textOf(profile, 'model_provider') ?? textOf(document, 'model_provider') ?? 'openai'
  const providers = tableOf(document, 'model_providers') ?? {}
  const chatting = checkProviders(providers, config, find)
  const inPlace: ProviderRepair = {
    kind: 'in-place',
    providers: chatting,
    reason: 'Codex speaks only the Responses API since 0.95',
  }
  const table = BUILT_IN.includes(provider) ? undefined : tableOf(providers, provider)
  const found = { findings, model, provider, wire: textOf(table, 'wire_api') ?? null }
  if (table === undefined) {
    if (!BUILT_IN.includes(provider))
      find(
        'error',
        'model_provider',
        `names ${provider}, and there is no [model_providers.${provider}]`,
        `there is: ${Object.keys(providers).join(', ') || 'none'}`,
      )
    return chatting.length === 0 ? found : { ...found, repair: inPlace }
  }
  const at = (key: string): string => `model_providers.${provider}.${key}`
  checkReach(table, at, config, find)
  if (chatting.length > 0) return { ...found, repair: inPlace }
  const reason = checkWire(found.wire, model, at('wire_api'), find)
  if (reason === undefined) return found
  return { ...found, repair: { kind: 'profile', providerId: freeId(providers), provider: repaired(table), model, reason } }
}

/** What stands at the top of the file; answers the profile that holds. */
function checkTop({ document, profile: asked, version }: CheckedConfig, find: Find): TomlDocument | undefined {
  for (const key of ['model', 'model_provider', 'approval_policy', 'sandbox_mode']) {
    if (document[key] !== undefined && typeof document[key] !== 'string')
      find('error', key, 'must be text in quotes', `${key} = "…"`)
  }
  if (textOf(document, 'approval_policy') === 'never' && textOf(document, 'sandbox_mode') === 'read-only')
    find(
      'warning',
      'approval_policy',
      'is never, and sandbox_mode read-only: nothing can be changed, and nobody is asked',
      'sandbox_mode = "workspace-write"',
    )
  const line = textOf(document, 'profile')
  const stops = line !== undefined && !isBefore(version, PROFILE_LINE_GONE_MINOR)
  if (stops)
    find(
      'error',
      'profile',
      `names ${line}, and Codex does not start with such a line since 0.${PROFILE_LINE_GONE_MINOR}`,
      `take it out, put the settings into ${line}.config.toml, and name it: codex --profile ${line}`,
    )
  const name = asked ?? line
  const profile = name === undefined ? undefined : tableOf(tableOf(document, 'profiles'), name)
  if (name !== undefined && profile === undefined && !stops)
    find('error', 'profile', `names ${name}, and there is no [profiles.${name}]`, 'add it, or name another')
  return profile
}

/** All of them are read by Codex, also those that are not used. Answers those whose wire this Codex does not know any more. */
function checkProviders(providers: TomlDocument, { version }: CheckedConfig, find: Find): readonly string[] {
  for (const name of BUILT_IN) {
    if (Object.hasOwn(providers, name))
      find(
        'warning',
        `model_providers.${name}`,
        'is built in, so this table is not looked at',
        'give it another name, and name that in model_provider',
      )
  }
  if (isBefore(version, CHAT_GONE_MINOR)) return []
  const chatting = Object.keys(providers).filter((name) => textOf(tableOf(providers, name), 'wire_api') === 'chat')
  for (const name of chatting)
    find(
      'error',
      `model_providers.${name}.wire_api`,
      'is chat, and with that word in it Codex has not read the file since 0.95',
      'parley doctor --codex-config --yes makes it responses; its server must speak the Responses API',
    )
  return chatting
}

/** Answers why the wire cannot carry the model, where another can. */
function checkWire(wire: string | null, model: string | null, key: string, find: Find): string | undefined {
  const fix = 'wire_api = "responses"'
  if (wire === null) find('warning', key, 'is missing: old versions take chat, new ones responses', fix)
  else if (!WIRES.includes(wire)) find('error', key, `must be one of: ${WIRES.join(', ')}`, fix)
  const needed = model === null ? undefined : ONE_WIRE.find(([name]) => name.test(model))?.[1]
  if (wire === 'responses' && needed === 'chat')
    find('warning', key, `${model} is served over Chat Completions as a rule`, 'ask its provider for the Responses API')
  if (wire !== 'chat' || needed !== 'responses') return undefined
  const reason = `${model} is served over the Responses API alone`
  find(
    'error',
    key,
    `is chat, and ${reason}: requests end in 405 or 404`,
    'parley doctor --codex-config --yes writes one that works',
  )
  return reason
}

function checkReach(table: TomlDocument, at: (key: string) => string, { isSet }: CheckedConfig, find: Find): void {
  const base = textOf(table, 'base_url')
  const url = base === undefined ? null : URL.parse(base)
  const fix = 'base_url = "https://…/v1"'
  if (base === undefined) find('error', at('base_url'), 'is missing', fix)
  else if (url === null || !/^https?:$/.test(url.protocol)) find('error', at('base_url'), 'is no http or https address', fix)
  else if (METHOD_NAME.test(url.pathname)) {
    const rest = base.replace(METHOD_NAME, '')
    find('warning', at('base_url'), 'ends with the name of a method, which Codex adds by itself', `base_url = "${rest}"`)
  }
  const variable = table['env_key']
  if (variable !== undefined && typeof variable !== 'string')
    find('error', at('env_key'), 'must be the name of a variable', 'env_key = "MY_API_KEY"')
  else if (variable !== undefined && !isSet(variable))
    find('error', at('env_key'), `names ${variable}, which is not set or empty`, `export ${variable}=…`)
}

function repaired(table: TomlDocument): TomlTable {
  const plain = Object.entries(table).flatMap(([key, value]): [string, string | number | boolean][] => {
    if (key === 'base_url' && typeof value === 'string') return [[key, value.replace(METHOD_NAME, '')]]
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? [[key, value]] : []
  })
  const below = Object.entries(table).flatMap(([key, value]): [string, TomlTable][] => {
    const inner = isTable(value)
      ? Object.entries(value).filter((pair): pair is [string, string] => typeof pair[1] === 'string')
      : []
    return inner.length === 0 ? [] : [[key, Object.fromEntries(inner)]]
  })
  return { ...Object.fromEntries(plain), wire_api: 'responses', ...Object.fromEntries(below) }
}

function freeId(providers: TomlDocument): string {
  for (let number = 1; ; number++) {
    const id = number === 1 ? REPAIR_ID : `${REPAIR_ID}-${number}`
    if (!Object.hasOwn(providers, id)) return id
  }
}

const isBefore = (version: CheckedConfig['version'], minor: number): boolean =>
  version !== undefined && version.major === 0 && version.minor < minor
const isTable = (value: unknown): value is TomlDocument => typeof value === 'object' && value !== null && !Array.isArray(value)
const textOf = (table: TomlDocument | undefined, key: string): string | undefined => {
  const value = table?.[key]
  return typeof value === 'string' ? value : undefined
}
const tableOf = (table: TomlDocument | undefined, key: string): TomlDocument | undefined => {
  const value = table?.[key]
  return isTable(value) ? value : undefined
}
