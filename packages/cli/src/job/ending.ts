import { type JobState, Report, type ToolOutput, Usage } from '@parley/protocol'
import { type CaseLimits, caseRows, memoryText, nameWidthOf, timeText } from './case-table.ts'
import { plainLines, plainText } from './plain-text.ts'
import { type Screen, painterFor } from './screen.ts'
import type { SteadyCaller } from './steady-caller.ts'
import { usageText } from './usage-text.ts'

/** How a job ended, with the report where there is one. */
export interface Ending {
  readonly state: JobState
  readonly report: Report | null
  /** What the calls of a model came to; null when there were none, or nobody knows. */
  readonly usage: Usage | null
}

export async function readEnding(caller: SteadyCaller, state: JobState): Promise<Ending> {
  const answer: ToolOutput<'job.get_artifacts'> = await caller.call('job.get_artifacts', {
    job_id: state.job_id,
    names: ['report.json', 'usage.json'],
  })
  return {
    state,
    report: Report.safeParse(answer.items['report.json']).data ?? null,
    usage: Usage.safeParse(answer.items['usage.json']).data ?? null,
  }
}

/** 0 succeeded, 1 failed, 130 cancelled. */
export function exitCodeOf({ state }: Pick<Ending, 'state'>): number {
  if (state.status === 'succeeded') return 0
  return state.status === 'cancelled' ? 130 : 1
}

const ROWS_MAX = 100
const COMPILE_LINES = 20

/** The whole result for a person: what the compiler said if it failed, the table of verdicts, the sum. */
export function endingText({ state, report, usage }: Ending, screen: Screen): string {
  const paint = painterFor(screen)
  const lines: string[] = []
  const isCompiled = report?.compile?.ok !== false
  if (report?.compile?.ok === false) lines.push(...compilerLines(report.compile), '')
  if (report !== null && report.tests.length > 0) lines.push(...tableLines(report, state.limits, screen), '')
  for (const group of report !== null && isCompiled && report.groups.length > 1 ? report.groups : [])
    lines.push(`  ${plainText(group.name)}: ${group.passed} of ${group.total} passed, ${group.score} of ${group.points} points`)
  const style = state.status === 'succeeded' ? 'green' : state.status === 'cancelled' ? 'yellow' : 'red'
  // A cancelled job's error is that it was cancelled: one line says both.
  const own = state.error?.code === state.status ? state.error : null
  const parts = [...(own === null ? [] : [plainText(own.message)]), ...sumTexts({ state, report })]
  lines.push(`${paint(style, paint('bold', state.status))}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}`)
  if (state.error !== null && own === null) lines.push(`${plainText(state.error.code)}: ${plainText(state.error.message)}`)
  if (usage !== null) lines.push(usageText(usage))
  for (const note of report?.notes ?? []) lines.push(paint('dim', `note: ${plainText(note)}`))
  return `${lines.join('\n')}\n`
}

function sumTexts({ state, report }: Pick<Ending, 'state' | 'report'>): string[] {
  const summary = report?.summary ?? state.summary
  if (summary === null || summary === undefined || summary.total === 0) return []
  return [
    `${summary.passed} of ${summary.total} passed`,
    ...(summary.max_score > 0 ? [`${summary.score} of ${summary.max_score} points`] : []),
    // Nothing ran: there is nothing to measure.
    ...(summary.memory_kb > 0 || summary.time_ms > 0
      ? [`${timeText(summary.time_ms)} at most`, memoryText(summary.memory_kb)]
      : []),
  ]
}

function tableLines(report: Report, limits: CaseLimits, screen: Screen): string[] {
  const shown =
    report.tests.length <= ROWS_MAX ? report.tests : report.tests.filter(({ verdict }) => verdict !== 'AC').slice(0, ROWS_MAX)
  const left = report.tests.length - shown.length
  const width = nameWidthOf(shown)
  const rows = shown.flatMap((row) => caseRows(row, limits, screen, width))
  return left === 0 ? rows : [...rows, `  … and ${left} more`]
}

function compilerLines({ stderr_b64, stdout_b64, message }: NonNullable<Report['compile']>): string[] {
  const said = [stderr_b64, stdout_b64].map((text) => Buffer.from(text, 'base64').toString('utf8')).join('\n')
  const lines = plainLines(said)
    .split('\n')
    .filter((line) => line.trim() !== '')
  const cut =
    lines.length > COMPILE_LINES ? [...lines.slice(0, COMPILE_LINES), `… ${lines.length - COMPILE_LINES} more lines`] : lines
  return [...(message === null ? [] : [plainText(message)]), ...cut]
}
