import { plainText, widthOf } from '../job/plain-text.ts'

/** Rows as aligned text. Whoever wrote what is in a cell, it stays on its line. */
export function columns(rows: readonly (readonly string[])[]): string {
  const clean = rows.map((row) => row.map(plainText))
  const widths: number[] = []
  for (const row of clean) row.forEach((cell, index) => (widths[index] = Math.max(widths[index] ?? 0, widthOf(cell))))
  return clean
    .map((row) =>
      row
        .map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - widthOf(cell)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
