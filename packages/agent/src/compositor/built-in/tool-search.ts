import type { JsonObject } from '@parley/protocol'

/** A tool as clients see it, and whose it is. */
export interface SearchedTool {
  readonly mount: string
  readonly tool: JsonObject
}

const WORDS = /[\p{L}\p{N}]+/gu
const IN_NAME = 4
const IN_TITLE = 3
const IN_DESCRIPTION = 1
/** A description counts as far as this: one that lists every word would always come first. */
const DESCRIPTION_CHARS = 2_000

/** The tools that fit the words best, best first; the order of the list decides between equals. */
export function searchTools(tools: readonly SearchedTool[], query: string): readonly SearchedTool[] {
  const words = [...new Set(wordsOf(query))]
  return tools
    .map((found) => ({ found, score: scoreOf(found.tool, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .map(({ found }) => found)
}

function scoreOf({ name, title, description }: JsonObject, words: readonly string[]): number {
  const places: readonly (readonly [text: unknown, worth: number])[] = [
    [name, IN_NAME],
    [title, IN_TITLE],
    [typeof description === 'string' ? description.slice(0, DESCRIPTION_CHARS) : undefined, IN_DESCRIPTION],
  ]
  let score = 0
  for (const [text, worth] of places) {
    if (typeof text !== 'string') continue
    const lower = text.toLowerCase()
    for (const word of words) if (lower.includes(word)) score += worth
  }
  return score
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(WORDS) ?? []
}
