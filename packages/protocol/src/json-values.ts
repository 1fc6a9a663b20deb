const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b

/** In a string this long, and only there, a search for the next quote is faster than a look at each character. */
const LONG_STRING_CHARS = 32

/**
 * Whether a text holds at most so many values when it is read as JSON; an empty array or object counts twice. What it costs to
 * parse goes by their number rather than by the length: 16 MiB of one string take some milliseconds, 16 MiB of `[],[],[]` seconds
 * and a gigabyte. Looking is as fast for both, and stops at the first value too many. Of what is no JSON it says nothing.
 */
export function holdsAtMost(text: string, limit: number): boolean {
  // A value takes at least one character.
  if (text.length <= limit) return true
  let values = 1
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === COMMA || code === OPEN_ARRAY || code === OPEN_OBJECT) {
      values += 1
      if (values > limit) return false
    }
  }
  return true
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
