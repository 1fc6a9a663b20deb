import { isDeepStrictEqual } from 'node:util'
import { type ChannelKind, ChannelName, ModelName, ModelPrices, type ModelWire, NO_PRICES } from '@parley/protocol'
import type { ChannelRecord, ModelRecord, Store } from '@parley/store'
import type { Logger } from 'pino'
import { type Sealer, maskKey } from '../secret/seal.ts'
import { channelTarget, modelName, modelTarget } from './change-lines.ts'
import { changedPrices } from './changed-prices.ts'
import { channelFault } from './channel-fault.ts'
import type { ChannelPlaces } from './directory.ts'
import { tidyBaseUrl } from './upstream-url.ts'

/** A channel as the settings name it. */
export interface ChannelSeed {
  readonly name: string
  readonly displayName?: string
  readonly kind: ChannelKind
  readonly baseUrl?: string
  readonly apiKey?: string
  readonly wire: ModelWire
  readonly modelsPath?: string
  readonly script?: string
  readonly enabled: boolean
  readonly models: readonly ModelSeed[]
  /** How the settings call what this was made of, for people who must change it. */
  readonly places?: ChannelPlaces
}
export interface ModelSeed {
  readonly model: string
  readonly displayName?: string
  readonly contextTokens?: number
  readonly prices?: Partial<ModelPrices>
}

/** Told of each change around it, so that none is without a trace. */
export type SettingsTrace = (
  action: 'channel.set' | 'channel.delete' | 'pricing.set' | 'pricing.delete',
  target: string,
  change: () => Promise<unknown>,
) => Promise<void>

export const MODELS_PATH = '/models'

/**
 * Puts the channels of the settings in place, and takes away those that are gone from the settings. What an admin changed
 * stays as the admin left it; the same settings again write nothing. `seedFault` has found nothing wrong with them.
 */
export async function seedChannels(parts: Parts, log: Logger, seeds: readonly ChannelSeed[]): Promise<void> {
  const { store, trace } = parts
  const there = await store.channels.list()
  const models = await store.channels.models()
  const named = new Set(seeds.map(({ name }) => name))
  for (const { name, source } of there)
    if (source === 'settings' && !named.has(name)) {
      await trace('channel.delete', name, () => store.channels.delete(name))
      log.info({ channel: name }, 'a channel is gone from the settings and removed')
    }
  for (const seed of seeds) {
    const channel = there.find(({ name }) => name === seed.name)
    if (channel?.source === 'admin')
      log.info({ channel: seed.name }, 'an admin changed this channel: the settings leave it alone')
    else await putChannel(parts, seed, channel)
    await putModels(
      parts,
      seed,
      models.filter((record) => record.channel === seed.name),
    )
  }
}

interface Parts {
  readonly store: Pick<Store, 'channels'>
  readonly sealer: Sealer
  readonly trace: SettingsTrace
}

async function putChannel({ store, sealer, trace }: Parts, seed: ChannelSeed, there: ChannelRecord | undefined): Promise<void> {
  const key = seed.apiKey === undefined || seed.apiKey === '' ? null : seed.apiKey
  const isSameKey =
    there !== undefined &&
    (there.sealedKey === null ? key === null : key !== null && sealer.open(seed.name, there.sealedKey) === key)
  const wanted = {
    name: seed.name,
    displayName: seed.displayName ?? seed.name,
    kind: seed.kind,
    baseUrl: seed.baseUrl === undefined ? null : tidyBaseUrl(seed.baseUrl),
    wire: seed.wire,
    modelsPath: seed.modelsPath ?? MODELS_PATH,
    script: seed.script ?? null,
    sealedKey: isSameKey ? there.sealedKey : key === null ? null : sealer.seal(seed.name, key),
    keyHint: key === null ? null : maskKey(key),
    enabled: seed.enabled,
    source: 'settings',
  } as const
  if (!isSame(wanted, there)) await trace('channel.set', channelTarget(there, wanted), () => store.channels.put(wanted))
}

async function putModels({ store, trace }: Parts, seed: ChannelSeed, there: readonly ModelRecord[]): Promise<void> {
  const named = new Set(seed.models.map(({ model }) => model))
  for (const { model, source } of there)
    if (source === 'settings' && !named.has(model))
      await trace('pricing.delete', modelName(seed.name, model), () => store.channels.deleteModel(seed.name, model))
  for (const model of seed.models) {
    const record = there.find((candidate) => candidate.model === model.model)
    if (record?.source === 'admin') continue
    const wanted = {
      channel: seed.name,
      model: model.model,
      displayName: model.displayName ?? model.model,
      contextTokens: model.contextTokens ?? null,
      prices: changedPrices(NO_PRICES, model.prices ?? {}),
      active: true,
      source: 'settings',
    } as const
    if (!isSame(wanted, record)) await trace('pricing.set', modelTarget(record, wanted), () => store.channels.putModel(wanted))
  }
}

/** Whether a row holds all of it already. */
const isSame = (wanted: object, there: object | undefined): boolean =>
  there !== undefined && isDeepStrictEqual({ ...there, ...wanted }, { ...there })

/** The first thing that is wrong with the channels of the settings, in words for whoever wrote them. */
export function seedFault(seeds: readonly ChannelSeed[]): string | undefined {
  const names = new Set<string>()
  for (const seed of seeds) {
    const fault = names.has(seed.name) ? 'it stands there twice' : faultOf(seed)
    if (fault !== undefined) return `channel ${seed.name} of the settings: ${fault}`
    names.add(seed.name)
  }
  return undefined
}

function faultOf(seed: ChannelSeed): string | undefined {
  if (!ChannelName.safeParse(seed.name).success)
    return 'its name must be 1 to 64 small letters, digits, dots, underscores or hyphens'
  const found = channelFault({
    kind: seed.kind,
    display_name: seed.displayName ?? '',
    base_url: seed.baseUrl ?? null,
    models_path: seed.modelsPath ?? MODELS_PATH,
    script: seed.script ?? null,
    api_key: seed.apiKey,
  })
  if (found !== undefined) return `${found.field} ${found.fault}`
  return seed.models.map(modelFault).find((fault) => fault !== undefined)
}

function modelFault({ model, prices }: ModelSeed): string | undefined {
  if (!ModelName.safeParse(model).success || /\p{Cc}/u.test(model)) return 'the name of a model must have 1 to 256 characters'
  const issue = ModelPrices.partial().safeParse(prices ?? {}).error?.issues[0]
  return issue === undefined ? undefined : `model ${model}: ${issue.path.map(String).join('.')} ${issue.message}`
}
