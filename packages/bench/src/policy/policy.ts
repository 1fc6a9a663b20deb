import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Benchmark, BenchmarkOptions, BenchmarkResult } from '../benchmark.ts'
import { outputOf } from '../measure/output-of.ts'
import { Rounds, valueOf } from '../rounds.ts'
import { Measured } from './measured.ts'

const MAIN = join(dirname(fileURLToPath(import.meta.url)), 'decide-main.ts')

/** A decision of three layers with fifty rules each, beside the same written as a function. */
export const policyBenchmark: Benchmark = {
  name: 'policy',
  summary: 'a decision of three layers with fifty rules each beside a bare function; rules that cannot match',
  needs: () => ({ programs: [], peers: [] }),
  run,
}

async function run({ rounds, seconds, log }: BenchmarkOptions): Promise<BenchmarkResult> {
  const found = new Rounds()
  for (let round = 1; round <= rounds; round += 1) {
    log(`round ${round} of ${rounds}`)
    const output = await outputOf(process.execPath, [MAIN, '--seconds', String(seconds)])
    const { us } = Measured.parse(JSON.parse(output.trim().split('\n').at(-1) ?? ''))
    for (const [target, [middle = Number.NaN, slow = Number.NaN]] of Object.entries(us)) {
      found.add(target, 'p50', 'µs', middle)
      found.add(target, 'p99', 'µs', slow)
    }
  }
  const rows = found.rows()
  const middle = (target: string): number => valueOf(rows, target, 'p50') ?? Number.NaN
  const ratios = {
    policy_vs_function: middle('policy') / middle('function'),
    cannot_match_500_vs_5: middle('cannot_match_500') / middle('cannot_match_5'),
  }
  return { rows, ratios, ratiosMean: 'costs: how many times as long the first takes' }
}
