import type { CaseItem, JobState } from '@parley/protocol'
import { ROW_MIN, caseRow, nameWidthOf, timeText } from './case-table.ts'
import { endingText } from './ending.ts'
import { fit, plainText } from './plain-text.ts'
import { type Screen, bar, painterFor, verdictStyle } from './screen.ts'
import { statusText } from './status-text.ts'
import type { View } from './view.ts'

/** What the live view knows; how it looks follows from it alone. */
export interface LiveModel {
  readonly state: JobState | undefined
  readonly summary: string
  readonly cases: readonly CaseItem[]
  readonly elapsedMs: number
}

const FRAME_MS = 100
/** Lines besides the cases: header, status, progress, and one that stays free. */
const OTHER_LINES = 4
const PROGRESS = 30

/** The lines of one frame; never more than the screen holds, never wider. */
export function liveLines({ state, summary, cases, elapsedMs }: LiveModel, screen: Screen): string[] {
  const paint = painterFor(screen)
  if (state === undefined) return ['…']
  const title = fit(`${state.job_id}  ${state.status}  ${timeText(elapsedMs)}`, screen.columns - 1).trimEnd()
  const total = cases.at(-1)?.total ?? 0
  const shown = screen.columns <= ROW_MIN ? [] : cases.slice(-Math.max(1, screen.rows - OTHER_LINES))
  const lines = [paint('bold', title), paint('dim', fit(plainText(summary), screen.columns - 1).trimEnd())]
  if (total > 0) {
    const wrong = cases.find(({ verdict }) => verdictStyle(verdict) === 'red')
    const width = Math.min(PROGRESS, Math.max(4, screen.columns - 20))
    const filled = paint(wrong === undefined ? 'green' : 'red', bar(cases.length / total, width, screen.isUnicode))
    lines.push(`${filled} ${cases.length}/${total}`)
  }
  const width = nameWidthOf(cases)
  return [...lines, ...shown.map((item) => caseRow(item, state.limits, screen, width))]
}

/** A picture of the job that is drawn over itself, ten times a second at most. */
export function liveView(
  out: (text: string) => void,
  ports: { readonly screen: () => Screen; readonly now: () => number; readonly err: (text: string) => void },
): View {
  const startedAt = ports.now()
  let state: JobState | undefined
  let summary = ''
  let cases: CaseItem[] = []
  let drawn = 0
  let timer: NodeJS.Timeout | undefined

  const erase = (): string => (drawn === 0 ? '' : `\u001b[${drawn}A\r\u001b[0J`)
  const draw = (): void => {
    const lines = liveLines({ state, summary, cases, elapsedMs: ports.now() - startedAt }, ports.screen())
    out(`${erase()}${lines.join('\n')}\n`)
    drawn = lines.length
  }
  const clock = setInterval(draw, 1_000)
  const soon = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined
      draw()
    }, FRAME_MS)
  }
  const close = (): void => {
    clearInterval(clock)
    clearTimeout(timer)
    timer = undefined
    if (drawn > 0) out(erase())
    drawn = 0
  }
  return {
    state: (next) => {
      // Another judge begins from the first case.
      if (state !== undefined && next.claims !== state.claims) cases = []
      state = next
      soon()
    },
    status: (item) => {
      summary = statusText(item)
      soon()
    },
    caseDone: (item) => {
      const last = cases.at(-1)
      if (last !== undefined && (last.claim !== item.claim || last.attempt !== item.attempt)) cases = []
      cases.push(item)
      soon()
    },
    say: (text) => {
      const isShown = drawn > 0
      if (isShown) out(erase())
      drawn = 0
      ports.err(text)
      if (isShown) draw()
    },
    end: (ending) => {
      close()
      out(endingText(ending, ports.screen()))
    },
    close,
  }
}
