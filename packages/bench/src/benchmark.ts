import type { Needs } from './needs.ts'

/** One number that a benchmark found: the median over its rounds, and how far the rounds lie apart (a share of the median). */
export interface Row {
  readonly target: string
  readonly metric: string
  readonly value: number
  readonly unit: string
  readonly spread: number
}

/** What `bench/results/NAME.json` holds. */
export interface BenchmarkResult {
  readonly rows: readonly Row[]
  readonly ratios: Readonly<Record<string, number>>
  /** How to read the ratios, where it is not the usual: above 1, ours is better. */
  readonly ratiosMean?: string
}

export interface BenchmarkOptions {
  /** Every target is measured once per round, one after the other, so that a slow minute hits all of them. */
  readonly rounds: number
  readonly seconds: number
  /** Only targets whose name contains one of these; all when empty. */
  readonly only: readonly string[]
  readonly log: (line: string) => void
}

export interface Benchmark {
  readonly name: string
  readonly summary: string
  /** What it cannot do without; with `only` as in its options. */
  needs(only: readonly string[]): Needs
  run(options: BenchmarkOptions): Promise<BenchmarkResult>
}
