import { type CaseResult, type JobSpec, type Report, countsText, mainFile, pastLimit } from '@parley/protocol'
import { isFailure } from '../report/judged.ts'
import { compileOutput, failureOf } from '../status/self-test-answer.ts'
import type { GenerateLimits } from './generate-limits.ts'
import { quoted } from './prompt.ts'

/** Asks for a better program: what became of the last one, with data of the failures that may be seen. */
export async function repairText(
  spec: JobSpec,
  previous: { readonly code: string; readonly report: Report },
  inputFolder: string,
  limits: GenerateLimits,
): Promise<string> {
  const { code, report } = previous
  const parts = [
    `The judge tested the program that you handed in, and it does not hold: ${outcomeOf(report)}.`,
    quoted(`your ${mainFile(spec.language)}`, code),
    ...(report.compile?.ok === false
      ? ['The compiler says:', quoted('compiler', compileOutput(report, limits.failureChars * 2))]
      : await failureTexts(report, inputFolder, limits)),
    'Find out why, mend it or take another way, run judge.self_test on the new program until it answers `ok: true`, and answer with the whole document again.',
  ]
  return parts.join('\n\n')
}

function outcomeOf({ compile, tests, summary }: Report): string {
  if (compile?.ok === false) return 'it does not compile'
  const hidden = tests.filter((result) => result.hidden)
  const failedHidden = hidden.filter(isFailure).length
  const seen = tests.length - hidden.length
  const failedSeen = tests.filter((result) => !result.hidden && isFailure(result)).length
  return [
    countsText(summary),
    ...(seen > 0 && failedSeen > 0 ? [`${failedSeen} of the ${seen} that you can see failed`] : []),
    ...(failedHidden > 0 ? [`${failedHidden} of ${hidden.length} hidden ones failed`] : []),
  ].join(', ')
}

async function failureTexts(report: Report, inputFolder: string, limits: GenerateLimits): Promise<string[]> {
  const failures = report.tests.filter((result) => !result.hidden && isFailure(result))
  const shown = await Promise.all(
    failures.slice(0, limits.failures).map(async (result) => {
      const { name, verdict, message, input, expected, actual, stderr } = await failureOf(
        result,
        inputFolder,
        limits.failureChars,
      )
      const facts = factsOf(result, report.environment)
      const texts: readonly (readonly [string, string | null])[] = [
        ['judge’s words', message],
        ['input', input],
        ['expected output', expected],
        ['output of your program', actual === '' && verdict !== 'WA' ? null : actual],
        ['standard error of your program', stderr],
      ]
      return [
        `Case ${JSON.stringify(name)}: ${verdict} (${MEANINGS[verdict] ?? 'failed'}; ${facts})${exitWords(result)}`,
        ...texts.flatMap(([what, text]) => (text === null ? [] : [quoted(what, text)])),
      ].join('\n')
    }),
  )
  const more = failures.length - shown.length
  const rest = failures.slice(shown.length).map(({ verdict }) => verdict)
  return [...shown, ...(more > 0 ? [`${more} more cases that you can see failed: ${countsOf(rest)}.`] : [])]
}

const MEANINGS: Readonly<Record<string, string>> = {
  WA: 'wrong answer',
  PE: 'wrong form of the answer',
  RE: 'it crashed',
  TLE: 'too slow',
  ILE: 'it waited and did nothing',
  MLE: 'too much memory',
  OLE: 'too much output',
}

function factsOf(result: CaseResult, environment: Report['environment']): string {
  const { time_limit_ms, memory_limit_mb } = environment
  const { time = `${Math.round(result.time_ms)} ms`, memory = `${Math.ceil(result.memory_kb / 1024)} MiB` } = pastLimit(
    result,
    environment,
  )
  return `${time} of ${time_limit_ms}, ${memory} of ${memory_limit_mb}`
}

function exitWords({ verdict, signal, exit_code }: CaseResult): string {
  if (verdict !== 'RE') return ''
  return signal === null ? `, exit code ${exit_code}` : `, ${signal}`
}

function countsOf(verdicts: readonly string[]): string {
  return [...Map.groupBy(verdicts, (verdict) => verdict)].map(([verdict, all]) => `${all.length} ${verdict}`).join(', ')
}
