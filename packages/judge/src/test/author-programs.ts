import type { CompareMode, JobSpec, JudgeProgram, TestCase } from '@parley/protocol'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Compiler } from '../compile/compiler.ts'
import { startOf } from '../compile/program.ts'
import type { Toolchain } from '../language/toolchain.ts'
import type { AuthorProgram } from './case-context.ts'
import { AUTHOR_MEMORY_MB } from './case-limits.ts'

/** The programs of the problem's author, ready to run; or why one is not, in words for a person. */
export type AuthorPrograms =
  | {
      readonly ok: true
      readonly checker: AuthorProgram | null
      readonly interactor: AuthorProgram | null
      readonly release: () => void
    }
  | { readonly ok: false; readonly message: string }

export interface AuthorOrder {
  readonly spec: JobSpec
  readonly cases: readonly TestCase[]
  /** The job's inputs by name. */
  readonly paths: readonly string[]
  readonly inputFolder: string
  readonly toolchains: ReadonlyMap<string, Toolchain>
  readonly compiler: Compiler
}

const HEADERS_MAX = 16
const HEADER = /^tests\/[^/]+\.(h|hpp)$/
const NONE: AuthorPrograms = { ok: true, checker: null, interactor: null, release: () => undefined }

/** Compiles the checker and the interactor if a case asks for them. Headers that lie in `tests/` lie beside them. */
export async function compileAuthors(order: AuthorOrder, signal: AbortSignal): Promise<AuthorPrograms> {
  const { spec, cases } = order
  const modes = new Set<CompareMode>(cases.map(({ compare_mode }) => compare_mode ?? spec.tests.compare.mode))
  const wanted = {
    checker: modes.has('checker') ? spec.tests.checker : null,
    interactor: modes.has('interactive') ? spec.tests.interactor : null,
  }
  if (wanted.checker === null && wanted.interactor === null) return NONE
  const [checker, interactor] = await Promise.all([
    compileOne(order, 'checker', wanted.checker, signal),
    compileOne(order, 'interactor', wanted.interactor, signal),
  ])
  const release = (): void => {
    for (const one of [checker, interactor]) if (one.ok) one.release()
  }
  if (checker.ok && interactor.ok) return { ok: true, checker: checker.program, interactor: interactor.program, release }
  release()
  return { ok: false, message: [checker, interactor].flatMap((one) => (one.ok ? [] : [one.message])).join('; ') }
}

type One =
  | { readonly ok: true; readonly program: AuthorProgram | null; readonly release: () => void }
  | { readonly ok: false; readonly message: string }

async function compileOne(
  { spec, toolchains, compiler, paths, inputFolder }: AuthorOrder,
  what: 'checker' | 'interactor',
  wanted: JudgeProgram | null,
  signal: AbortSignal,
): Promise<One> {
  if (wanted === null) return { ok: true, program: null, release: () => undefined }
  const toolchain = toolchains.get(wanted.language)
  if (toolchain === undefined) return { ok: false, message: `this judge has no ${wanted.language} for the ${what}` }
  const headers = paths.filter((path) => HEADER.test(path)).slice(0, HEADERS_MAX)
  const beside = await Promise.all(
    headers.map(async (path) => ({ name: basename(path), bytes: await readFile(join(inputFolder, path)) })),
  )
  const source = { toolchain, code: wanted.source, owner: spec.owner_user_id, beside, use: 'author' as const }
  const compiled = await compiler.compile(source, signal)
  const result = compiled.ok && toolchain.data.check !== null ? await compiler.check(source, signal) : compiled.result
  if (!compiled.ok || !result.ok) {
    if (compiled.ok) compiled.release()
    const said = Buffer.from(result.stderr_b64, 'base64').toString('utf8').trim().slice(0, 1_000)
    return { ok: false, message: `the ${what} does not compile: ${result.message ?? ''} ${said}`.trim() }
  }
  const program = { start: startOf(compiled.program, AUTHOR_MEMORY_MB), crashSigns: toolchain.data.crashSigns }
  return { ok: true, program, release: compiled.release }
}
