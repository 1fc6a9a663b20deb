import {
  type CaseBounds,
  type CaseResult,
  type CompileResult,
  type Report,
  countsText,
  shownInstead,
  unjudgedWords,
} from '@parley/protocol'

const NAME_CHARS = 24

/** The compiler's command as it would be typed. */
export function commandLine(cmd: readonly string[]): string {
  return `$ ${cmd.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`)).join(' ')}\n`
}

/** What the compiler said and how it ended. */
export function compileLines(result: CompileResult): string {
  const said = [result.stdout_b64, result.stderr_b64].map((text) => Buffer.from(text, 'base64').toString('utf8')).join('')
  const ending = said === '' || said.endsWith('\n') ? '' : '\n'
  const cut = result.stdout_truncated || result.stderr_truncated ? '… (messages cut)\n' : ''
  return `${said}${ending}${cut}${compileEnd(result)}\n`
}

function compileEnd({ ok, cached, time_ms, memory_kb, message }: CompileResult): string {
  if (!ok) return `compile error: ${message ?? 'the compiler refused it'}`
  if (cached) return 'compiled before'
  return message ?? `compiled in ${Math.round(time_ms)} ms, ${mebibytes(memory_kb)}`
}

/** Where a case stands among all of them. */
export interface CasePlace {
  readonly index: number
  readonly total: number
}

/** One line of the table of cases. */
export function caseLine(result: CaseResult, limits: CaseBounds, { index, total }: CasePlace): string {
  const { name, verdict, time_ms, memory_kb, message, reruns } = result
  const number = String(index + 1).padStart(String(total).length)
  const label = name.length > NAME_CHARS ? `${name.slice(0, NAME_CHARS - 1)}…` : name.padEnd(NAME_CHARS)
  const { time = `${Math.round(time_ms)} ms`, memory = mebibytes(memory_kb) } = shownInstead(result, limits)
  const figures = `${time.padStart(9)} ${memory.padStart(10)}`
  const again = reruns > 0 ? '  (run again)' : ''
  return `${number}  ${label}  ${verdict.padEnd(4)} ${figures}${again}${message === null ? '' : `  ${oneLine(message)}`}\n`
}

/** The last line of a test. `model` is who wrote the program; null: it was handed in. */
export function summaryLine({ status, unjudged, summary, error }: Report, model: string | null): string {
  if (unjudged) {
    const { what, why } = unjudgedWords({ model, summary })
    return `${what}: ${why}\n`
  }
  const { total, judged, run_only, first_failure, first_failure_verdict, score, max_score } = summary
  const isRun = judged + run_only > 0
  const counts = [
    ...(isRun ? [countsText(summary)] : total > 0 ? [status === 'cancelled' ? 'no case was finished' : 'no case was run'] : []),
    ...(first_failure === null ? [] : [`first failure ${first_failure} (${first_failure_verdict})`]),
    ...(isRun && max_score > 0 ? [`score ${score} of ${max_score}`] : []),
  ]
  const why = error === null || error.code === 'tests_failed' ? [] : [oneLine(error.message)]
  return `${status}: ${[...why, ...counts].join(', ')}\n`
}

const mebibytes = (kilobytes: number): string => `${(kilobytes / 1024).toFixed(1)} MiB`
const oneLine = (text: string): string => (text.split('\n')[0] ?? '').slice(0, 200)
