import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'
import type { ModelItem } from '../model.ts'

/**
 * Translates a conversation into chat messages. What the model said in one answer becomes one assistant message; the
 * outputs of its calls follow it directly, because nothing may stand between them: what was said meanwhile, and images,
 * which a tool message cannot carry, come after the last of them.
 */
export function chatMessages(instructions: string, items: readonly ModelItem[], keepsReasoning: boolean): JsonObject[] {
  const conversation = new ChatConversation(instructions, keepsReasoning)
  for (const item of items) conversation.add(item)
  return conversation.finish()
}

interface AssistantTurn {
  text: string[]
  refusal: string[]
  reasoning: { field: string; text: string } | undefined
  calls: JsonObject[]
}

class ChatConversation {
  readonly #messages: JsonObject[] = []
  readonly #keepsReasoning: boolean
  readonly #open = new Set<string>()
  #held: JsonObject[] = []
  #turn: AssistantTurn | undefined

  constructor(instructions: string, keepsReasoning: boolean) {
    this.#keepsReasoning = keepsReasoning
    if (instructions !== '') this.#messages.push({ role: 'system', content: instructions })
  }

  add(item: ModelItem): void {
    if (item.type === 'reasoning') this.#reason(item)
    else if (item.type === 'function_call') this.#call(item)
    else if (item.type === 'function_call_output') this.#output(item)
    else if (item.type === 'message') this.#say(item)
    // Any other item is between the model and the provider that made it.
  }

  finish(): JsonObject[] {
    this.#endTurn()
    return [...this.#messages, ...this.#held]
  }

  #say(item: ModelItem): void {
    if (item['role'] === 'assistant') {
      const turn = this.#begin()
      for (const part of partsOf(item['content'])) {
        if (typeof part['text'] === 'string') turn.text.push(part['text'])
        else if (typeof part['refusal'] === 'string') turn.refusal.push(part['refusal'])
      }
      return
    }
    this.#endTurn()
    const role = item['role'] === 'user' ? 'user' : 'system'
    this.#push({ role, content: contentOf(partsOf(item['content'])) })
  }

  #reason(item: ModelItem): void {
    const parts = [...partsOf(item['content'])].filter((part) => part['type'] === 'reasoning_text')
    const text = parts.map((part) => textOf(part['text'])).join('')
    const turn = this.#begin()
    const field = isJsonObject(item['chat']) ? item['chat']['reasoning'] : undefined
    // Reasoning of the other wire is not this provider's.
    if (text !== '' && typeof field === 'string') turn.reasoning = { field, text }
  }

  #call(item: ModelItem): void {
    const id = textOf(item['call_id'])
    const extra = isJsonObject(item['chat']) && isJsonObject(item['chat']['call']) ? item['chat']['call'] : {}
    const called = { name: item['name'], arguments: item['arguments'] }
    this.#begin().calls.push({ ...extra, id, type: 'function', function: called })
    this.#open.add(id)
  }

  #output(item: ModelItem): void {
    this.#endTurn()
    const id = textOf(item['call_id'])
    const parts = partsOf(item['output'])
    const images = parts.filter((part) => part['type'] === 'input_image')
    const text = parts.flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : [])).join('\n')
    const note = images.length === 0 ? '' : `(${images.length} image${images.length === 1 ? '' : 's'} below)`
    this.#messages.push({ role: 'tool', tool_call_id: id, content: [text, note].filter((one) => one !== '').join('\n') })
    if (images.length > 0)
      this.#held.push({ role: 'user', content: [{ type: 'text', text: `The images of ${id}:` }, ...images.map(imagePart)] })
    this.#open.delete(id)
    this.#release()
  }

  #push(message: JsonObject): void {
    if (this.#open.size > 0) this.#held.push(message)
    else this.#messages.push(message)
  }

  #release(): void {
    if (this.#open.size > 0) return
    this.#messages.push(...this.#held)
    this.#held = []
  }

  #begin(): AssistantTurn {
    // Calls that still wait for outputs end with the message that made them.
    this.#turn ??= { text: [], refusal: [], reasoning: undefined, calls: [] }
    return this.#turn
  }

  #endTurn(): void {
    const turn = this.#turn
    this.#turn = undefined
    if (turn === undefined) return
    const { text, refusal, reasoning, calls } = turn
    // An answer of nothing but reasoning: no provider takes an empty message.
    if (text.length + refusal.length + calls.length === 0) return
    this.#messages.push({
      role: 'assistant',
      content: text.length === 0 ? (calls.length > 0 || refusal.length > 0 ? null : '') : text.join('\n'),
      ...(refusal.length === 0 ? {} : { refusal: refusal.join('\n') }),
      ...(reasoning === undefined || !this.#keepsReasoning ? {} : { [reasoning.field]: reasoning.text }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    })
  }
}

const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '')

/** Content is text or a list of parts, on both sides. */
function partsOf(content: JsonValue | undefined): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: 'input_text', text: content }]
  return Array.isArray(content) ? content.filter(isJsonObject) : []
}

/** Plain text where it is nothing else: not every provider takes parts. */
function contentOf(parts: readonly JsonObject[]): JsonValue {
  const isText = (part: JsonObject): boolean => typeof part['text'] === 'string'
  if (parts.every(isText)) return parts.map((part) => textOf(part['text'])).join('\n')
  return parts.flatMap((part): JsonObject[] => {
    if (part['type'] === 'input_image') return [imagePart(part)]
    return isText(part) ? [{ type: 'text', text: part['text'] }] : []
  })
}

function imagePart(part: JsonObject): JsonObject {
  const detail = typeof part['detail'] === 'string' ? { detail: part['detail'] } : {}
  return { type: 'image_url', image_url: { url: part['image_url'], ...detail } }
}
