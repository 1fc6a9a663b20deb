import { ChannelKind, ChannelName, ModelName, ModelPrices, ModelWire } from '@parley/protocol'
import * as z from 'zod'
import type { SettingProblem } from './load.ts'

const Text = z.string({ error: 'must be text' }).min(1, 'must not be empty')
const HttpUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
const SCRIPT_NAME = /^[a-z0-9][a-z0-9-]{0,63}$/
const CONTEXT_TOKENS = { min: 1_000, max: 100_000_000 }

/** One `[[channels.models]]`: a model by name, with its prices in micro-USD per million tokens. */
const ModelSetting = z.strictObject({
  model: ModelName,
  display_name: Text.optional(),
  context_tokens: z.int('must be a whole number').min(CONTEXT_TOKENS.min).max(CONTEXT_TOKENS.max).optional(),
  ...ModelPrices.partial().shape,
})

/** One `[[channels]]`: a way to models. The key may stand in a variable instead, so that the file holds no secret. */
export const ChannelSetting = z
  .strictObject({
    name: ChannelName,
    display_name: Text.optional(),
    kind: ChannelKind.optional(),
    base_url: HttpUrl.optional(),
    api_key: Text.optional(),
    api_key_env: Text.optional(),
    wire: ModelWire.default('responses'),
    models_path: z.string().startsWith('/', 'must begin with a slash').optional(),
    script: z.string().regex(SCRIPT_NAME, 'must be the name of a script: small letters, digits and hyphens').optional(),
    enabled: z.boolean({ error: 'must be true or false' }).default(true),
    models: z.array(ModelSetting).default([]),
  })
  .superRefine((channel, context) => {
    const wrong = (key: string, message: string): void => context.addIssue({ code: 'custom', path: [key], message })
    const isScript = kindOf(channel) === 'script'
    if (isScript && channel.script === undefined) wrong('script', 'is missing: a channel of kind script plays one')
    if (!isScript && channel.script !== undefined) wrong('script', 'is for channels of kind script alone')
    if (!isScript && channel.base_url === undefined) wrong('base_url', 'is missing: where the models are')
    if (channel.api_key !== undefined && channel.api_key_env !== undefined) wrong('api_key_env', 'and api_key exclude each other')
  })
export type ChannelSetting = z.infer<typeof ChannelSetting>

/** What a channel is, whether it says so or not. */
export const kindOf = ({ kind, script }: Pick<ChannelSetting, 'kind' | 'script'>): ChannelKind =>
  kind ?? (script === undefined ? 'openai' : 'script')

/** The channels with the keys that stand in variables, and what is wrong with them together. Without an environment none may. */
export function resolveChannels(
  channels: readonly ChannelSetting[],
  env: Readonly<Record<string, string | undefined>> | undefined,
): { readonly channels: readonly ChannelSetting[]; readonly problems: readonly SettingProblem[] } {
  const problems: SettingProblem[] = []
  const seen = new Set<string>()
  const resolved = channels.map((channel, index) => {
    const wrong = (key: string, message: string): void =>
      void problems.push({ key: `channels[${index}].${key}`, message, level: 'error' })
    if (seen.has(channel.name)) wrong('name', `${channel.name} is there already: each channel has a name of its own`)
    seen.add(channel.name)
    const models = channel.models.map(({ model }) => model)
    const twice = models.find((model, at) => models.indexOf(model) !== at)
    if (twice !== undefined) wrong('models', `has ${twice} twice`)
    if (channel.api_key_env === undefined) return channel
    if (env === undefined) {
      wrong('api_key_env', "is for your own settings: a folder's file gets no variables")
      return channel
    }
    const key = env[channel.api_key_env]
    if (key !== undefined && key !== '') return { ...channel, api_key: key }
    wrong('api_key_env', `names ${channel.api_key_env}, which is not set`)
    return channel
  })
  return { channels: resolved, problems }
}

/** For people: everything but the keys. */
export const maskChannels = (channels: readonly ChannelSetting[]): readonly object[] =>
  channels.map((channel) => ({ ...channel, ...(channel.api_key === undefined ? {} : { api_key: '***' }) }))
