import type { CaseResult, CompileResult, Discovery, JobError, Report } from '@parley/protocol'
import type { Sandbox } from '@parley/sandbox'
import type { Cores } from '../box/cores.ts'
import type { Comparers } from '../check/comparers.ts'
import { type Compiled, type Compiler, CompilerBroken, type ProgramSource } from '../compile/compiler.ts'
import { startOf } from '../compile/program.ts'
import { Cancelled } from '../compile/shared-work.ts'
import { cppStandard, languageOf } from '../language/standard.ts'
import type { Toolchain } from '../language/toolchain.ts'
import { assembleReport } from '../report/assemble-report.ts'
import { commandLine, compileLines, summaryLine } from '../report/lines.ts'
import type { TestListener, TestRequest } from '../tester.ts'
import { type AuthorPrograms, compileAuthors } from './author-programs.ts'
import type { CaseContext } from './case-context.ts'
import { caseLimits } from './case-limits.ts'
import { type FoundCases, findCases } from './find-cases.ts'
import { refuseCases, runCases } from './run-cases.ts'

/** What every test of this judge shares. */
export interface TestBench {
  readonly sandbox: Sandbox
  readonly cores: Cores
  readonly comparers: Comparers
  readonly compiler: Compiler
  readonly toolchains: ReadonlyMap<string, Toolchain>
}

/** One test under way. */
interface Test {
  readonly bench: TestBench
  readonly request: TestRequest
  readonly listener: TestListener
  readonly signal: AbortSignal
}

/** Compiles a solution, runs its cases and answers the report. */
export async function runTest(
  bench: TestBench,
  request: TestRequest,
  listener: TestListener,
  signal: AbortSignal,
): Promise<Report> {
  const toolchain = bench.toolchains.get(languageOf(request.spec))
  const found = await testWith({ bench, request, listener, signal }, toolchain)
  const report = assembleReport({
    ...found,
    request,
    languageVersion: toolchain?.version ?? null,
    cppStandard: cppStandard(toolchain),
    sandbox: bench.sandbox.report,
    isCancelled: signal.aborted,
  })
  // Whoever stopped a test tells of it: a person who cancelled it, a judge that ends, a clock.
  if (report.status === 'cancelled') return report
  const line = summaryLine(report, request.spec.model)
  listener.terminal(line)
  const level = report.status === 'succeeded' ? 'info' : 'error'
  const stage = report.status === 'succeeded' ? 'done' : 'error'
  listener.status({
    stage,
    level,
    summary: line.trim(),
    progress: 1,
    meta: { phase: 'end', status: report.status, unjudged: report.unjudged },
  })
  return report
}

interface Found {
  readonly discovery: Discovery | null
  readonly compile: CompileResult | null
  readonly results: readonly CaseResult[]
  readonly error: JobError | null
}

async function testWith(test: Test, toolchain: Toolchain | undefined): Promise<Found> {
  const { bench, request, listener, signal } = test
  // What was found stays known when compiling fails: the report counts the cases that were not run.
  let cases: FoundCases = { discovery: null, paths: [], error: null }
  const nothing = (error: JobError | null): Found => ({ discovery: cases.discovery, compile: null, results: [], error })
  if (toolchain === undefined) {
    cases = await findCases(request)
    return nothing({ code: 'language_missing', message: `this judge has no ${request.spec.language}` })
  }
  const tell = (doing: string): void => {
    const summary = `${doing} ${toolchain.version}`
    listener.status({ stage: 'test', level: 'info', summary, progress: 0, meta: { phase: 'compile' } })
  }
  if (toolchain.data.build === null) tell('using')
  const owner = request.spec.owner_user_id
  const source: ProgramSource = { toolchain, code: request.code, owner, beside: [], use: 'program' }
  try {
    const compiling = Promise.allSettled([
      bench.compiler.compile(source, signal, () => tell('compiling with')),
      (async () => {
        cases = await findCases(request)
        return await compileAuthors({ ...bench, ...request, cases: cases.discovery?.cases ?? [], paths: cases.paths }, signal)
      })(),
    ])
    const [compiled, authors] = await (request.clock?.waitsFor(compiling) ?? compiling)
    try {
      if (compiled.status === 'rejected') throw compiled.reason
      if (authors.status === 'rejected') throw authors.reason
      if (compiled.value.result.cached) tell('compiled before with')
      return await testCompiled(test, source, cases, compiled.value, authors.value)
    } finally {
      if (compiled.status === 'fulfilled' && compiled.value.ok) compiled.value.release()
      if (authors.status === 'fulfilled' && authors.value.ok) authors.value.release()
    }
  } catch (cause) {
    if (cause instanceof Cancelled) return nothing(null)
    if (cause instanceof CompilerBroken) return nothing({ code: 'judge_error', message: cause.message })
    throw cause
  }
}

async function testCompiled(
  { bench, request, listener, signal }: Test,
  source: ProgramSource,
  { discovery, error }: FoundCases,
  compiled: Compiled,
  authors: AuthorPrograms,
): Promise<Found> {
  const read = once(() => {
    const reading = readSource(bench.compiler, source, compiled, signal)
    return request.clock?.waitsFor(reading) ?? reading
  })
  const result = discovery === null && compiled.ok ? await read() : compiled.result
  listener.terminal(commandLine(result.cmd) + compileLines(result))
  if (!compiled.ok || !result.ok || discovery === null) return { discovery, compile: result, results: [], error }
  if (!authors.ok) {
    const results = refuseCases(discovery.cases, request, listener, { verdict: 'SE', message: authors.message })
    return { discovery, compile: result, results, error: { code: 'judge_error', message: authors.message } }
  }
  const limits = caseLimits(request.spec, source.toolchain)
  const context: CaseContext = {
    ...bench,
    spec: request.spec,
    asker: { owner: request.spec.owner_user_id, ...(request.clock === undefined ? {} : { clock: request.clock }) },
    inputFolder: request.inputFolder,
    start: startOf(compiled.program, limits.memoryMb),
    limits,
    idleness: { isSure: false },
    memorySigns: source.toolchain.data.memorySigns,
    checker: authors.checker,
    interactor: authors.interactor,
    isReadable: async (outcome) => outcome.status !== 'nonzero' || (await read()).ok,
  }
  const ran = await runCases(context, discovery.cases, request, listener, signal)
  if (ran.isReadable) return { discovery, compile: result, results: ran.results, error: null }
  const refused = await read()
  listener.terminal(compileLines(refused))
  return { discovery, compile: refused, results: [], error: null }
}

/** What a language that is not compiled says about the source when it is asked; of all others the compiler has said it. */
async function readSource(
  compiler: Compiler,
  source: ProgramSource,
  { result }: Compiled,
  signal: AbortSignal,
): Promise<CompileResult> {
  return source.toolchain.data.check === null ? result : await compiler.check(source, signal)
}

function once<Result>(ask: () => Promise<Result>): () => Promise<Result> {
  let answer: Promise<Result> | undefined
  return () => (answer ??= ask())
}
