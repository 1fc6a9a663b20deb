import { type JsonValue, parseJson } from '../json.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const CLOSE_ARRAY = 0x5d
const CLOSE_OBJECT = 0x7d

/** In a string this long, and only there, a search for the next quote is faster than a look at each character. */
const LONG_STRING_CHARS = 32

/** How much may be in a text that comes from somebody else before it is parsed. */
export interface ParseBounds {
  /** Values; an empty array or object counts twice. */
  readonly messageValues: number
  /** How deep arrays and objects stand in each other. */
  readonly nestingDepth: number
}

/** For what servers, models and hosts send. Lists of what there is are larger than what is asked with. */
export const FOREIGN_BOUNDS: ParseBounds = { messageValues: 500_000, nestingDepth: 64 }

/**
 * What a text has too much of when it is read as JSON, in words; `undefined`: nothing. What it costs to parse goes by the number
 * of values and by their depth rather than by the length: 16 MiB of one string take some milliseconds, 16 MiB of `[],[],[]`
 * seconds and a gigabyte, and 16 MiB of `[[[` most of a minute. Looking is as fast for all, and stops at the first too many. Of
 * what is no JSON it says nothing.
 */
export function beyondBounds(text: string, bounds: ParseBounds): string | undefined {
  const { messageValues, nestingDepth } = bounds
  // A value takes at least one character, and so does a level.
  if (text.length <= messageValues && text.length <= nestingDepth) return undefined
  const { values, depth } = countIn(text, bounds)
  if (values > messageValues) return `it holds more than ${messageValues} values`
  return depth > nestingDepth ? `it nests deeper than ${nestingDepth} levels` : undefined
}

/** How many values a text holds. */
export const valuesIn = (text: string): number => countIn(text, { messageValues: Infinity, nestingDepth: Infinity }).values

/** Values, and the depth of what is open, up to the first that is too many. */
function countIn(
  text: string,
  { messageValues, nestingDepth }: ParseBounds,
): { readonly values: number; readonly depth: number } {
  let values = 1
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth -= 1
    else if (code === COMMA || code === OPEN_ARRAY || code === OPEN_OBJECT) {
      values += 1
      if (code !== COMMA) depth += 1
      if (values > messageValues || depth > nestingDepth) break
    }
  }
  return { values, depth }
}

/** Whether a text holds at most so many values, however deep. */
export function holdsAtMost(text: string, limit: number): boolean {
  if (text.length <= limit) return true
  return beyondBounds(text, { messageValues: limit, nestingDepth: Infinity }) === undefined
}

/** What a text says that comes from somebody else; `undefined`: it is no JSON, or too much to be parsed. */
export function parseForeign(text: string, bounds: ParseBounds = FOREIGN_BOUNDS): JsonValue | undefined {
  return beyondBounds(text, bounds) === undefined ? parseJson(text) : undefined
}

/** Where the string that begins here has its last quote; past the end of the text when it has none. */
function endOfString(text: string, start: number): number {
  let searchAt = start + LONG_STRING_CHARS
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at += 1
    else if (at >= searchAt) {
      const quote = text.indexOf('"', at)
      if (quote === -1) return text.length
      if (text.charCodeAt(quote - 1) !== BACKSLASH) return quote
      // One with escaped quotes may have millions of them: each search would cost more than it skips.
      searchAt = text.length
    }
  }
  return text.length
}

/** Whether arrays and objects nest at most so deep. The parser itself does not recurse, but what walks its output does. */
export function nestsWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (depth <= 0) return false
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && item !== null && !nestsWithin(item, depth - 1)) return false
    return true
  }
  for (const key in value) {
    const item: unknown = Reflect.get(value, key)
    if (typeof item === 'object' && item !== null && !nestsWithin(item, depth - 1)) return false
  }
  return true
}
