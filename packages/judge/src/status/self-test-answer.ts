import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { type CaseResult, type Report, STATUS_LIMITS, type SelfTestFailure, unjudgedWords } from '@parley/protocol'
import { isFailure } from '../report/judged.ts'
import { caseLine } from '../report/lines.ts'
import { cutShown, tailShown } from './cut.ts'
import type { SelfTestAnswer } from './self-test.ts'

const { tailChars } = STATUS_LIMITS
/** More bytes than characters that are shown, whatever they are. */
const READ_BYTES = tailChars * 4

/** What an engine gets to know of a test: all of the cases that it may see, and of the others how many passed. */
export async function selfTestAnswer(report: Report, inputFolder: string): Promise<SelfTestAnswer> {
  const ok = report.status === 'succeeded'
  const { compile, summary, unjudged, environment } = report
  const seen = report.tests.filter(({ hidden }) => !hidden)
  const hidden = report.tests.filter((result) => result.hidden)
  const first = seen.find(isFailure)
  const hiddenPassed = hidden.filter(({ verdict }) => verdict === 'AC').length
  const hiddenFailed = hidden.filter(isFailure).length
  const isBroken = compile !== null && !compile.ok
  const isOurs = report.error !== null && !THEIRS.has(report.error.code)
  return {
    ok,
    status: isOurs ? 'error' : report.status,
    runner_exit_code: ok ? 0 : 1,
    compile_ok: compile?.ok ?? null,
    compile_output: compileOutput(report),
    first_failure: first?.name ?? null,
    first_failure_verdict: isBroken ? 'CE' : (first?.verdict ?? null),
    first_failure_message: isBroken
      ? summary.first_failure_message
      : (first?.message ?? (hiddenFailed > 0 ? `${hiddenFailed} of ${hidden.length} hidden cases failed` : null)),
    failure: first === undefined ? null : await failureOf(first, inputFolder),
    unjudged,
    ...(unjudged ? { note: noteOf(report) } : {}),
    passed: summary.passed,
    judged: summary.judged,
    run_only: summary.run_only,
    total: summary.total,
    hidden_passed: hiddenPassed,
    hidden_total: hidden.length,
    // Of the cases that may be seen alone: the worst of all would tell about the others.
    time_ms: Math.max(0, ...seen.map(({ time_ms }) => time_ms)),
    memory_kb: Math.max(0, ...seen.map(({ memory_kb }) => memory_kb)),
    stdout_tail: tailShown(
      seen.map((result, index) => caseLine(result, environment, { index, total: seen.length })).join(''),
      tailChars,
    ),
    stderr_tail: tailShown(isBroken ? textOf(compile.stderr_b64) : textOf(first?.stderr_b64 ?? ''), tailChars),
    ...(isOurs && report.error !== null && hidden.length === 0 ? { error: report.error.message } : {}),
    ...(isOurs && hidden.length > 0 ? { error: `the judge could not test it (${report.error?.code})` } : {}),
  }
}

/** Errors of a report that are a verdict on the program. */
const THEIRS: ReadonlySet<string> = new Set(['tests_failed', 'compile_error'])

/** Why a test without a failure proves nothing. */
function noteOf({ summary }: Report): string {
  const { what, why } = unjudgedWords({ model: null, summary })
  return `${what}: ${why}`
}

/** What the compiler said, the beginning of it: the first error is the one that counts. */
export function compileOutput({ compile }: Report, chars: number = tailChars): string {
  if (compile === null) return ''
  const said = [compile.stderr_b64, compile.stdout_b64].map((text) => textOf(text)).join('')
  const limit = compile.ok || compile.message === null ? '' : `${compile.message}\n`
  return cutShown(`${limit}${said}`.trimEnd(), chars)
}

/** The first failing case with its data, each text cut. Only for a case that may be seen. */
export async function failureOf(result: CaseResult, inputFolder: string, chars: number = tailChars): Promise<SelfTestFailure> {
  const { name, verdict, message, input_rel, expected_rel, time_ms, memory_kb, stdout_b64, stderr_b64 } = result
  return {
    name,
    verdict,
    message: message === null ? null : cutShown(message, chars),
    hidden: false,
    input: await readShown(join(inputFolder, input_rel), chars),
    expected: expected_rel === null ? null : await readShown(join(inputFolder, expected_rel), chars),
    actual: cutShown(textOf(stdout_b64), chars),
    stderr: stderr_b64 === '' ? null : tailShown(textOf(stderr_b64), chars),
    time_ms,
    memory_kb,
  }
}

/** The beginning of a file as text; null when it cannot be read. */
export async function readShown(path: string, chars: number): Promise<string | null> {
  try {
    await using file = await open(path, 'r')
    const { size } = await file.stat()
    const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(size, READ_BYTES, chars * 4)), { position: 0 })
    const text = new TextDecoder().decode(buffer.subarray(0, bytesRead), { stream: bytesRead < size })
    const shown = cutShown(text, chars)
    return bytesRead < size && shown === text ? `${text}\n… (cut: ${size} bytes in all)` : shown
  } catch {
    return null
  }
}

const textOf = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8')
