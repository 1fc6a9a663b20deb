import type { SteadyClient } from '@parley/client'
import {
  type CaseBounds,
  type CaseItem,
  type CaseResult,
  isUnjudged,
  type JobState,
  memoryText,
  pastLimit,
  Report,
  resultText,
  type ToolOutput,
  unjudgedWords,
  Usage,
} from '@parley/protocol'
import { caseRows, nameWidthOf, timeText } from './case-table.ts'
import { type Screen, painterFor, plainLines, plainText } from '@parley/screen'
import { usageText } from '@parley/screen/usage'
import { statusStyle, statusWord } from './status-word.ts'

/** How a job ended, with the report where there is one. */
export interface JobEnding {
  readonly state: JobState
  readonly report: Report | null
  /** What the calls of a model came to; null when there were none, or nobody knows. */
  readonly usage: Usage | null
  /** What is done so far of one that has no report yet. */
  readonly cases?: readonly CaseItem[]
  /** Its cases were told one by one: no table of them. */
  readonly areCasesTold?: boolean
  /** The account that looks, where it matters: to whoever cancelled a job it is said so. */
  readonly me?: string | null
}

export async function readEnding(caller: SteadyClient, state: JobState): Promise<JobEnding> {
  const answer: ToolOutput<'job.get_artifacts'> = await caller.call('job.get_artifacts', {
    job_id: state.job_id,
    names: ['report.json', 'usage.json'],
  })
  const report = Report.safeParse(answer.items['report.json']).data ?? null
  const me = state.error?.by === undefined ? {} : { me: (await caller.call('account.get', {})).username }
  return {
    ...me,
    state,
    // A report from before this was said by judges says nothing about it.
    report: report === null ? null : { ...report, unjudged: isUnjudged(report) },
    usage: Usage.safeParse(answer.items['usage.json']).data ?? null,
  }
}

const UNJUDGED_EXIT = 3

/** 0 succeeded, 1 failed, 3 not judged, 130 cancelled. */
export function exitCodeOf({ state }: Pick<JobEnding, 'state'>): number {
  if (state.status === 'succeeded') return state.unjudged ? UNJUDGED_EXIT : 0
  return state.status === 'cancelled' ? 130 : 1
}

const ROWS_MAX = 100
const COMPILE_LINES = 20

/** The whole result for a person: what the compiler said if it failed, the table of verdicts, the sum. */
export function endingText(ending: JobEnding, screen: Screen): string {
  const { state, report, usage, me, cases = [], areCasesTold = false } = ending
  const tests = report?.tests ?? cases
  const paint = painterFor(screen)
  const lines: string[] = []
  const isCompiled = report?.compile?.ok !== false
  if (report?.compile?.ok === false) lines.push(...compilerLines(report.compile), '')
  if (tests.length > 0 && !areCasesTold) lines.push(...tableLines(tests, state.limits, screen), '')
  for (const group of report !== null && isCompiled && report.groups.length > 1 ? report.groups : []) lines.push(groupText(group))
  // A cancelled job's error is that it was cancelled: one line says both.
  const own = state.error?.code === state.status ? state.error : null
  const parts = [
    ...(own === null ? [] : [own.by !== undefined && own.by === me ? 'you cancelled it' : plainText(own.message)]),
    ...sumTexts(ending),
    ...(report === null && cases[0] !== undefined ? [`${cases.length} of ${cases[0].total} cases done`] : []),
  ]
  lines.push(`${paint(statusStyle(state), paint('bold', statusWord(state)))}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}`)
  if (state.error !== null && own === null) lines.push(`${plainText(state.error.code)}: ${plainText(state.error.message)}`)
  if (usage !== null) lines.push(usageText(usage))
  for (const note of report?.notes ?? []) lines.push(paint('dim', `note: ${plainText(note)}`))
  return `${lines.join('\n')}\n`
}

/** A group as far as its cases were judged: what was only run is neither passed nor failed. */
function groupText({ name, passed, total, judged = total, score, points }: Report['groups'][number]): string {
  const counts =
    judged === total ? `${passed} of ${total} passed` : `${passed} of ${judged} judged passed, ${total - judged} not judged`
  return `  ${plainText(name)}: ${counts}${judged === 0 ? '' : `, ${score} of ${points} points`}`
}

function sumTexts({ state, report }: Pick<JobEnding, 'state' | 'report'>): string[] {
  const summary = report?.summary ?? state.summary
  const said = state.unjudged ? unjudgedWords({ ...state, summary }).why : resultText({ ...state, summary })
  if (summary === null) return said === '' ? [] : [said]
  return [
    ...(said === '' ? [] : [said]),
    ...(summary.judged > 0 && summary.max_score > 0 ? [`${summary.score} of ${summary.max_score} points`] : []),
    // Nothing ran: there is nothing to measure.
    ...(summary.memory_kb > 0 || summary.time_ms > 0 ? mostTexts(summary, report?.tests ?? [], state.limits) : []),
  ]
}

function mostTexts(summary: Report['summary'], tests: Report['tests'], limits: CaseBounds): string[] {
  const past = tests.map((result) => pastLimit(result, limits))
  const time = past.find((each) => each.time !== undefined)?.time ?? `${timeText(summary.time_ms)} at most`
  return [time, past.find((each) => each.memory !== undefined)?.memory ?? memoryText(summary.memory_kb)]
}

function tableLines(tests: readonly (CaseResult | CaseItem)[], limits: CaseBounds, screen: Screen): string[] {
  const shown = tests.length <= ROWS_MAX ? tests : tests.filter(({ verdict }) => verdict !== 'AC').slice(0, ROWS_MAX)
  const left = tests.length - shown.length
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
