import type { ChannelSeed, QuotaDefaults } from '@parley/models'
import { type ChannelSetting, kindOf } from './channel-setting.ts'
import type { Settings } from './setting.ts'

/** Where a key without a URL belongs. */
const OPENAI_URL = 'https://api.openai.com/v1'
/** The channel that `[model]` and its variables make. */
export const DEFAULT_CHANNEL = 'default'

type ModelSettings = Pick<Settings, 'channels' | 'modelBaseUrl' | 'modelApiKey' | 'modelWire' | 'models'>

/** The channels that the settings name, as a gateway takes them. */
export function channelSeedsOf(settings: ModelSettings): readonly ChannelSeed[] {
  return [...defaultChannel(settings), ...settings.channels.map(seedOf)]
}

/** Whether `[model]` or its variables make a channel. */
export const hasDefaultChannel = ({ modelBaseUrl, modelApiKey }: Pick<Settings, 'modelBaseUrl' | 'modelApiKey'>): boolean =>
  modelBaseUrl !== undefined || modelApiKey !== undefined

function defaultChannel(settings: ModelSettings): ChannelSeed[] {
  if (!hasDefaultChannel(settings)) return []
  const { modelBaseUrl = OPENAI_URL, modelApiKey, modelWire, models } = settings
  return [
    {
      name: DEFAULT_CHANNEL,
      kind: 'openai',
      baseUrl: withoutSlash(modelBaseUrl),
      ...(modelApiKey === undefined ? {} : { apiKey: modelApiKey }),
      wire: modelWire,
      enabled: true,
      models: models.map((model) => ({ model })),
      places: {
        key: 'PARLEY_MODEL_API_KEY or OPENAI_API_KEY (model.api_key in parley.toml)',
        baseUrl: 'PARLEY_MODEL_BASE_URL (model.base_url in parley.toml)',
      },
    },
  ]
}

function seedOf(channel: ChannelSetting): ChannelSeed {
  const { name, display_name, base_url, api_key, api_key_env, wire, models_path, script, enabled, models } = channel
  return {
    name,
    ...(display_name === undefined ? {} : { displayName: display_name }),
    kind: kindOf(channel),
    ...(base_url === undefined ? {} : { baseUrl: withoutSlash(base_url) }),
    ...(api_key === undefined ? {} : { apiKey: api_key }),
    wire,
    ...(models_path === undefined ? {} : { modelsPath: models_path }),
    ...(script === undefined ? {} : { script }),
    enabled,
    places: {
      key: api_key_env ?? `api_key of the [[channels]] ${name} in parley.toml`,
      baseUrl: `base_url of the [[channels]] ${name} in parley.toml`,
    },
    models: models.map(({ model, display_name: shown, context_tokens, ...prices }) => ({
      model,
      ...(shown === undefined ? {} : { displayName: shown }),
      ...(context_tokens === undefined ? {} : { contextTokens: context_tokens }),
      prices: definedOnly(prices),
    })),
  }
}

/** What everybody may use who has no bound of their own. */
export function quotaOf({
  quotaJobsAtOnce,
  quotaTokensPerDay,
  quotaMicrousdPerDay,
}: Pick<Settings, 'quotaJobsAtOnce' | 'quotaTokensPerDay' | 'quotaMicrousdPerDay'>): QuotaDefaults {
  return {
    ...(quotaJobsAtOnce === undefined ? {} : { jobsAtOnce: quotaJobsAtOnce }),
    ...(quotaTokensPerDay === undefined ? {} : { tokensPerDay: quotaTokensPerDay }),
    ...(quotaMicrousdPerDay === undefined ? {} : { microusdPerDay: quotaMicrousdPerDay }),
  }
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '')

type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }
function definedOnly<T extends object>(given: T): Defined<T>
function definedOnly(given: object): object {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}
