/** The first so many characters, never half of one. */
export function cutChars(text: string, chars: number): string {
  // A character takes one or two units: most texts are told short enough without counting.
  if (text.length <= chars) return text
  let units = 0
  for (let count = 0; count < chars && units < text.length; count += 1) units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1
  return text.slice(0, units)
}

/** The beginning of a text, with a word on how much is missing. */
export function cutShown(text: string, chars: number): string {
  const kept = cutChars(text, chars)
  return kept.length === text.length ? text : `${kept}\n… (cut: ${text.length - kept.length} more characters)`
}

/** The end of a text, with a word on how much is missing before it. */
export function tailShown(text: string, chars: number): string {
  if (text.length <= chars) return text
  const tail = text.slice(-chars).replace(/^[\uDC00-\uDFFF]/, '')
  return `(cut: ${text.length - tail.length} characters before this) …\n${tail}`
}
