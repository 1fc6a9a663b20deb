const ENCODED_PERCENT = /%25/g
const ENCODED_SEPARATOR = /%(?:2e|2f|5c)/gi
const SEPARATORS: Readonly<Record<string, string>> = { '%2e': '.', '%2f': '/', '%5c': '\\' }
/** Whoever encodes more often than this means to hide something: what is left of it is refused as well. */
const DECODE_ROUNDS = 3
const DOT_PART = /(?:^|[/\\:=?#&])\.{1,2}(?:[/\\?#&]|$)/
// oxlint-disable-next-line no-control-regex -- what cannot be seen in a URI is what this looks for
const NOT_IN_A_URI = /[\\\s\u0000-\u001f\u007f]/

/**
 * Whether a resource's URI says where it leads. One with `..` matches the pattern of one folder and is read from another, however
 * its dots are encoded; servers differ in what they make of it.
 */
export function isPlainUri(uri: string): boolean {
  if (NOT_IN_A_URI.test(uri)) return false
  let text = uri
  for (let round = 0; round < DECODE_ROUNDS; round += 1) text = text.replaceAll(ENCODED_PERCENT, '%')
  if (text.includes('%25')) return false
  const decoded = text.replaceAll(ENCODED_SEPARATOR, (found) => SEPARATORS[found.toLowerCase()] ?? found)
  return !decoded.includes('\\') && !DOT_PART.test(decoded)
}
