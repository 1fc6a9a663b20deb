import {
  type CompareMode,
  type Discovery,
  JOB_LIMITS,
  type JobId,
  type JobSpec,
  type Language,
  type UserId,
  wrongArgument,
} from '@parley/protocol'
import type { CreateArguments } from './checks.ts'
import { titleOf } from './title.ts'
import type { HandedTests } from './inputs-tests.ts'

const CPP_STD: Partial<Record<Language, string>> = { cpp: 'c++20', cpp17: 'c++17', cpp20: 'c++20', cpp23: 'c++23' }
const { timeLimitMs, memoryLimitMb } = JOB_LIMITS
const DEFAULT_MODE: CompareMode = 'tokens'

/** `job.json`. What the call leaves at its default the manifest may set; what the call says counts. */
export function specOf(
  args: CreateArguments,
  job: { readonly id: JobId; readonly ownerId: UserId | null; readonly code: string; readonly channel: string | null },
  tests: HandedTests | undefined,
): JobSpec {
  const discovery = tests?.discovery
  const cppStd = CPP_STD[args.language] ?? null
  const checker = args.checker ?? tests?.checker ?? null
  const interactor = args.interactor ?? tests?.interactor ?? null
  const mode = modeOf(args, discovery)
  checkPrograms(mode, discovery, { checker, interactor })
  return {
    schema_version: 'job.v1',
    job_id: job.id,
    owner_user_id: job.ownerId,
    title: titleOf(args.title, args.statement_md),
    language: args.language,
    model: args.model ?? null,
    upstream_channel: job.channel,
    engine: args.engine ?? null,
    problem: { statement_md: args.statement_md },
    seed: { current_code: job.code, current_code_cpp: cppStd === null ? '' : job.code },
    search_mode: args.search_mode,
    reasoning_effort: args.reasoning_effort,
    max_attempts: args.max_attempts,
    budget: { tokens: args.budget?.tokens ?? null, microusd: args.budget?.microusd ?? null },
    limits: {
      time_limit_ms: unlessDefault(args.time_limit_ms, timeLimitMs.default, discovery?.timeLimitMs),
      memory_limit_mb: unlessDefault(args.memory_limit_mb, memoryLimitMb.default, discovery?.memoryLimitMb),
      cpus: JOB_LIMITS.cpus,
      pids_limit: JOB_LIMITS.pidsLimit,
      max_output_bytes_per_test: JOB_LIMITS.outputBytesPerTest,
      max_terminal_log_bytes: JOB_LIMITS.terminalLogBytes,
    },
    compile: { cpp_std: cppStd },
    tests: {
      dir: 'tests',
      present: tests !== undefined,
      format: args.tests_format,
      compare: { mode, tolerance: args.float_tolerance ?? discovery?.floatTolerance ?? null },
      run_if_no_expected: args.run_if_no_expected,
      checker,
      interactor,
      samples: args.samples ?? null,
    },
  }
}

const unlessDefault = (said: number, standard: number, manifest: number | undefined): number =>
  said === standard ? (manifest ?? standard) : said

/** A program that came along and that no case asks for by itself is meant for all of them. */
function modeOf(args: CreateArguments, discovery: Discovery | undefined): CompareMode {
  if (args.compare_mode !== DEFAULT_MODE) return args.compare_mode
  if (discovery?.compareMode !== undefined) return discovery.compareMode
  if (args.interactor !== undefined && !asks(discovery, 'interactive')) return 'interactive'
  return args.checker !== undefined && !asks(discovery, 'checker') ? 'checker' : DEFAULT_MODE
}

function checkPrograms(
  mode: CompareMode,
  discovery: Discovery | undefined,
  has: Pick<JobSpec['tests'], 'checker' | 'interactor'>,
): void {
  for (const [wanted, field] of [
    ['checker', 'checker'],
    ['interactive', 'interactor'],
  ] as const)
    if (has[field] === null && (mode === wanted || asks(discovery, wanted)))
      throw wrongArgument(field, `is needed to compare by ${wanted}`, `give ${field}, or name one in manifest.json`)
}

const asks = (discovery: Discovery | undefined, mode: CompareMode): boolean =>
  discovery?.cases.some((entry) => entry.compare_mode === mode) ?? false
