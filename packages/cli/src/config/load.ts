import { dirname } from 'node:path'
import { CommandError, suggest } from '@parley/command-line'
import type * as z from 'zod'
import { folderTrust } from '../trust/folder-trust.ts'
import { resolveChannels } from './channel-setting.ts'
import { DEFAULT_CHANNEL, hasDefaultChannel } from './gateway-models.ts'
import { type SettingsLayer, settingsLayers, unreadSettings } from './settings-layers.ts'
import { OTHER_VARIABLES, SETTINGS, type SettingName, type Settings, isSettingName } from './setting.ts'
import type { SettingSpec } from './setting-spec.ts'

/** Where a value came from, for whoever wonders why it is what it is. */
export type SettingSource = 'flag' | 'default' | `env ${string}` | `file ${string}`

export interface SettingProblem {
  /** As it is written where it came from: `PARLEY_PORT`, `port` of parley.toml. */
  readonly key: string
  readonly message: string
  readonly level: 'error' | 'warning'
}

export interface Loaded {
  /** Undefined when there is an error among the problems. */
  readonly settings: Settings | undefined
  readonly values: Readonly<Partial<Record<SettingName, { readonly value: unknown; readonly source: SettingSource }>>>
  readonly problems: readonly SettingProblem[]
  /** Those of the problems that every command tells, because something that lies there does not count. */
  readonly notices: readonly SettingProblem[]
  /** The settings file that wins, where there is one. */
  readonly file: string | undefined
  /** All settings files that were read. */
  readonly files: readonly string[]
}

export interface LoadOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** `--config`; it must exist. Null: no file is read, whatever lies anywhere. */
  readonly configFile?: string | null | undefined
  readonly flags?: Readonly<Partial<Record<SettingName, string | boolean | undefined>>>
}

/** Reads flags, environment and files, in this order of precedence, and checks all of it before it says anything. */
export function loadSettings(options: LoadOptions): Loaded {
  const problems: SettingProblem[] = []
  const trust = folderTrust(options)
  const layers = settingsLayers(options, trust, problems)
  const values: Partial<Record<SettingName, { value: unknown; source: SettingSource }>> = {}
  for (const [name, spec] of Object.entries<SettingSpec>(SETTINGS)) {
    if (!isSettingName(name)) continue
    const raw = rawValue(name, spec, options, layers)
    const checked = spec.schema.safeParse(raw.value)
    if (checked.success) values[name] = { value: checked.data, source: raw.source }
    else problems.push(...problemsOf(raw.key, checked.error))
  }
  const dataDir = values.dataDir?.value
  const notices = [...keyOfElsewhere(values), ...unreadSettings(options, trust, typeof dataDir === 'string' ? dataDir : '')]
  problems.push(...strangers(layers, options.env), ...notices)
  if (problems.every(({ level }) => level === 'warning')) problems.push(...contradictions(values))
  const plain = Object.fromEntries(Object.entries(values).map(([name, { value }]) => [name, value]))
  const whole = isWhole(plain) ? withModels(plain, options, { layers, source: values.channels?.source, problems }) : undefined
  const isGood = problems.every(({ level }) => level === 'warning')
  return {
    settings: isGood ? whole : undefined,
    values,
    problems,
    notices,
    file: layers[0]?.path,
    files: layers.map(({ path }) => path),
  }
}

/**
 * A key goes to the address that came with it, or to the provider's own: whoever can set the one alone must not get the other.
 * One from elsewhere is taken out.
 */
function keyOfElsewhere(values: Partial<Record<SettingName, { value: unknown; source: SettingSource }>>): SettingProblem[] {
  const { modelBaseUrl: address, modelApiKey: key } = values
  if (address?.value === undefined || key?.value === undefined || originOf(address.source) === originOf(key.source)) return []
  values.modelApiKey = { value: undefined, source: 'default' }
  const message = `(${key.source}) is not sent to ${SETTINGS.modelBaseUrl.key} (${address.source}): a key goes to the address that came with it. Set both in one place`
  return [{ key: SETTINGS.modelApiKey.key, message, level: 'warning' }]
}

/** All variables are one origin, each file is one of its own. */
const originOf = (source: SettingSource): string => (source.startsWith('env ') ? 'env' : source)

