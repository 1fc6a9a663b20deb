import { parseArgs } from 'node:util'
import type { Benchmark } from './benchmark.ts'
import { codexBenchmark } from './codex/codex.ts'
import { ableOf } from './able.ts'
import { engineBenchmark } from './engine/engine.ts'
import { executorBenchmark } from './executor/executor.ts'
import { gatewayBenchmark } from './gateway/gateway.ts'
import { judgeBenchmark } from './judge/judge.ts'
import { policyBenchmark } from './policy/policy.ts'
import { tableOf, writeResult } from './report.ts'
import { runtimeBenchmark } from './runtime/runtime.ts'
import { sandboxBenchmark } from './sandbox/sandbox.ts'
import { storeBenchmark } from './store/store.ts'

const BENCHMARKS: readonly Benchmark[] = [
  gatewayBenchmark,
  storeBenchmark,
  judgeBenchmark,
  sandboxBenchmark,
  engineBenchmark,
  codexBenchmark,
  executorBenchmark,
  runtimeBenchmark,
  policyBenchmark,
]
const DEFAULT_ROUNDS = 5
const DEFAULT_SECONDS = 3

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string', multiple: true },
    help: { type: 'boolean', short: 'h' },
  },
})
const unknown = positionals.filter((name) => !BENCHMARKS.some((benchmark) => benchmark.name === name))
const rounds = Number(values.rounds ?? DEFAULT_ROUNDS)
const seconds = Number(values.seconds ?? DEFAULT_SECONDS)
if (values.help === true || unknown.length > 0 || !(rounds >= 1) || !(seconds > 0)) {
  const names = BENCHMARKS.map((benchmark) => `  ${benchmark.name.padEnd(10)}${benchmark.summary}`).join('\n')
  const complaint = unknown.length > 0 ? `no benchmark is called ${unknown.join(', ')}\n` : ''
  process.stderr.write(`${complaint}npm run bench [NAME…] [-- --rounds N --seconds N --only TARGET]\n${names}\n`)
  process.exit(values.help === true ? 0 : 2)
}

if (process.platform !== 'linux') {
  process.stderr.write('the benchmarks need Linux: they pin processes to cores and read their time from /proc\n')
  process.exit(2)
}

const only = values.only ?? []
const asked = BENCHMARKS.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
const able = await ableOf(asked.map((benchmark) => ({ name: benchmark.name, needs: benchmark.needs(only) })))
if (able === undefined) process.exit(1)

for (const benchmark of asked.filter(({ name }) => able.has(name))) {
  const result = await benchmark.run({
    rounds,
    seconds,
    only,
    log: (line) => process.stderr.write(`${line}\n`),
  })
  process.stdout.write(`\n${benchmark.name}\n${tableOf(result)}\n`)
  process.stdout.write(`${await writeResult(benchmark.name, result, new Date())}\n`)
}
