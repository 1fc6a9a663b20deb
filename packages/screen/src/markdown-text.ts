import { plainLines, widthOf } from './plain-text.ts'
import type { Paint } from './screen.ts'

const FENCE = /^\s*(`{3,}|~{3,})/
const HEADING = /^#{1,6}\s+(.*)$/
const BOLD = /\*\*([^*\n]+)\*\*/g
const TAB = '    '

interface Shown {
  /** What stands before each line, so that no line of a stranger's text begins where ours do. */
  readonly indent: string
  /** The columns there are. */
  readonly columns: number
  readonly paint: Paint
}

/**
 * A text in Markdown for a terminal: it stays as it was written, line by line, without what only marks headings and code. Lines that are too long go on
 * below themselves, indented too: nothing in the text can look like a line of somebody else.
 */
export function markdownText(text: string, { indent, columns, paint }: Shown): string {
  const width = Math.max(1, columns - indent.length)
  let fence: string | undefined
  const lines = plainLines(text)
    .trimEnd()
    .split('\n')
    .flatMap((raw): readonly string[] => {
      const line = raw.replaceAll('\t', TAB)
      if (fence !== undefined) {
        if (isFenceEnd(line, fence)) fence = undefined
        else return broken(`${TAB}${line}`, width).map((part) => paint('dim', part))
        return []
      }
      fence = FENCE.exec(line)?.[1]
      if (fence !== undefined) return []
      const heading = HEADING.exec(line)?.[1]
      if (heading !== undefined) return broken(heading.replaceAll(BOLD, '$1'), width).map((part) => paint('bold', part))
      return broken(line, width).map((part) => part.replaceAll(BOLD, (whole, bold: string) => boldOf(whole, bold, paint)))
    })
  return lines.map((line) => `${indent}${line}`.trimEnd()).join('\n')
}

/** A plain text in the same way, with nothing of it taken for a mark. */
export function indentedText(text: string, { indent, columns }: Omit<Shown, 'paint'>): string {
  const width = Math.max(1, columns - indent.length)
  const lines = plainLines(text).replaceAll('\t', TAB).split('\n')
  return lines.flatMap((line) => broken(line, width).map((part) => `${indent}${part}`.trimEnd())).join('\n')
}

/** Where nothing is bold, the marks say what was meant. */
function boldOf(whole: string, text: string, paint: Paint): string {
  const bold = paint('bold', text)
  return bold === text ? whole : bold
}

function isFenceEnd(line: string, fence: string): boolean {
  const mark = line.trim()
  return mark.length >= fence.length && mark === fence.charAt(0).repeat(mark.length)
}

/** In pieces of at most so many columns, at a space where there is one; none of it is left out. */
function broken(line: string, width: number): readonly string[] {
  if (widthOf(line) <= width) return [line]
  const pieces: string[] = []
  let piece = ''
  let used = 0
  let space = 0
  for (const character of line) {
    const more = widthOf(character)
    if (used + more > width && piece !== '') {
      const at = space > 0 ? space : piece.length
      pieces.push(piece.slice(0, at).trimEnd())
      piece = piece.slice(at)
      used = widthOf(piece)
      space = 0
    }
    piece += character
    used += more
    if (character === ' ' && piece.trim() !== '') space = piece.length
  }
  return [...pieces, piece]
}
