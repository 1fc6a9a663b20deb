import type { ChannelRecord, ModelRecord } from '@parley/store'

type Channel = Omit<ChannelRecord, 'createdAt' | 'updatedAt'>
type Model = Omit<ModelRecord, 'createdAt' | 'updatedAt'>
type Field = string | number | boolean | null

/** What is left for the names of a channel and a model beside what changed of them. */
const NAMES_CHARS_MAX = 120

/** A channel and what of it changes, for the audit log. */
export function channelTarget(before: Channel | undefined, after: Channel): string {
  return `${after.name}${changes(before && channelFields(before), channelFields(after))}`
}

/** A model and what of it changes, prices as they become. */
export function modelTarget(before: Model | undefined, after: Model): string {
  return `${modelName(after.channel, after.model)}${changes(before && modelFields(before), modelFields(after))}`
}

export const modelName = (channel: string, model: string): string => `${channel}/${model}`.slice(0, NAMES_CHARS_MAX)

/** By the names that the tools have for them. */
function channelFields(channel: Channel): Readonly<Record<string, Field>> {
  return {
    kind: channel.kind,
    base_url: channel.baseUrl,
    api_key: channel.sealedKey,
    enabled: channel.enabled,
    wire: channel.wire,
    models_path: channel.modelsPath,
    script: channel.script,
    display_name: channel.displayName,
  }
}

function modelFields({ active, contextTokens, displayName, prices }: Model): Readonly<Record<string, Field>> {
  return { active, ...prices, context_tokens: contextTokens, display_name: displayName }
}

/** Texts by their name alone: a key is one, and an address may hold one. Numbers and flags tell no secret. */
function changes(before: Readonly<Record<string, Field>> | undefined, after: Readonly<Record<string, Field>>): string {
  const changed = Object.entries(after).filter(([name, value]) => value !== (before?.[name] ?? null))
  if (changed.length === 0) return ''
  return `: ${changed.map(([name, value]) => (typeof value === 'string' ? name : `${name}=${value}`)).join(', ')}`
}
