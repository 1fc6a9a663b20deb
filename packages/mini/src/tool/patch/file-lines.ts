/** One line of a file with what ends it, so that what is not changed stays the same to the byte. */
export interface FileLine {
  readonly text: string
  readonly end: '\n' | '\r\n' | ''
}

/** A text file taken apart. */
export interface FileLines {
  /** The mark that some editors put first. */
  readonly mark: string
  readonly lines: readonly FileLine[]
  /** How most lines end: new ones do too. */
  readonly end: '\n' | '\r\n'
}

const MARK = '\uFEFF'

export function splitFile(content: string): FileLines {
  const mark = content.startsWith(MARK) ? MARK : ''
  const lines: FileLine[] = []
  let windows = 0
  for (let at = mark.length; at < content.length;) {
    const newline = content.indexOf('\n', at)
    if (newline === -1) {
      lines.push({ text: content.slice(at), end: '' })
      break
    }
    const isWindows = newline > at && content[newline - 1] === '\r'
    if (isWindows) windows++
    lines.push({ text: content.slice(at, isWindows ? newline - 1 : newline), end: isWindows ? '\r\n' : '\n' })
    at = newline + 1
  }
  return { mark, lines, end: windows * 2 > lines.length ? '\r\n' : '\n' }
}

/** Puts it together again; only the last line may have no end. */
export function joinFile({ mark, lines, end }: FileLines): string {
  const last = lines.length - 1
  return mark + lines.map((line, index) => line.text + (line.end === '' && index < last ? end : line.end)).join('')
}
