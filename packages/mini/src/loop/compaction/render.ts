import type { ModelItem } from '../../model/model.ts'
import { callOf, messageText, outputText, reasoningText } from '../item.ts'

/** Tries with a smaller share for each item, before the whole is cut. */
const SHARES = [1, 0.25, 0.05]

/** What a model is told to sum up. */
export const handedOverText = (items: readonly ModelItem[], characters: number): string =>
  `${renderItems(items, characters)}\n\nThis is the end of the conversation. Write the summary now.`

/** Items as text of at most so many characters. Long ones are cut in their middle first, then the middle of the whole. */
function renderItems(items: readonly ModelItem[], characters: number): string {
  let text = ''
  for (const share of SHARES) {
    const each = Math.max(200, Math.floor(characters * share))
    text = items.map((item) => cutMiddle(renderItem(item), each)).join('\n\n')
    if (text.length <= characters) return text
  }
  return cutMiddle(text, characters)
}

function renderItem(item: ModelItem): string {
  const call = callOf(item)
  if (call !== undefined) return `[call ${call.name}] ${call.text}`
  switch (item.type) {
    case 'message':
      return `[${typeof item['role'] === 'string' ? item['role'] : 'message'}] ${messageText(item)}`
    case 'reasoning':
      return `[thoughts] ${reasoningText(item)}`
    case 'function_call_output':
    case 'custom_tool_call_output':
      return `[output] ${outputText(item)}`
    default:
      return `[${item.type}]`
  }
}

function cutMiddle(text: string, characters: number): string {
  if (text.length <= characters) return text
  const half = Math.floor(characters / 2)
  const left = text.length - 2 * half
  return `${text.slice(0, half)}\n[… ${left} characters left out …]\n${text.slice(text.length - half)}`
}
