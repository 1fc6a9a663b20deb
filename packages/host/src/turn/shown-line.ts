import { type JsonValue, isJsonObject, parseJson, type TranscriptLine } from '@parley/protocol'
import type { MaskText } from '../mount/masked-secrets.ts'

export interface ShownLimits {
  readonly textChars: number
  readonly lineChars: number
}

/** How often texts are cut to a part of what they were, until the line is short enough. */
const ROUNDS = 4
const PART = 8

/** A line of a transcript as it is written: nothing secret in it, and no longer than it may be. */
export function shownLine(line: TranscriptLine, mask: MaskText, { textChars, lineChars }: ShownLimits): string {
  const masked = mapTexts(parseJson(JSON.stringify(line)) ?? null, mask)
  for (let round = 0, chars = textChars; round < ROUNDS; round += 1, chars = Math.ceil(chars / PART)) {
    const text = JSON.stringify(mapTexts(masked, (words) => cutText(words, chars)))
    if (text.length <= lineChars) return text
  }
  const at = 'at' in line ? line.at : new Date(0).toISOString()
  const message = `a line of type ${line.type} is left out: it is too long`
  return JSON.stringify({ type: 'warning', at, message } satisfies TranscriptLine)
}

/** Every text in a value but the names of its members; what a line is, and whose, is kept as it is. */
export function mapTexts(value: JsonValue, change: (text: string) => string, kept: ReadonlySet<string> = KEPT): JsonValue {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change, kept))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      item === undefined || kept.has(name) ? item : mapTexts(item, change, kept),
    ]),
  )
}

const KEPT: ReadonlySet<string> = new Set(['type', 'prompt_id', 'agent_id', 'conversation', 'call_id', 'group'])

/** The beginning of a text, with a word on how much is missing. */
function cutText(text: string, chars: number): string {
  if (text.length <= chars) return text
  const kept = text.slice(0, chars).replace(/[\uD800-\uDBFF]$/, '')
  return `${kept}… (cut: ${text.length - kept.length} more characters)`
}
