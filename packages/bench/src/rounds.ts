import type { Row } from './benchmark.ts'
import { median, spread } from './statistics.ts'

/** Collects one value per target, metric and round, and makes rows of them. */
export class Rounds {
  readonly #values = new Map<
    string,
    { readonly target: string; readonly metric: string; readonly unit: string; readonly values: number[] }
  >()

  add(target: string, metric: string, unit: string, value: number): void {
    const key = `${target}\n${metric}`
    const known = this.#values.get(key)
    if (known === undefined) this.#values.set(key, { target, metric, unit, values: [value] })
    else known.values.push(value)
  }

  rows(): readonly Row[] {
    return [...this.#values.values()].map(({ target, metric, unit, values }) => ({
      target,
      metric,
      unit,
      value: median(values),
      spread: spread(values),
    }))
  }
}

export function valueOf(rows: readonly Row[], target: string, metric: string): number | undefined {
  return rows.find((row) => row.target === target && row.metric === metric)?.value
}

/**
 * How many times better ours is: the lower of the ratio of rates and the ratio of processor time per call, so that neither a
 * lucky minute nor a second core can make it look better than it is.
 */
export function ratioOf(rows: readonly Row[], ours: string, theirs: string, suffix: string): number | undefined {
  const [rate, theirRate] = [valueOf(rows, ours, `rate_${suffix}`), valueOf(rows, theirs, `rate_${suffix}`)]
  const [cpu, theirCpu] = [valueOf(rows, ours, `cpu_${suffix}`), valueOf(rows, theirs, `cpu_${suffix}`)]
  if (rate === undefined || theirRate === undefined) return undefined
  const rates = rate / theirRate
  return cpu === undefined || theirCpu === undefined ? rates : Math.min(rates, theirCpu / cpu)
}
