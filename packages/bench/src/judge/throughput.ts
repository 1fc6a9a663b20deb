import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTester } from '@parley/judge'
import { JOB_LIMITS, type JobSpec } from '@parley/protocol'
import { openSandbox } from '@parley/sandbox'
import { outputOf } from '../measure/output-of.ts'
import type { Rounds } from '../rounds.ts'
import { bareRuns } from './bare.ts'

const CASES = 100
const CORES = 2
const CODE = '#include <cstdio>\nint main() { long a, b; if (scanf("%ld %ld", &a, &b) == 2) printf("%ld\\n", a + b); }\n'

/** A hundred short cases on two cores, judged, beside the same runs in a loop per core. */
export async function throughputRound(rounds: Rounds): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-cases-'))
  try {
    await writeCases(join(folder, 'input', 'tests'))
    const [source, program, input] = [join(folder, 'main.cpp'), join(folder, 'main'), join(folder, 'input', 'tests', '1.in')]
    await writeFile(source, CODE)
    await outputOf('g++', ['-O2', '-o', program, source])
    const sandbox = await openSandbox({ driver: 'auto', cacheFolder: join(folder, 'cache'), runFolder: join(folder, 'run') })
    const searchPath = ['/usr/local/bin', '/usr/bin', '/bin']
    const tester = await openTester({
      sandbox,
      cores: CORES,
      searchPath,
      nodePath: process.execPath,
      cacheFolder: join(folder, 'programs'),
    })
    try {
      const request = { spec: specOf(), code: CODE, inputFolder: join(folder, 'input'), attempt: 1, claim: 1, judgeName: 'bench' }
      const silent = { terminal: () => {}, status: () => {}, caseDone: () => {} }
      const { signal } = new AbortController()
      await tester.test(request, silent, signal)
      for (let turn = 0; turn < 3; turn += 1) {
        const begun = performance.now()
        const report = await tester.test(request, silent, signal)
        const judgedMs = performance.now() - begun
        if (report.summary.passed !== CASES) throw new Error(`${report.summary.passed} of ${CASES} passed`)
        rounds.add('judge', 'cases', '/s', (CASES * 1000) / judgedMs)
        const bare = await bareRuns([program], { runs: CASES, lanes: CORES, input })
        rounds.add('bare loop per core', 'cases', '/s', (CASES * 1000) / bare.totalMs)
        rounds.add('bare loop per core', 'spawner', 'MB', bare.residentMb)
      }
    } finally {
      await tester.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function writeCases(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (let index = 1; index <= CASES; index += 1) {
    await writeFile(join(folder, `${index}.in`), `${index} 1\n`)
    await writeFile(join(folder, `${index}.out`), `${index + 1}\n`)
  }
}

function specOf(): JobSpec {
  return {
    schema_version: 'job.v1',
    job_id: 'bench',
    owner_user_id: null,
    title: 'sums',
    language: 'cpp',
    model: null,
    upstream_channel: null,
    engine: null,
    problem: { statement_md: '' },
    seed: { current_code: CODE, current_code_cpp: CODE },
    search_mode: 'disabled',
    reasoning_effort: 'low',
    max_attempts: 3,
    budget: { tokens: null, microusd: null },
    limits: {
      time_limit_ms: 1_000,
      memory_limit_mb: 256,
      cpus: JOB_LIMITS.cpus,
      pids_limit: JOB_LIMITS.pidsLimit,
      max_output_bytes_per_test: JOB_LIMITS.outputBytesPerTest,
      max_terminal_log_bytes: JOB_LIMITS.terminalLogBytes,
    },
    compile: { cpp_std: 'c++20' },
    tests: {
      dir: 'tests',
      present: true,
      format: 'auto',
      compare: { mode: 'tokens', tolerance: null },
      run_if_no_expected: true,
      checker: null,
      interactor: null,
      samples: null,
    },
  }
}
