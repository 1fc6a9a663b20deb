import { type JsonValue, parseJson } from './json.ts'

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
export function beyondBounds(text: string, { messageValues, nestingDepth }: ParseBounds): string | undefined {
  // A value takes at least one character, and so does a level.
  if (text.length <= messageValues && text.length <= nestingDepth) return undefined
  let values = 1
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth -= 1
    else if (code === COMMA || code === OPEN_ARRAY || code === OPEN_OBJECT) {
      values += 1
      if (values > messageValues) return `it holds more than ${messageValues} values`
      if (code !== COMMA) depth += 1
      if (depth > nestingDepth) return `it nests deeper than ${nestingDepth} levels`
    }
  }
  return undefined
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