/** The settings, or an error that names the first wrong key. `tell` hears what does not count. */
export function requireSettings(options: LoadOptions, tell?: (loaded: Loaded) => void): Settings {
  return readSettings(options, tell).settings
}

export interface ReadSettings {
  readonly settings: Settings
  readonly files: readonly string[]
}

/** The same, with the files that were read for them. */
export function readSettings(options: LoadOptions, tell: (loaded: Loaded) => void = () => {}): ReadSettings {
  const loaded = loadSettings(options)
  tell(loaded)
  const { settings, problems, files } = loaded
  if (settings !== undefined) return { settings, files }
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
  layers: readonly SettingsLayer[],
): { value: unknown; source: SettingSource; key: string } {
  const flag = flags?.[name]
  if (flag !== undefined) return { value: flag, source: 'flag', key: `--${spec.flag ?? spec.key}` }
  // An empty variable is an unset one: that is how compose files and shells leave things out.
  const variable = spec.env.find((candidate) => env[candidate] !== undefined && env[candidate] !== '')
  if (variable !== undefined) return { value: env[variable], source: `env ${variable}`, key: variable }
  const layer = layers.find(({ values }) => values.has(spec.key))
  if (layer === undefined) return { value: spec.fallback?.(env), source: 'default', key: spec.key }
  const given = layer.values.get(spec.key)
  // A path in a file means the same whatever folder we are called in.
  const value = spec.fromFile === undefined || typeof given !== 'string' ? given : spec.fromFile(given, dirname(layer.path))
  return { value, source: `file ${layer.path}`, key: spec.key }
}

/** What nobody reads is a typing mistake: an error in our own file, a warning in an environment that is not ours alone. */
function strangers(layers: readonly SettingsLayer[], env: LoadOptions['env']): SettingProblem[] {
  const keys = Object.values<SettingSpec>(SETTINGS).map(({ key }) => key)
  const variables = [...Object.values<SettingSpec>(SETTINGS).flatMap((spec) => spec.env), ...OTHER_VARIABLES]
  const meant = (word: string, known: readonly string[]): string => {
    const near = suggest(word, known)
    return near === undefined ? '' : `; did you mean ${near}?`
  }
  return [
    ...layers.flatMap(({ path, values }) =>
      [...values.keys()]
        .filter((key) => !keys.includes(key))
        .map((key): SettingProblem => ({ key, message: `is no setting (${path})${meant(key, keys)}`, level: 'error' })),
    ),
    ...Object.keys(env)
      .filter((name) => name.startsWith('PARLEY_') && !variables.includes(name))
      .map((name): SettingProblem => ({
        key: name,
        message: `is not read by anything${meant(name, variables)}`,
        level: 'warning',
      })),
  ]
}

/** Settings that are fine by themselves and wrong together. */
function contradictions(values: Loaded['values']): SettingProblem[] {
  const has = (name: SettingName): boolean => values[name]?.value !== undefined
  const problems: SettingProblem[] = []
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

interface ChannelOrigin {
  readonly layers: readonly SettingsLayer[]
  readonly source: SettingSource | undefined
  readonly problems: SettingProblem[]
}

/** The keys of channels that stand in variables are read here, once; what is wrong with channels together is told. */
function withModels(settings: Settings, { env }: LoadOptions, { layers, source, problems }: ChannelOrigin): Settings {
  // A folder that is trusted may say where models are; which of the person's keys go there it may not.
  const isOfFolder = layers.some((layer) => layer.isOfFolder && source === `file ${layer.path}`)
  const { channels, problems: more } = resolveChannels(settings.channels, isOfFolder ? undefined : env)
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
function problemsOf(key: string, { issues }: z.ZodError): SettingProblem[] {
  return issues.flatMap((issue): SettingProblem[] => {
    const at = [key, ...issue.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))].join('')
    if (issue.code !== 'unrecognized_keys') return [{ key: at, message: issue.message, level: 'error' }]
    return issue.keys.map((name): SettingProblem => ({ key: `${at}.${name}`, message: 'is no setting', level: 'error' }))
  })
}

/** Every value has passed its own schema by now; together they are the settings when none is left out. */
function isWhole(plain: object): plain is Settings {
  return Object.keys(SETTINGS).every((name) => Object.hasOwn(plain, name))
}
