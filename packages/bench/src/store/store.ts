import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startPostgres, type TestPostgres } from '@parley/store/testing'
import * as z from 'zod'
import type { Benchmark, BenchmarkOptions, BenchmarkResult } from '../benchmark.ts'
import { treeUse } from '../measure/process-tree.ts'
import { outputOf } from '../measure/output-of.ts'
import { ratioOf, Rounds } from '../rounds.ts'
import { postmasterOf } from './postmaster.ts'
import { CONCURRENCY } from './workload.ts'

const HERE = dirname(fileURLToPath(import.meta.url))
const CORE = 0
/** About what each can do in a second here; the seconds that were asked for are met roughly, the same for every target. */
const SQLITE_PER_SECOND = { append: 25_000, claim: 10_000 } as const
const POSTGRES_PER_SECOND = 1_500

const Result = z.object({ operations: z.number(), seconds: z.number(), cpuMs: z.number() })

/** Appends and claims: on SQLite beside bare statements, on PostgreSQL beside the two job queues that people use. */
export const storeBenchmark: Benchmark = {
  name: 'store',
  summary: 'log appends and claims beside bare statements, pg-boss and graphile-worker',
  needs: () => ({ programs: ['taskset'], peers: ['graphile-worker', 'pg-boss'] }),
  run,
}

async function run(options: BenchmarkOptions): Promise<BenchmarkResult> {
  const rounds = new Rounds()
  for (let round = 1; round <= options.rounds; round += 1) await sqliteRound(round, options, rounds)
  // As people run it: every commit waits for the disk.
  const postgres = await startPostgres({ settings: { max_connections: '100' } })
  try {
    for (let round = 1; round <= options.rounds; round += 1) await postgresRound(round, postgres, options, rounds)
  } finally {
    await postgres.stop()
  }
  const rows = rounds.rows()
  const found = {
    append_vs_raw: ratioOf(rows, 'ours-sqlite', 'raw-sqlite', 'append'),
    claim_vs_raw: ratioOf(rows, 'ours-sqlite', 'raw-sqlite', 'claim'),
    claims_vs_graphile: ratioOf(rows, 'ours-postgres', 'graphile-worker', 'claim'),
    claims_vs_pgboss: ratioOf(rows, 'ours-postgres', 'pg-boss', 'claim'),
  }
  return {
    rows,
    ratios: Object.fromEntries(Object.entries(found).filter((entry): entry is [string, number] => entry[1] !== undefined)),
  }
}

async function sqliteRound(round: number, options: BenchmarkOptions, rounds: Rounds): Promise<void> {
  for (const work of ['append', 'claim'] as const) {
    const operations = String(Math.ceil(SQLITE_PER_SECOND[work] * options.seconds))
    for (const target of ['raw-sqlite', 'ours-sqlite'].filter((name) => isWanted(name, options))) {
      const folder = await mkdtemp(join(tmpdir(), 'parley-bench-'))
      try {
        const file = join(folder, 'bench.db')
        const args =
          target === 'raw-sqlite' ? ['sqlite-raw-main.ts', '--file', file] : ['store-main.ts', '--url', `sqlite:${file}`]
        const seen = await loop([...args, '--work', work, '--operations', operations], CORE)
        note(rounds, target, work, seen, seen.cpuMs)
        options.log(`${round}/${options.rounds} ${target} ${work}: ${Math.round(seen.operations / seen.seconds)} a second`)
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    }
  }
}

const POSTGRES_TARGETS: Readonly<Record<string, readonly string[]>> = {
  'ours-postgres': ['store-main.ts', '--work', 'claim'],
  'graphile-worker': ['graphile-main.ts'],
  'pg-boss': ['pg-boss-main.ts'],
}

async function postgresRound(round: number, postgres: TestPostgres, options: BenchmarkOptions, rounds: Rounds): Promise<void> {
  const server = await postmasterOf(postgres.url)
  for (const [target, program] of Object.entries(POSTGRES_TARGETS).filter(([name]) => isWanted(name, options))) {
    const url = await postgres.createDatabase()
    const operations = Math.ceil(POSTGRES_PER_SECOND * options.seconds)
    const before = await treeUse(server)
    const seen = await loop([...program, '--url', url, '--operations', String(operations), '--lanes', String(CONCURRENCY)])
    const after = await treeUse(server)
    note(rounds, target, 'claim', seen, undefined)
    // The server's share includes putting the jobs in and the warm-up, so it is shown but does not count.
    rounds.add(target, 'server_cpu', 'µs/job', ((after.cpuMs - before.cpuMs) * 1000) / operations)
    options.log(`${round}/${options.rounds} ${target} claim: ${Math.round(seen.operations / seen.seconds)} a second`)
  }
}

function note(rounds: Rounds, target: string, work: string, seen: z.infer<typeof Result>, cpuMs: number | undefined): void {
  rounds.add(target, `rate_${work}`, '/s', seen.operations / seen.seconds)
  if (cpuMs !== undefined) rounds.add(target, `cpu_${work}`, 'µs', (cpuMs * 1000) / seen.operations)
  else rounds.add(target, `client_cpu_${work}`, 'µs', (seen.cpuMs * 1000) / seen.operations)
}

function isWanted(target: string, options: BenchmarkOptions): boolean {
  return options.only.length === 0 || options.only.includes(target)
}

async function loop(args: readonly string[], core?: number): Promise<z.infer<typeof Result>> {
  const [file, ...rest] = args
  const command = [process.execPath, join(HERE, file ?? ''), ...rest]
  const output =
    core === undefined
      ? await outputOf(process.execPath, command.slice(1))
      : await outputOf('taskset', ['-c', String(core), ...command])
  const line = /^RESULT (.+)$/m.exec(output)?.[1]
  if (line === undefined) throw new Error(`${file} gave no result:\n${output}`)
  return Result.parse(JSON.parse(line))
}
