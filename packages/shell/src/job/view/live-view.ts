import { type AgentStatusItem, type CaseItem, type JobState } from '@parley/protocol'
import { type AgentLine, AgentText, agentLine, isPiece } from './agent-text.ts'
import { ROW_MIN, caseRow, nameWidthOf, timeText } from './case-table.ts'
import { endingText } from './ending.ts'
import { type Screen, type Style, bar, fit, painterFor, plainText, verdictStyle, wrap } from '@parley/screen'
import { statusText } from './status-text.ts'
import { statusWord } from './status-word.ts'
import type { JobView } from './view.ts'
import { waitingText } from './waiting-text.ts'

/** What the live view knows; how it looks follows from it alone. */
export interface LiveModel {
  readonly state: JobState | undefined
  readonly summary: string
  readonly cases: readonly CaseItem[]
  readonly elapsedMs: number
  /** What the agent is writing, oldest first. */
  readonly agent?: readonly string[]
}

const FRAME_MS = 100
/** How often it is drawn when nothing happens, so that one sees that it lives. */
const CLOCK_MS = 250
const SPINNER = { unicode: Array.from('⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'), plain: ['|', '/', '-', '\\'] }
/** Lines besides the cases and the agent's words: header, status, progress, and one that stays free. */
const OTHER_LINES = 4
const PROGRESS = 30
/** Lines that an agent is writing, or a command of it prints. */
const AGENT_LINES = 6

/** The lines of one frame; never more than the screen holds, never wider. */
export function liveLines({ state, summary, cases, elapsedMs, agent = [] }: LiveModel, screen: Screen): string[] {
  const paint = painterFor(screen)
  if (state === undefined) return ['…']
  const attempt = state.attempt > 1 ? `  attempt ${state.attempt}` : ''
  const one = (text: string): string => fit(text, screen.columns - 1).trimEnd()
  const title = one(`${state.job_id}  ${statusWord(state)}${attempt}  ${timeText(elapsedMs)}`)
  const total = cases.at(-1)?.total ?? 0
  const room = Math.max(1, screen.rows - OTHER_LINES)
  const shown = screen.columns <= ROW_MIN ? [] : cases.slice(-room)
  const turning = state.status === 'running_generate' ? `${spinner(elapsedMs, screen)} ` : ''
  // Why nothing happens is said in full.
  const said =
    state.waiting === null
      ? [one(`${turning}${plainText(summary)}`)]
      : wrap(waitingText(state.waiting), screen.columns - 1, '  ').slice(0, room)
  const lines = [paint('bold', title), ...said.map((text) => paint('dim', text))]
  if (total > 0) {
    const width = Math.min(PROGRESS, Math.max(4, screen.columns - 20))
    const filled = paint(barStyle(cases), bar(cases.length / total, width, screen.isUnicode))
    lines.push(`${filled} ${cases.length}/${total}`)
  }
  const spoken = agent.slice(-Math.min(AGENT_LINES, room - shown.length)).map((text) => paint('cyan', one(text)))
  const width = nameWidthOf(cases)
  return [...lines, ...(room > shown.length ? spoken : []), ...shown.map((item) => caseRow(item, state.limits, screen, width))]
}

/**
 * A picture of the job that is drawn over itself, ten times a second at most. The steps of an agent and what it says stay
 * above it, because that is what one wants to look at again.
 */
export function liveView(
  out: (text: string) => void,
  ports: { readonly screen: () => Screen; readonly now: () => number; readonly err: (text: string) => void },
): JobView {
  const startedAt = ports.now()
  const text = new AgentText()
  let state: JobState | undefined
  let summary = ''
  let cases: CaseItem[] = []
  let agent: string[] = []
  let drawn = 0
  let timer: NodeJS.Timeout | undefined

  const erase = (): string => (drawn === 0 ? '' : `\u001b[${drawn}A\r\u001b[0J`)
  const draw = (): void => {
    const screen = ports.screen()
    const words = text.unfinished === undefined ? agent : [...agent, ...wrapped(text.unfinished, screen)]
    const lines = liveLines({ state, summary, cases, elapsedMs: ports.now() - startedAt, agent: words }, screen)
    out(`${erase()}${lines.join('\n')}\n`)
    drawn = lines.length
  }
  const clock = setInterval(draw, CLOCK_MS)
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
  /** Writes something that stays, above the picture. */
  const above = (write: () => void): void => {
    const isShown = drawn > 0
    if (isShown) out(erase())
    drawn = 0
    write()
    if (isShown) draw()
  }
  /** What an agent says stays; what its commands print goes by. */
  const tell = (lines: readonly AgentLine[]): void => {
    const screen = ports.screen()
    const paint = painterFor(screen)
    const [stays, passes] = [lines.filter(({ verb }) => verb !== 'prints'), lines.filter(({ verb }) => verb === 'prints')]
    agent = [...agent, ...passes.map(agentLine)].slice(-AGENT_LINES)
    const whole = stays.flatMap((line) => wrapped(line, screen).map((row) => paint('cyan', row)))
    if (whole.length > 0) above(() => out(`${whole.join('\n')}\n`))
  }
  return {
    state: (next) => {
      // Another judge begins from the first case.
      if (state !== undefined && (next.claims !== state.claims || next.attempt !== state.attempt)) cases = []
      if (next.status !== 'running_generate') agent = []
      state = next
      soon()
    },
    status: (item) => {
      if (isPiece(item)) tell(text.push(item))
      else {
        tell(text.flush())
        summary = statusText(item)
        if (isStep(item, state)) above(() => out(`${stepText(item, ports.screen())}\n`))
      }
      soon()
    },
    caseDone: (item, begins) => {
      if (begins !== 'nothing') cases = []
      cases.push(item)
      soon()
    },
    say: (words) => above(() => ports.err(words)),
    end: (ending) => {
      close()
      out(endingText(ending, ports.screen()))
    },
    close,
  }
}

const wrapped = (line: AgentLine, { columns }: Screen): string[] => wrap(agentLine(line), columns - 1, '    ')

/** Green says that cases passed; cases that only run say nothing yet. */
function barStyle(cases: readonly CaseItem[]): Style {
  const styles = new Set(cases.map(({ verdict }) => verdictStyle(verdict)))
  return styles.has('red') ? 'red' : styles.has('green') ? 'green' : 'magenta'
}

function spinner(elapsedMs: number, { isUnicode }: Screen): string {
  const frames = isUnicode ? SPINNER.unicode : SPINNER.plain
  return frames[Math.floor(elapsedMs / CLOCK_MS) % frames.length] ?? ''
}

/** A step of a job that a model works on; of code that is judged as it is the table says all there is. */
function isStep({ meta }: AgentStatusItem, state: JobState | undefined): boolean {
  return state !== undefined && state.model !== null && state.model !== undefined && typeof meta['done'] !== 'number'
}

function stepText(item: AgentStatusItem, screen: Screen): string {
  const style = item.level === 'error' ? 'red' : item.level === 'warn' ? 'yellow' : 'dim'
  const rows = wrap(statusText(item), screen.columns - 1, '  ')
  return rows.map((row) => painterFor(screen)(style, row)).join('\n')
}
