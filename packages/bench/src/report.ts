import { mkdir, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BenchmarkResult, Row } from './benchmark.ts'

const RESULTS = resolve(dirname(fileURLToPath(import.meta.url)), '../../../bench/results')

/** Writes the numbers beside what they were measured on, and answers the file. */
export async function writeResult(name: string, result: BenchmarkResult, at: Date): Promise<string> {
  const file = join(RESULTS, `${name}.json`)
  const machine = { node: process.version, platform: process.platform, cpus: cpus().length, model: cpus()[0]?.model ?? 'unknown' }
  await mkdir(RESULTS, { recursive: true })
  await writeFile(file, `${JSON.stringify({ name, at: at.toISOString(), machine, ...result }, null, 2)}\n`)
  return file
}

/** One line per target, one column per metric. */
export function tableOf(result: BenchmarkResult): string {
  const metrics = [...new Set(result.rows.map((row) => row.metric))]
  const targets = [...new Set(result.rows.map((row) => row.target))]
  const head = ['target', ...metrics.map((metric) => `${metric} [${unitOf(result.rows, metric)}]`)]
  const body = targets.map((target) => [target, ...metrics.map((metric) => cell(result.rows, target, metric))])
  const ratios = Object.entries(result.ratios).map(([name, value]) => [name, value.toFixed(2)])
  const meaning = result.ratiosMean ?? 'above 1, ours is better'
  return `${aligned([head, ...body])}\n\n${aligned([['ratio', 'value'], ...ratios])}\n(${meaning})\n`
}

function unitOf(rows: readonly Row[], metric: string): string {
  return rows.find((row) => row.metric === metric)?.unit ?? ''
}

function cell(rows: readonly Row[], target: string, metric: string): string {
  const row = rows.find((candidate) => candidate.target === target && candidate.metric === metric)
  return row === undefined ? '-' : `${digits(row.value)} ±${Math.round(row.spread * 50)}%`
}

function digits(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toPrecision(3)
}

function aligned(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)))
  return lines
    .map((line) =>
      line
        .map((text, column) => (column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0)))
        .join('  '),
    )
    .join('\n')
}
