import { visibleLine, visibleName } from '@parley/protocol/visible'
import { broken, fit, plainText, widthOf } from './plain-text.ts'
import { NO_SCREEN, type Screen } from './screen.ts'

const GAP = 2
/** A cell that is cut keeps at least so much. */
const CUT_MIN = 8
/** Rather than less of the last column, which is mostly the words that tell rows apart, others are left out. */
const LAST_MIN = 16
/** Below this a column is not worth going on below itself. */
const WRAP_MIN = 24
const ID = /^[a-z]{3}_[0-9a-z]{26}$/

/** What stands in a column. A text of which nothing is said is shown so that no other one looks the same. */
export type Cell = string | { readonly shown: string }

/** What people wrote for people, who do not tell things apart by it: what cannot be seen in it is left out. */
export const prose = (text: string): Cell => ({ shown: plainText(text) })

/** A name that strangers chose: letters that look like others are marked, too. */
export const named = (name: string): Cell => ({ shown: visibleName(name) })

interface Fitting {
  /** Columns, by their heading, that are left out where there is no room for all: the last one first. */
  readonly mayGo?: readonly string[]
  /** The last column goes on below itself; otherwise what is too wide is cut. */
  readonly wraps?: true
}

/**
 * Rows as aligned text. Whoever wrote what is in a cell, it stays on its line, and two that differ look different. On a screen the rows
 * fit: ids and the first column stay whole, because they are what one types again. Elsewhere nothing is cut.
 */
export function columns(
  rows: readonly (readonly Cell[])[],
  screen: Screen | undefined = NO_SCREEN,
  fitting: Fitting = {},
): string {
  const clean = rows.map((row) => row.map((cell) => (typeof cell === 'string' ? visibleLine(cell) : plainText(cell.shown))))
  return fitted(clean, screen, fitting)
}

function fitted(clean: readonly (readonly string[])[], screen: Screen, { mayGo = [], wraps }: Fitting): string {
  const natural = widthsOf(clean)
  if (natural.length === 0) return ''
  const least = natural.map((width, index) => (isWhole(clean, index) ? width : Math.min(width, CUT_MIN)))
  const ends = Math.max(least.at(-1) ?? 0, Math.min(natural.at(-1) ?? 0, LAST_MIN))
  const wanted = [...least.slice(0, -1), ends]
  if (sum(wanted) > screen.columns) {
    const gone = clean[0]?.findLastIndex((heading) => mayGo.includes(heading)) ?? -1
    if (gone >= 0)
      return fitted(
        clean.map((row) => row.toSpliced(gone, 1)),
        screen,
        wraps ? { mayGo, wraps } : { mayGo },
      )
  }
  if (wraps === true) return wrapped(clean, natural, screen)
  const widths = narrowed(natural, least, screen.columns)
  const mark = screen.isUnicode ? '…' : '.'
  return clean.map((row) => lineOf(row.map((cell, index) => fit(cell, widths[index] ?? 0, mark)))).join('\n')
}

/** The widest column gives way, again and again, until the rows fit or nothing may be taken any more. */
function narrowed(natural: readonly number[], least: readonly number[], room: number): readonly number[] {
  const widths = [...natural]
  for (let over = sum(widths) - room; over > 0; over -= 1) {
    const spare = widths.map((width, index) => (width > (least[index] ?? 0) ? width : 0))
    const widest = Math.max(...spare)
    if (widest === 0) break
    widths[spare.lastIndexOf(widest)] = widest - 1
  }
  return widths
}

function wrapped(rows: readonly (readonly string[])[], natural: readonly number[], screen: Screen): string {
  const last = natural.length - 1
  const before = sum(natural.slice(0, last)) + (last === 0 ? 0 : GAP)
  const room = screen.columns - before
  if (room < WRAP_MIN || !Number.isFinite(room)) return rows.map((row) => padded(row, natural)).join('\n')
  return rows
    .flatMap((row) => {
      const [first = '', ...more] = broken(row[last] ?? '', room)
      const line = padded([...row.slice(0, last), ...(row.length > last ? [first] : [])], natural)
      return [line, ...more.map((text) => ' '.repeat(before) + text)]
    })
    .join('\n')
}

const padded = (row: readonly string[], widths: readonly number[]): string =>
  lineOf(row.map((cell, index) => fit(cell, Math.max(widths[index] ?? 0, widthOf(cell)))))

const lineOf = (cells: readonly string[]): string => cells.join(' '.repeat(GAP)).trimEnd()

const isWhole = (rows: readonly (readonly string[])[], index: number): boolean =>
  index === 0 || rows.some((row) => ID.test(row[index] ?? ''))

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = []
  for (const row of rows) row.forEach((cell, index) => (widths[index] = Math.max(widths[index] ?? 0, widthOf(cell))))
  return widths
}

const sum = (widths: readonly number[]): number =>
  widths.reduce((total, width) => total + width, 0) + GAP * Math.max(0, widths.length - 1)
