import { join } from 'node:path'
import { type JobError, type JobSpec, type Report, countsText } from '@parley/protocol'
import type { Generated, Generator } from './generator.ts'
import { type Answer, LoggedMemory } from './logged-memory.ts'
import type { Outcome, WorkParts } from './work-on.ts'

/** An attempt that was tested. */
interface Tried extends Answer {
  readonly attempt: number
  readonly report: Report
}

/** How a job's solution is tested; `cancelled` in the report when its signal fired. */
export type TestAttempt = (attempt: number, code: string) => Promise<Report>

/** Lets an engine write and the tester judge, until a solution holds, the attempts are used up, or nothing more can be done. */
export async function generateAndTest(
  parts: WorkParts,
  spec: JobSpec,
  generator: Generator,
  testAttempt: TestAttempt,
): Promise<Outcome> {
  const { job, logs, limits } = parts
  const memory = await LoggedMemory.open(job, limits, (message) =>
    logs.status({ stage: 'analysis', level: 'warn', summary: `transcript: ${message}` }),
  )
  if (memory.warning !== undefined) logs.status({ stage: 'analysis', level: 'warn', summary: memory.warning })
  else if (memory.isResumed) logs.status({ stage: 'analysis', level: 'info', summary: 'goes on where the judge before stood' })
  const most = Math.min(spec.max_attempts, limits.attempts)
  const tried: Tried[] = []
  for (let attempt = 1; ; attempt += 1) {
    logs.attempt = attempt
    const known = memory.answer(attempt)
    const before = { last: tried.at(-1), rejected: memory.failure(attempt - 1) ?? null }
    const missed = memory.failure(attempt)
    const generated =
      known !== undefined
        ? ready(known)
        : missed !== undefined
          ? { kind: 'failed' as const, error: missed }
          : await generate(parts, spec, generator, memory, before, attempt)
    if (job.signal.aborted) return stopped(parts, spec, tried)
    if (generated.kind === 'failed') {
      const { error } = generated
      if (!isAnswered(error)) return failed(parts, spec, tried, attempt, error)
      if (attempt >= most) return failed(parts, spec, tried, attempt, ofAll(error, attempt))
      if (missed === undefined) await memory.failed(attempt, error)
      logs.status({
        stage: 'repair',
        level: 'warn',
        summary: `no program: ${error.message}; attempt ${attempt + 1} of ${most} follows`,
      })
      continue
    }
    const answer = { code: generated.code, solution: generated.solution ?? null, notes: generated.notes ?? [] }
    if (known === undefined) await memory.answered(attempt, answer)
    let report = memory.report(attempt)
    if (report === undefined) {
      const found = await testAttempt(attempt, answer.code)
      if (job.signal.aborted || found.status === 'cancelled') return reported(spec, { attempt, ...answer, report: found })
      report = withNotes(generator.cleaned?.(found) ?? found, answer.notes)
      await memory.reported(attempt, report)
    }
    tried.push({ attempt, ...answer, report })
    if (report.status === 'succeeded' || !isRepairable(report)) return reported(spec, { attempt, ...answer, report })
    if (attempt >= most) return reported(spec, best(tried, attempt))
  }
}

/** What an attempt has before it: the last one that was tested, and why the one before gave no program. */
interface Before {
  readonly last: Tried | undefined
  readonly rejected: JobError | null
}

/** Failures of the answer and not of the way to the model: told what was wrong, the model may do better. */
const ANSWERED: ReadonlySet<string> = new Set(['generate_unreadable', 'model_refusal', 'model_malformed', 'model_length'])
const isAnswered = ({ code }: JobError): boolean => ANSWERED.has(code)
const ofAll = ({ code, message }: JobError, attempts: number): JobError =>
  attempts === 1 ? { code, message } : { code, message: `${message} (the last of ${attempts} attempts)` }

async function generate(
  { job, logs, tester, folder, judgeName }: WorkParts,
  spec: JobSpec,
  generator: Generator,
  memory: LoggedMemory,
  { last, rejected }: Before,
  attempt: number,
): Promise<Generated> {
  await job.patch({ status: 'running_generate', attempt })
  const book = async (which: number, { id, usage }: { readonly id: string; readonly usage: object }) =>
    (await job.ingestUsage({ attempt: which, call_id: id, usage: { ...usage } })).total
  const request = {
    spec,
    inputFolder: join(folder, 'input'),
    attempt,
    claim: job.claim.claim,
    previous: last === undefined ? null : { code: last.code, report: last.report },
    rejected,
    ports: {
      folder,
      judgeName,
      tester,
      memory,
      prepare: (which: number, signal: AbortSignal) => job.prepareGenerate(which, signal),
      ingest: book,
    },
  }
  const generated = await generator.generate(request, logs.engine, job.signal)
  for (const call of generated.calls ?? []) await book(attempt, call)
  return generated
}

const ready = ({ code, solution, notes }: Answer): Generated => ({
  kind: 'code',
  code,
  notes,
  ...(solution === null ? {} : { solution }),
})

/** Whether another program could do better: not where the judge or the tests are at fault. */
function isRepairable({ error }: Report): boolean {
  return error?.code === 'tests_failed' || error?.code === 'compile_error'
}

/** The attempt that passed the most; of equals the latest. That it is not the last one is said in its report. */
function best(tried: readonly Tried[], last: number): Tried {
  const [first, ...others] = tried
  if (first === undefined) throw new RangeError('nothing was tried')
  const found = others.reduce((so, next) => (rank(next) >= rank(so) ? next : so), first)
  return found.attempt === last ? found : { ...found, report: withNotes(found.report, [noteOf(found)]) }
}

const rank = ({ report: { compile, summary } }: Tried): number => (compile?.ok === true ? summary.passed + 1 : 0)
const noteOf = ({ attempt, report: { summary } }: Tried): string =>
  `this is attempt ${attempt}, which did best: ${summary.judged + summary.run_only > 0 ? countsText(summary) : 'no case was run'}`

/** An attempt that came to no answer. What an earlier one came to is still the best there is. */
function failed({ logs }: WorkParts, spec: JobSpec, tried: readonly Tried[], attempt: number, error: JobError): Outcome {
  if (tried.length === 0) return { kind: 'failed', spec, attempt, error }
  const found = best(tried, attempt)
  logs.status({ stage: 'error', level: 'error', summary: `${error.code}: ${error.message}`, meta: { reported: found.attempt } })
  return reported(spec, { ...found, report: { ...found.report, status: 'failed', error } })
}

/** A cancelled job still shows what it had. */
function stopped({ job }: WorkParts, spec: JobSpec, tried: readonly Tried[]): Outcome {
  return job.reason === 'cancel' && tried.length > 0 ? reported(spec, best(tried, 0)) : { kind: 'stopped', spec }
}

function reported(spec: JobSpec, { attempt, code, solution, report }: Tried): Outcome {
  return { kind: 'reported', spec, attempt, code, report, ...(solution === null ? {} : { solution }) }
}

const withNotes = (report: Report, notes: readonly string[]): Report =>
  notes.length === 0 ? report : { ...report, notes: [...new Set([...report.notes, ...notes])] }
