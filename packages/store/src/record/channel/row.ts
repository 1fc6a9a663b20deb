import { ChannelKind, ModelPrices, ModelWire } from '@parley/protocol'
import { type Row, flag, fromJson, integer, integerOrNull, text, textOrNull, toJson } from '@parley/database'
import { checkInteger, checkName, checkText } from '../../limits.ts'
import type { ChannelRecord, Channels, ModelRecord } from './channel.ts'

/** Addresses, sealed keys and names for people. */
const MAX_TEXT_BYTES = 16 * 1024

type NewChannel = Parameters<Channels['put']>[0]
type NewModel = Parameters<Channels['putModel']>[0]

/** The values of a channel, in the order of `PUT`. */
export function channelValues(channel: NewChannel) {
  const { name, displayName, kind, baseUrl, wire, modelsPath, script, sealedKey, keyHint, enabled, source } = channel
  checkName('name', name)
  for (const [field, value] of Object.entries({ displayName, baseUrl, modelsPath, script, sealedKey, keyHint })) {
    if (value !== null) checkText(field, value, MAX_TEXT_BYTES)
  }
  return [name, displayName, kind, baseUrl, wire, modelsPath, script, sealedKey, keyHint, enabled ? 1 : 0, source]
}

/** The values of a model, in the order of `PUT_MODEL`. */
export function modelValues({ channel, model, displayName, contextTokens, prices, active, source }: NewModel) {
  checkName('channel', channel)
  checkName('model', model)
  checkText('displayName', displayName, MAX_TEXT_BYTES)
  if (contextTokens !== null) checkInteger('contextTokens', contextTokens, 0)
  return [channel, model, displayName, contextTokens, toJson('prices', ModelPrices, prices), active ? 1 : 0, source]
}

export function toChannel(row: Row | undefined): ChannelRecord | undefined {
  return (
    row && {
      name: text(row, 'name'),
      displayName: text(row, 'display_name'),
      kind: ChannelKind.parse(text(row, 'kind')),
      baseUrl: textOrNull(row, 'base_url'),
      wire: ModelWire.parse(text(row, 'wire')),
      modelsPath: text(row, 'models_path'),
      script: textOrNull(row, 'script'),
      sealedKey: textOrNull(row, 'sealed_key'),
      keyHint: textOrNull(row, 'key_hint'),
      enabled: flag(row, 'enabled'),
      source: toSource(text(row, 'source')),
      createdAt: integer(row, 'created_at'),
      updatedAt: integer(row, 'updated_at'),
    }
  )
}

export function toModel(row: Row | undefined): ModelRecord | undefined {
  const prices = row && fromJson(ModelPrices, text(row, 'prices'))
  if (row === undefined || prices === null || prices === undefined) return undefined
  return {
    channel: text(row, 'channel'),
    model: text(row, 'model'),
    displayName: text(row, 'display_name'),
    contextTokens: integerOrNull(row, 'context_tokens'),
    prices,
    active: flag(row, 'active'),
    source: toSource(text(row, 'source')),
    createdAt: integer(row, 'created_at'),
    updatedAt: integer(row, 'updated_at'),
  }
}

function toSource(value: string): ChannelRecord['source'] {
  if (value === 'settings' || value === 'admin') return value
  throw new TypeError(`a channel or model comes from ${value}`)
}
