import { type Model, ToolError } from '@parley/protocol'
import type { ChannelRecord } from '@parley/store'

const NAMES_SHOWN_MAX = 20

export function noSuchChannel(channel: string, enabled: readonly Pick<ChannelRecord, 'name'>[]): ToolError {
  return new ToolError('not_found', `upstream_channel: there is no channel ${channel}`, {
    field: 'upstream_channel',
    hint: `the channels there are: ${shown(enabled.map(({ name }) => name))}`,
  })
}

export function noSuchModel(model: string, channel: string | null, items: readonly Model[]): ToolError {
  const there = channel === null || channel === '' ? items : items.filter((item) => item.upstream_channel === channel)
  const where = channel === null || channel === '' ? '' : ` at channel ${channel}`
  return new ToolError('not_found', `model: there is no model ${model}${where}`, {
    field: 'model',
    hint: `models.list names those there are: ${shown(there.map((item) => item.model))}`,
  })
}

export function notKnownYet(model: string, silent: readonly string[]): ToolError {
  // One that answered with a refusal did answer: of all of them it is true that they listed nothing.
  const who =
    silent.length === 1
      ? `channel ${silent.join('')} does not list its models`
      : `channels ${shown(silent)} do not list their models`
  return new ToolError('unavailable', `model: whether there is a model ${model} is not known: ${who}`, {
    field: 'model',
    hint: 'try again in a moment; models.list with live says what is wrong with a channel; a model that an admin sets up needs no asking',
  })
}

function shown(names: readonly string[]): string {
  const unique = [...new Set(names)]
  if (unique.length === 0) return 'none yet'
  return unique.slice(0, NAMES_SHOWN_MAX).join(', ') + (unique.length > NAMES_SHOWN_MAX ? ', …' : '')
}
