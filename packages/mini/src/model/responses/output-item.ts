import { type JsonObject, isJsonObject } from '@parley/protocol'
import type { ModelItem } from '../model.ts'

/** An item as the provider gave it; only what a call cannot do without is put right. `undefined`: it cannot be used. */
export function readItem(value: unknown, id: (prefix: string) => string): ModelItem | undefined {
  if (!isJsonObject(value) || typeof value['type'] !== 'string') return undefined
  const item: ModelItem = { ...value, type: value['type'] }
  if (item.type !== 'function_call') return item
  if (typeof item['name'] !== 'string' || item['name'] === '') return undefined
  const hasId = typeof item['call_id'] === 'string' && item['call_id'] !== ''
  const hasText = typeof item['arguments'] === 'string'
  if (hasId && hasText) return item
  return {
    ...item,
    call_id: hasId ? item['call_id'] : id('call'),
    arguments: hasText ? item['arguments'] : JSON.stringify(item['arguments'] ?? {}),
  }
}

/** All text of a message. */
export const textOf = (item: JsonObject): string => joined(item, 'output_text', 'text')

/** The model's own words for declining; null when it did not. */
export function refusalOf(items: readonly ModelItem[]): string | null {
  const words = items.filter(({ type }) => type === 'message').map((item) => joined(item, 'refusal', 'refusal'))
  const said = words.filter((text) => text !== '').join('\n')
  return said === '' ? null : said
}

function joined(item: JsonObject, type: string, field: string): string {
  const parts = Array.isArray(item['content']) ? item['content'].filter(isJsonObject) : []
  const texts = parts.filter((part) => part['type'] === type).map((part) => part[field])
  return texts.filter((text) => typeof text === 'string').join('')
}
