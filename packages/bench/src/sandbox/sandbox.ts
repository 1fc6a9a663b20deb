import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import type { Benchmark, BenchmarkOptions, BenchmarkResult, Row } from '../benchmark.ts'
import { outputOf } from '../measure/output-of.ts'
import { median, spread } from '../statistics.ts'

const HERE = dirname(fileURLToPath(import.meta.url))
const RUNS_A_ROUND = 100
const SMALL_BYTES = 100 * 1000 * 1000
const BWRAP = '/usr/bin/bwrap'
/** A small heap, few threads and one arena keep the spawning process small. */
const NODE_FLAGS = ['--max-semi-space-size=1', '--single-threaded']
const NODE_ENVIRONMENT = { MALLOC_ARENA_MAX: '1' }

const Measured = z.object({
  tier: z.string(),
  residentBytes: z.number(),
  samples: z.record(z.string(), z.array(z.number())),
  cpuErrorsMs: z.array(z.number()),
  memoryErrorsKib: z.array(z.number()),
})

/**
 * One trivial program, request to result: in a box beside Node's bare spawn and bubblewrap, one after the other. Here a ratio is a
 * cost: `cage_vs_bare_spawn` below 1 means that the sandboxed run is the cheaper one.
 */
export const sandboxBenchmark: Benchmark = {
  name: 'sandbox',
  summary: 'one trivial program in a box beside Node’s bare spawn and bubblewrap, and how true its figures are',
  needs: () => ({ programs: ['bwrap', 'cc', 'g++'], peers: [] }),
  run,
}

async function run(options: BenchmarkOptions): Promise<BenchmarkResult> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-bench-'))
  try {
    await outputOf('g++', ['-O2', '-o', join(folder, 'sum'), join(HERE, 'programs', 'sum.cpp')])
    await outputOf('cc', ['-O2', '-static', '-o', join(folder, 'known'), join(HERE, 'programs', 'known.c')])
    const bwrap = existsSync(BWRAP) ? ['--bwrap', BWRAP] : []
    const runs = String(options.rounds * RUNS_A_ROUND)
    const words = [...NODE_FLAGS, join(HERE, 'runs-main.ts'), '--folder', folder, '--runs', runs, ...bwrap]
    const output = await outputOf(process.execPath, words, NODE_ENVIRONMENT)
    const measured = Measured.parse(JSON.parse(output.trim().split('\n').at(-1) ?? ''))
    options.log(
      `tier ${measured.tier}; ${runs} runs of each; the spawning process held ${Math.round(measured.residentBytes / 1e6)} MB`,
    )
    if (measured.residentBytes > SMALL_BYTES)
      options.log('that is more than 100 MB: a bare spawn from a smaller process would be faster')
    return resultOf(measured)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function resultOf(measured: z.infer<typeof Measured>): BenchmarkResult {
  const rows: Row[] = Object.entries(measured.samples).flatMap(([target, samples]) => [
    { target, metric: 'run_p50', unit: 'ms', value: median(samples), spread: spread(mediansOfRounds(samples)) },
    { target, metric: 'run_p95', unit: 'ms', value: percentile(samples, 0.95), spread: 0 },
  ])
  const errors = measured.cpuErrorsMs.map(Math.abs)
  const memory = measured.memoryErrorsKib.map(Math.abs)
  const figure = (metric: string, unit: string, value: number): Row => ({ target: 'cage', metric, unit, value, spread: 0 })
  rows.push(
    figure('cpu_error_p50', 'ms', median(errors)),
    figure('cpu_error_p95', 'ms', percentile(errors, 0.95)),
    figure('memory_error_p50', 'KiB', median(memory)),
    figure('memory_error_max', 'KiB', Math.max(...memory)),
    { target: 'bare_spawn', metric: 'spawner_size', unit: 'MB', value: measured.residentBytes / 1e6, spread: 0 },
  )
  const cost = (target: string): number => median(measured.samples[target] ?? [Number.NaN])
  const ratios = {
    cage_vs_bare_spawn: cost('cage') / cost('bare_spawn'),
    ...(measured.samples['bwrap'] === undefined ? {} : { bwrap_vs_bare_spawn: cost('bwrap') / cost('bare_spawn') }),
  }
  return { rows, ratios, ratiosMean: 'costs: below 1, cheaper than a bare spawn' }
}

function mediansOfRounds(samples: readonly number[]): readonly number[] {
  const rounds = Array.from({ length: Math.ceil(samples.length / RUNS_A_ROUND) }, (_, round) =>
    samples.slice(round * RUNS_A_ROUND, (round + 1) * RUNS_A_ROUND),
  )
  return rounds.map(median)
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) * share)] ?? Number.NaN
}
