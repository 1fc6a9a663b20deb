import { styleText } from 'node:util'
import type { Verdict } from '@parley/protocol'

/** What can be shown where the output goes. */
export interface Screen {
  readonly columns: number
  readonly rows: number
  /** Whether block characters come out as such. */
  readonly isUnicode: boolean
  readonly hasColours: boolean
}

/** No terminal: a file or a pipe, where nothing has to fit and nothing is drawn. */
export const NO_SCREEN: Screen = {
  columns: Number.POSITIVE_INFINITY,
  rows: Number.POSITIVE_INFINITY,
  isUnicode: false,
  hasColours: false,
}

export type Style = 'green' | 'red' | 'yellow' | 'dim' | 'bold' | 'cyan' | 'magenta'
export type Paint = (style: Style, text: string) => string

/** Colours where the terminal has them. */
export const painterFor =
  ({ hasColours }: Pick<Screen, 'hasColours'>): Paint =>
  (style, text) =>
    hasColours ? styleText(style, text, { validateStream: false }) : text

/** A bar of so many columns, filled by a share from 0 to 1. Anything above nothing shows. */
export function bar(share: number, width: number, isUnicode: boolean): string {
  const clean = Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0
  if (!isUnicode) {
    const full = clean === 0 ? 0 : Math.max(1, Math.round(clean * width))
    return '#'.repeat(full) + '.'.repeat(width - full)
  }
  const eighths = clean === 0 ? 0 : Math.max(1, Math.round(clean * width * 8))
  const full = Math.floor(eighths / 8)
  const part = eighths % 8 === 0 ? '' : (PARTS[(eighths % 8) - 1] ?? '')
  return '█'.repeat(full) + part + '·'.repeat(width - full - part.length)
}

const PARTS = ['▏', '▎', '▍', '▌', '▋', '▊', '▉']

export function verdictStyle(verdict: Verdict): 'green' | 'red' | 'yellow' | 'dim' {
  if (verdict === 'AC') return 'green'
  if (verdict === 'RUN' || verdict === 'SKIP' || verdict === 'CANCELLED') return 'dim'
  return verdict === 'SE' ? 'yellow' : 'red'
}
