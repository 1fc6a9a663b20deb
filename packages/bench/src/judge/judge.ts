import type { Benchmark, BenchmarkOptions, BenchmarkResult } from '../benchmark.ts'
import { Rounds, valueOf } from '../rounds.ts'
import { fanOutRound } from './fan-out.ts'
import { latencyRound } from './latency.ts'
import { throughputRound } from './throughput.ts'

const PARTS = { throughput: throughputRound, latency: latencyRound, 'fan-out': fanOutRound } as const

/** What judging costs beside running: many short cases, the way to the first result, and the way to everybody who watches. */
export const judgeBenchmark: Benchmark = {
  name: 'judge',
  summary: 'cases a second, time to the first result and to a hundred subscribers, beside bare runs',
  needs: () => ({ programs: ['cc', 'g++', 'python3'], peers: [] }),
  run,
}

async function run(options: BenchmarkOptions): Promise<BenchmarkResult> {
  const rounds = new Rounds()
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const [name, part] of Object.entries(PARTS).filter(
      ([part]) => options.only.length === 0 || options.only.includes(part),
    )) {
      await part(rounds)
      options.log(`${round}/${options.rounds} ${name}`)
    }
  }
  const rows = rounds.rows()
  const ratio = (ours: string, theirs: string, metric: string, better: 'more' | 'less'): number | undefined => {
    const [a, b] = [valueOf(rows, ours, metric), valueOf(rows, theirs, metric)]
    if (a === undefined || b === undefined) return undefined
    return better === 'more' ? a / b : b / a
  }
  const found = {
    cases_vs_bare_loop: ratio('judge', 'bare loop per core', 'cases', 'more'),
    python_start_vs_bare: ratio('judge, Python', 'bare, Python', 'start_to_case', 'less'),
    c_start_vs_bare: ratio('judge, C cached', 'bare, C', 'start_to_case', 'less'),
  }
  return {
    rows,
    ratios: Object.fromEntries(Object.entries(found).filter((entry): entry is [string, number] => entry[1] !== undefined)),
  }
}
