import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type * as z from 'zod'
import { type TomlTable, type TomlValue, parse as parseToml } from 'smol-toml'
import { CommandError } from '../command-line/command-error.ts'
import { readGiven } from '../command-line/given-file.ts'
import { suggest } from '../command-line/suggest.ts'
import { resolveChannels } from './channel-setting.ts'
import { DEFAULT_CHANNEL, hasDefaultChannel } from './gateway-models.ts'
import { OTHER_VARIABLES, SETTINGS, type SettingName, type SettingSpec, type Settings, isSettingName } from './setting.ts'

/** Where a value came from, for whoever wonders why it is what it is. */
export type Source = 'flag' | 'default' | `env ${string}` | `file ${string}`

export interface Problem {
  /** As it is written where it came from: `PARLEY_PORT`, `port` of parley.toml. */
  readonly key: string
  readonly message: string
  readonly level: 'error' | 'warning'
}

export interface Loaded {
  /** Undefined when there is an error among the problems. */
  readonly settings: Settings | undefined
  readonly values: Readonly<Partial<Record<SettingName, { readonly value: unknown; readonly source: Source }>>>
  readonly problems: readonly Problem[]
  readonly file: string | undefined
}

export interface LoadOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** `--config`; it must exist. */
  readonly configFile?: string | undefined
  readonly flags?: Readonly<Partial<Record<SettingName, string | boolean | undefined>>>
}

const DEFAULT_FILE = 'parley.toml'
const FILE_BYTES = 16 * 1024 * 1024

/** Reads flags, environment and file, in this order of precedence, and checks all of it before it says anything. */
export function loadSettings(options: LoadOptions): Loaded {
  const problems: Problem[] = []
  const found = findFile(options)
  const file = flatten(found === undefined ? {} : readToml(found, options, problems))
  const values: Partial<Record<SettingName, { value: unknown; source: Source }>> = {}
  for (const [name, spec] of Object.entries<SettingSpec>(SETTINGS)) {
    if (!isSettingName(name)) continue
    const raw = rawValue(name, spec, options, file, found)
    const checked = spec.schema.safeParse(raw.value)
    if (checked.success) values[name] = { value: checked.data, source: raw.source }
    else problems.push(...problemsOf(raw.key, checked.error))
  }
  problems.push(...strangers(file, options.env, found))
  if (problems.every(({ level }) => level === 'warning')) problems.push(...contradictions(values))
  const plain = Object.fromEntries(Object.entries(values).map(([name, { value }]) => [name, value]))
  const whole = isWhole(plain) ? withModels(plain, options, problems) : undefined
  const isGood = problems.every(({ level }) => level === 'warning')
  return { settings: isGood ? whole : undefined, values, problems, file: found }
}

/** The settings, or an error that names the first wrong key. */
export function requireSettings(options: LoadOptions): Settings {
  const { settings, problems } = loadSettings(options)
  if (settings !== undefined) return settings
  const errors = problems.filter(({ level }) => level === 'error')
  const [first] = errors
  const more = errors.length > 1 ? `, and ${errors.length - 1} more` : ''
  throw new CommandError('config_invalid', `${first?.key} ${first?.message}${more}`, {
    hint: 'parley config check shows everything',
    // What was typed is wrong usage; what stands in a file or in the environment is a setting.
    ...(first?.key.startsWith('--') === true ? { exitCode: 2 } : {}),
  })
}

function rawValue(
  name: SettingName,
  spec: SettingSpec,
  { env, flags }: LoadOptions,
  file: ReadonlyMap<string, unknown>,
  path: string | undefined,
): { value: unknown; source: Source; key: string } {
  const flag = flags?.[name]
  if (flag !== undefined) return { value: flag, source: 'flag', key: `--${spec.flag ?? spec.key}` }
  // An empty variable is an unset one: that is how compose files and shells leave things out.
  const variable = spec.env.find((candidate) => env[candidate] !== undefined && env[candidate] !== '')
  if (variable !== undefined) return { value: env[variable], source: `env ${variable}`, key: variable }
  if (file.has(spec.key)) return { value: file.get(spec.key), source: `file ${path}`, key: spec.key }
  return { value: spec.fallback?.(env), source: 'default', key: spec.key }
}

function findFile({ env, cwd, configFile }: LoadOptions): string | undefined {
  const named = configFile ?? env['PARLEY_CONFIG']
  if (named !== undefined && named !== '') return resolve(cwd, named)
  const usual = resolve(cwd, DEFAULT_FILE)
  try {
    return statSync(usual).isFile() ? usual : undefined
  } catch {
    return undefined
  }
}

