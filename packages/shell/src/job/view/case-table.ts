import { type CaseBounds, type CaseItem, type CaseResult, memoryText, shownInstead } from '@parley/protocol'
import { type Paint, type Screen, bar, fit, painterFor, plainText, verdictStyle, widthOf } from '@parley/screen'

type Row = Pick<CaseResult | CaseItem, 'name' | 'group' | 'verdict' | 'time_ms' | 'wall_ms' | 'memory_kb' | 'message' | 'diff'>

const BAR = 10
const NAME_MIN = 8
const NAME_USUAL = 16
const NAME_MAX = 32
/** Verdict, two numbers with their units, and the spaces between. */
const FIXED = 2 + 9 + 2 + 9 + 2 + 10
const BARS = 2 * (BAR + 1)
/** On anything narrower a row would break into two lines. */
export const ROW_MIN = 2 + NAME_MIN + 1 + 9 + 1 + 8 + 2 + 9

/** One case on one line, not wider than the screen: name, verdict, time and memory, with bars where they can be looked at. */
export function caseRow(row: Row, limits: CaseBounds, screen: Screen, nameWidth = NAME_USUAL): string {
  const { line, why, room } = measured(row, limits, screen, nameWidth)
  const text = fit(why, Math.min(room, widthOf(why))).trimEnd()
  return why === '' || room < Math.min(NAME_MIN, widthOf(why)) ? line : `${line}  ${painterFor(screen)('dim', text)}`
}

/** The same, with all of the reason that the screen is wide enough for: where it does not fit beside, it goes below. */
export function caseRows(row: Row, limits: CaseBounds, screen: Screen, nameWidth: number): string[] {
  const { line, why, room } = measured(row, limits, screen, nameWidth)
  if (why === '' || widthOf(why) <= room) return [caseRow(row, limits, screen, nameWidth)]
  const text = fit(why, Math.max(NAME_MIN, Math.min(screen.columns - BELOW.length - 1, widthOf(why)))).trimEnd()
  return [line, `${BELOW}${painterFor(screen)('dim', text)}`]
}
const BELOW = '    '

/** A row without its reason, the reason, and how many columns are left for it. */
function measured(
  row: Row,
  limits: CaseBounds,
  screen: Screen,
  nameWidth: number,
): { readonly line: string; readonly why: string; readonly room: number } {
  const paint = painterFor(screen)
  const isBounded = Number.isFinite(screen.columns)
  const hasBars = isBounded && screen.columns >= FIXED + BARS + NAME_MIN
  const label = labelOf(row)
  const name = isBounded
    ? Math.max(NAME_MIN, Math.min(nameWidth, screen.columns - FIXED - (hasBars ? BARS : 0)))
    : Math.max(nameWidth, widthOf(label))
  const past = shownInstead(row, limits)
  const shown = (text: string): string => (screen.isUnicode ? text : text.replace('–', '-'))
  const timeShown = shown(past.time ?? timeText(row.time_ms)).padStart(8)
  const time = meter(isPast(past.time) ? 1 : row.time_ms / limits.time_limit_ms, timeShown, hasBars, screen, paint)
  const memory = meter(
    row.memory_kb / 1024 / limits.memory_limit_mb,
    shown(past.memory ?? memoryText(row.memory_kb)).padStart(9),
    hasBars,
    screen,
    paint,
  )
  const line = `  ${fit(label, name)} ${paint(verdictStyle(row.verdict), fit(row.verdict, 9))} ${time}  ${memory}`
  const used = 2 + name + 1 + 9 + 1 + 8 + 2 + 9 + (hasBars ? BARS : 0)
  const why = row.verdict === 'AC' ? '' : plainText(row.message ?? row.diff?.message ?? '')
  return { line, why, room: screen.columns - used - 3 }
}

/** Whether it is more than the limit; of what was not run there is nothing to draw. */
const isPast = (text: string | undefined): boolean => text?.startsWith('>') === true

/** How wide the names of these cases are, within reason. */
export function nameWidthOf(rows: readonly Row[]): number {
  return rows.reduce((most, row) => Math.max(most, Math.min(NAME_MAX, widthOf(labelOf(row)))), NAME_MIN)
}

function labelOf({ group, name }: Row): string {
  const isNamed = group !== 'default' && group !== '' && !name.startsWith(`${group}/`)
  return plainText(isNamed ? `${group}/${name}` : name)
}

function meter(share: number, text: string, hasBar: boolean, { isUnicode }: Screen, paint: Paint): string {
  if (!hasBar) return text
  const style = share > 0.9 ? 'red' : share > 0.6 ? 'yellow' : 'cyan'
  return `${paint(style, bar(share, BAR, isUnicode))} ${text}`
}

export function timeText(ms: number): string {
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}
