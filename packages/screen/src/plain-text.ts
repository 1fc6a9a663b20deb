import { stripVTControlCharacters } from 'node:util'

/** Text of others on one line of a terminal: nothing in it can move the cursor, change colours or break the line. */
export function plainText(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
}

/** The same for text of many lines, with its indentation. */
export function plainLines(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll('\r\n', '\n')
    .replaceAll(/[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}]/gu, '')
}

/** How many columns a terminal gives to the text. */
export function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += columnsOf(character)
  return width
}

/** Marks that are drawn over the character before them take no column of their own. */
function columnsOf(character: string): number {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x300) return 1
  if (/[\p{Mn}\p{Me}]/u.test(character) || (code >= 0x1160 && code <= 0x11ff)) return 0
  // Two of these make one flag.
  if (code >= 0x1f1e6 && code <= 0x1f1ff) return 1
  return isWide(code) || /\p{Emoji_Presentation}/u.test(character) ? 2 : 1
}

/** The text in exactly so many columns: cut with a mark of one column, or filled with spaces. */
export function fit(text: string, width: number, mark = '.'): string {
  const full = widthOf(text)
  if (full <= width) return text + ' '.repeat(width - full)
  let kept = ''
  let used = 0
  for (const character of text) {
    const more = widthOf(character)
    if (used + more > width - 1) break
    kept += character
    used += more
  }
  return `${kept}${mark}${' '.repeat(Math.max(0, width - used - 1))}`
}

/** The text in lines of at most so many columns, broken between words; every line after the first begins with `indent`. */
export function wrap(text: string, width: number, indent: string): string[] {
  // One word may be wider than everything.
  return broken(text, width, indent).map((one) => fit(one, width).trimEnd())
}

/** The same without cutting anything: a word that is wider than everything has a line of its own. */
export function broken(text: string, width: number, indent = ''): string[] {
  const lines: string[] = []
  const [start = ''] = /^ */.exec(text) ?? []
  let line = start
  let isEmpty = true
  for (const word of text.slice(start.length).split(' ')) {
    const longer = isEmpty ? `${line}${word}` : `${line} ${word}`
    if (isEmpty || widthOf(longer) <= width) line = longer
    else {
      lines.push(line)
      line = `${indent}${word}`
    }
    isEmpty = false
  }
  return [...lines, line]
}

/** East Asian wide characters and pictures, by their blocks. */
function isWide(code: number): boolean {
  return (
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0x1f300 && code <= 0x1faff) ||
    (code >= 0x20000 && code <= 0x3fffd)
  )
}
