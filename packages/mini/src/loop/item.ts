import { type JsonValue, isJsonObject } from '@parley/protocol'
import type { InputPart } from '@parley/agent'
import type { ModelItem } from '../model/model.ts'
import type { ResultPart } from '../tool/toolbox.ts'

/** The items that stand for a call, and the type of the item that answers each. Hosted tools answer themselves. */
const ANSWERED_BY: ReadonlyMap<string, string> = new Map([
  ['function_call', 'function_call_output'],
  ['custom_tool_call', 'custom_tool_call_output'],
])
const OUTPUT_TYPES: ReadonlySet<string> = new Set(ANSWERED_BY.values())

/** A call of the model, as the loop sees it. */
export interface CallItem {
  readonly id: string
  readonly name: string
  /** As the model wrote them: JSON, or not. */
  readonly text: string
  readonly outputType: string
}

export function callOf(item: ModelItem): CallItem | undefined {
  const outputType = ANSWERED_BY.get(item.type)
  if (outputType === undefined) return undefined
  const text = item['arguments'] ?? item['input']
  return { id: textOf(item['call_id']), name: textOf(item['name']), text: textOf(text), outputType }
}

/** The call that an item answers. */
export const answersCall = (item: ModelItem): string | undefined =>
  OUTPUT_TYPES.has(item.type) ? textOf(item['call_id']) : undefined

export function outputItem(call: CallItem, parts: readonly ResultPart[]): ModelItem {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const output = texts.length === parts.length ? texts.join('\n') : contentOf(parts)
  return { type: call.outputType, call_id: call.id, output }
}

export const userItem = (input: readonly InputPart[]): ModelItem => ({
  type: 'message',
  role: 'user',
  content: contentOf(input),
})

const contentOf = (parts: readonly InputPart[]): JsonValue[] =>
  parts.map((part) =>
    part.type === 'text' ? { type: 'input_text', text: part.text } : { type: 'input_image', image_url: part.url },
  )

/** What a `message` says, refusals included. */
export function messageText(item: ModelItem): string {
  const { content } = item
  if (typeof content === 'string') return content
  return partsOf(content)
    .map((part) => textOf(part['text'] ?? part['refusal']))
    .join('')
}

/** What a `reasoning` item shows: its summary, or the thoughts themselves where there is none. */
export function reasoningText(item: ModelItem): string {
  const summary = partsOf(item['summary'])
  return (summary.length > 0 ? summary : partsOf(item['content'])).map((part) => textOf(part['text'])).join('\n\n')
}

/** A result as text; images are named, not shown. */
export function outputText(item: ModelItem): string {
  const { output } = item
  if (typeof output === 'string') return output
  return partsOf(output)
    .map((part) => (part['type'] === 'input_image' ? '[image]' : textOf(part['text'])))
    .join('\n')
}

const partsOf = (value: JsonValue | undefined) => (Array.isArray(value) ? value.filter((part) => isJsonObject(part)) : [])
const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '')