function readToml(path: string, { configFile, cwd }: LoadOptions, problems: Problem[]): TomlTable {
  const what = configFile === undefined ? 'settings file' : '--config'
  try {
    return parseToml(readGiven({ what, file: path, cwd }, FILE_BYTES).toString('utf8'))
  } catch (error) {
    const text = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
    const said = text.replace(`${what} ${path}`, '').replace(/^: /, '').trim()
    problems.push({ key: `${what} ${path}`, message: `cannot be read: ${said}`, level: 'error' })
    return {}
  }
}

function flatten(table: TomlTable, prefix = ''): Map<string, unknown> {
  const flat = new Map<string, unknown>()
  for (const [key, value] of Object.entries(table)) {
    if (isTable(value)) for (const [inner, deep] of flatten(value, `${prefix}${key}.`)) flat.set(inner, deep)
    else flat.set(`${prefix}${key}`, value)
  }
  return flat
}

function isTable(value: TomlValue): value is TomlTable {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date)
}

/** What nobody reads is a typing mistake: an error in our own file, a warning in an environment that is not ours alone. */
function strangers(file: ReadonlyMap<string, unknown>, env: LoadOptions['env'], path: string | undefined): Problem[] {
  const keys = Object.values<SettingSpec>(SETTINGS).map(({ key }) => key)
  const variables = [...Object.values<SettingSpec>(SETTINGS).flatMap((spec) => spec.env), ...OTHER_VARIABLES]
  const meant = (word: string, known: readonly string[]): string => {
    const near = suggest(word, known)
    return near === undefined ? '' : `; did you mean ${near}?`
  }
  return [
    ...[...file.keys()]
      .filter((key) => !keys.includes(key))
      .map((key): Problem => ({ key, message: `is no setting (${path})${meant(key, keys)}`, level: 'error' })),
    ...Object.keys(env)
      .filter((name) => name.startsWith('PARLEY_') && !variables.includes(name))
      .map((name): Problem => ({ key: name, message: `is not read by anything${meant(name, variables)}`, level: 'warning' })),
  ]
}

/** Settings that are fine by themselves and wrong together. */
function contradictions(values: Loaded['values']): Problem[] {
  const has = (name: SettingName): boolean => values[name]?.value !== undefined
  const problems: Problem[] = []
  if (has('tlsCert') !== has('tlsKey')) {
    problems.push({
      key: has('tlsCert') ? 'tls_key' : 'tls_cert',
      message: 'is missing: certificate and key go together',
      level: 'error',
    })
  }
  if (has('jwksUrl')) {
    for (const name of ['jwksIssuer', 'jwksAudience'] as const) {
      if (!has(name)) problems.push({ key: SETTINGS[name].key, message: 'is missing: jwks.url needs it', level: 'error' })
    }
  }
  return problems
}

/** The keys of channels that stand in variables are read here, once; what is wrong with channels together is told. */
function withModels(settings: Settings, { env }: LoadOptions, problems: Problem[]): Settings {
  const { channels, problems: more } = resolveChannels(settings.channels, env)
  problems.push(...more)
  const taken = hasDefaultChannel(settings) ? channels.findIndex(({ name }) => name === DEFAULT_CHANNEL) : -1
  if (taken >= 0) {
    const message = `${DEFAULT_CHANNEL} is what model.base_url and model.api_key make: choose another`
    problems.push({ key: `channels[${taken}].name`, message, level: 'error' })
  }
  if (settings.models.length > 0 && !hasDefaultChannel(settings))
    problems.push({
      key: SETTINGS.models.key,
      message: 'has no effect without model.base_url or model.api_key',
      level: 'warning',
    })
  return { ...settings, channels: [...channels] }
}

/** What a schema says about a value, each at its own key. */
function problemsOf(key: string, { issues }: z.ZodError): Problem[] {
  return issues.flatMap((issue): Problem[] => {
    const at = [key, ...issue.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))].join('')
    if (issue.code !== 'unrecognized_keys') return [{ key: at, message: issue.message, level: 'error' }]
    return issue.keys.map((name): Problem => ({ key: `${at}.${name}`, message: 'is no setting', level: 'error' }))
  })
}

/** Every value has passed its own schema by now; together they are the settings when none is left out. */
function isWhole(plain: object): plain is Settings {
  return Object.keys(SETTINGS).every((name) => Object.hasOwn(plain, name))
}
