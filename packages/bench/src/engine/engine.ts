import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { MODEL_SERVER_MAIN } from '@parley/agent/testing/model-server'
import type { Benchmark, BenchmarkOptions, BenchmarkResult } from '../benchmark.ts'
import { outputOf } from '../measure/output-of.ts'
import { startProgram } from '../measure/program.ts'
import { Rounds, ratioOf, valueOf } from '../rounds.ts'
import { median } from '../statistics.ts'
import { type Asked, Found, answersFor } from './asked.ts'
import { firstRequest } from './first-request.ts'
import { measureCancels } from './cancel.ts'

const CLIENTS = { 'raw client': 'raw-main.ts', 'raw client with log': 'logged-main.ts', mini: 'loop-main.ts' } as const
const MODEL_CORE = 0
const CLIENT_CORE = 1
/** One conversation shows what a turn takes, fifty how many fit on a core and whether all get their share. */
const SHAPES = {
  one: { conversations: 1, turns: 100, warmUps: 4 },
  fifty: { conversations: 50, turns: 20, warmUps: 1 },
} as const

/** What our loop adds to the two requests of a turn, beside a bare client of a model that answers at once. */
export const engineBenchmark: Benchmark = {
  name: 'engine',
  summary: 'turns a second and processor time per turn of the own engine, beside a bare client of the same model',
  needs: () => ({ programs: ['cc', 'python3', 'taskset'], peers: [] }),
  run,
}

async function run(options: BenchmarkOptions): Promise<BenchmarkResult> {
  const rounds = new Rounds()
  const request = await firstRequest()
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const [shape, bounds] of Object.entries(SHAPES)) {
      for (const [target, file] of Object.entries(CLIENTS).filter(([name]) => isWanted(name, options.only))) {
        const found = await measured(file, { ...bounds, request })
        rounds.add(target, `rate_${shape}`, 'turns/s', found.turnsPerSecond)
        rounds.add(target, `cpu_${shape}`, 'ms/turn', found.cpuMsPerTurn)
        if (bounds.conversations > 1)
          rounds.add(target, 'slowest_vs_median', 'times', Math.max(...found.conversationMs) / median(found.conversationMs))
        options.log(`${round}/${options.rounds} ${target}, ${shape}: ${Math.round(found.turnsPerSecond)} turns/s`)
      }
    }
    if (isWanted('cancel', options.only))
      for (const [situation, ms] of await measureCancels(options.log)) rounds.add(`cancel: ${situation}`, 'ended_after', 'ms', ms)
  }
  const rows = rounds.rows()
  const found = {
    loop_vs_raw: ratioOf(rows, 'mini', 'raw client', 'one'),
    loop_vs_raw_fifty: ratioOf(rows, 'mini', 'raw client', 'fifty'),
    loop_vs_logged: ratioOf(rows, 'mini', 'raw client with log', 'one'),
    loop_vs_logged_fifty: ratioOf(rows, 'mini', 'raw client with log', 'fifty'),
    slowest_vs_median: valueOf(rows, 'mini', 'slowest_vs_median'),
  }
  return {
    rows,
    ratios: Object.fromEntries(Object.entries(found).filter((entry): entry is [string, number] => entry[1] !== undefined)),
    ratiosMean:
      'loop_vs_raw: 1 would be a loop that costs nothing; it also logs to disk, checks and runs tools. loop_vs_logged: the same beside a client that writes as often to the disk. slowest_vs_median: below 2 is fair',
  }
}

const isWanted = (name: string, only: readonly string[]): boolean => only.length === 0 || only.some((part) => name.includes(part))

async function measured(file: string, bounds: Omit<Asked, 'url'>): Promise<Found> {
  const options = { wire: 'responses', answers: answersFor(bounds.turns + 1) }
  const server = await startProgram([process.execPath, MODEL_SERVER_MAIN, JSON.stringify(options)], { core: MODEL_CORE })
  try {
    const { url } = z.object({ url: z.string() }).parse(server.ready)
    const client = fileURLToPath(new URL(file, import.meta.url))
    const args = ['-c', String(CLIENT_CORE), process.execPath, client, JSON.stringify({ url, ...bounds })]
    return Found.parse(JSON.parse(await outputOf('taskset', args, {})))
  } finally {
    await server.stop()
  }
}
