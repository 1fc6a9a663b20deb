/**
 * What is left on a screen of so many columns after all of this was written: the little of a terminal that a program may
 * use here. Anything else in it is thrown, because it would be garbage on a real one.
 */
export function screenAfter(out: string, columns: number): { readonly lines: string[]; readonly frames: number } {
  const lines: string[] = ['']
  let row = 0
  let column = 0
  let frames = 0
  const pieces = out.matchAll(/(?<control>\p{Cc})(?:\[(?<count>\d*)(?<verb>[A-Za-z]))?|(?<text>\P{Cc}+)/gu)
  for (const { 0: piece, groups = {} } of pieces) {
    const { count, verb, control, text: shown } = groups
    if (shown !== undefined) {
      column += shown.length
      if (column > columns) throw new Error(`wider than the screen: ${lines[row]}${shown}`)
      lines[row] = (lines[row] ?? '') + shown
    } else if (verb === 'A') {
      row -= Number(count)
      frames += 1
      if (row < 0) throw new Error('above the first line')
    } else if (verb === 'J') lines.splice(row, lines.length, '')
    else if (control === '\r') column = 0
    else if (control === '\n') {
      row += 1
      lines[row] ??= ''
    } else if (verb !== 'm') throw new Error(`not for a terminal: ${JSON.stringify(piece)}`)
  }
  return { lines, frames }
}
