import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { MODEL_SERVER_MAIN } from '@parley/agent/testing/model-server'
import { codexHome } from '@parley/contracts/testing'
import type { Benchmark, BenchmarkOptions, BenchmarkResult } from '../benchmark.ts'
import { startProgram } from '../measure/program.ts'
import { Rounds, ratioOf, valueOf } from '../rounds.ts'
import { type EventsFound, throughAppServer, throughMcp } from './measure-events.ts'
import { type StdioCommand, startPeer } from './stdio-peer.ts'
import { type Targets, targetsAt } from './targets.ts'

const MODEL_CORE = 0
/** Starts in a round: one alone says more about the disk than about the program. */
const STARTS = 5
const DELTA = 'abcdefghijklmnopqrstuvw '
const DELTAS = 4_000
const NAMES = { codex: 'codex 0.153.4', codexByNpm: 'codex 0.153.4 by npm', mini: 'parley on mini' } as const

/** How long a client waits for `initialize`, and how fast events come through, beside the server that Codex itself had. */
export const codexBenchmark: Benchmark = {
  name: 'codex',
  summary: 'start and events a second of mcp-server beside the real codex 0.153.4, and what the bridge adds to an event',
  needs: () => ({ programs: ['taskset'], peers: ['codex-0.153', 'codex-0.166'] }),
  run,
}

async function run(options: BenchmarkOptions): Promise<BenchmarkResult> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-bench-codex-'))
  const model = await startProgram([process.execPath, MODEL_SERVER_MAIN, JSON.stringify(modelOptions())], { core: MODEL_CORE })
  try {
    const { url } = z.object({ url: z.string() }).parse(model.ready)
    await using home = await codexHome({ modelUrl: url })
    const work = join(folder, 'work')
    await mkdir(work)
    const targets = await targetsAt({ home: home.path, data: join(folder, 'data'), work, modelUrl: url })
    const rounds = new Rounds()
    for (let round = 1; round <= options.rounds; round += 1) {
      options.log(`round ${round} of ${options.rounds}`)
      // A server that did something has kept what it compiled; the starts below are those of every day.
      await measureRates(targets, rounds)
      await measureStarts(targets, rounds, folder)
    }
    return resultOf(rounds)
  } finally {
    await model.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** The first turn is short, the second long. */
const modelOptions = () => ({
  wire: 'responses',
  answers: [
    { pieces: [{ text: 'short' }] },
    { pieces: [{ text: DELTA.repeat(DELTAS) }], manner: { deltaCharacters: DELTA.length } },
  ],
})

async function measureStarts(targets: Targets, rounds: Rounds, folder: string): Promise<void> {
  for (let start = 0; start < STARTS; start += 1) {
    for (const key of ['codex', 'codexByNpm', 'mini'] as const) rounds.add(NAMES[key], 'start', 'ms', await started(targets[key]))
    const nothingKept = { ...targets.mini.env, PARLEY_CACHE: await mkdtemp(join(folder, 'cache-')) }
    rounds.add('parley, its very first', 'start', 'ms', await started({ ...targets.mini, env: nothingKept }))
  }
}

async function started(target: StdioCommand): Promise<number> {
  await using peer = await startPeer(target)
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } }
  peer.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
  await peer.answer(1)
  return peer.age()
}

async function measureRates(targets: Targets, rounds: Rounds): Promise<void> {
  const found = {
    [NAMES.codex]: await throughMcp(targets.codex, DELTA),
    [NAMES.mini]: await throughMcp(targets.mini, DELTA),
    'codex 0.166 app-server': await throughAppServer(targets.appServer, DELTA),
    'parley on codex 0.166': await throughMcp(targets.bridge, DELTA),
  }
  for (const [name, { events, deltas, ms, cpuMs }] of Object.entries<EventsFound>(found)) {
    if (deltas < DELTAS) throw new Error(`${name} let ${deltas} of ${DELTAS} pieces through`)
    rounds.add(name, 'rate_events', 'events/s', (events / ms) * 1_000)
    rounds.add(name, 'rate_pieces', 'pieces/s', (DELTAS / ms) * 1_000)
    rounds.add(name, 'cpu_pieces', 'us/piece', (cpuMs / DELTAS) * 1_000)
  }
}

function resultOf(rounds: Rounds): BenchmarkResult {
  const rows = rounds.rows()
  const start = (name: string): number => valueOf(rows, name, 'start') ?? Number.NaN
  const perPiece = (name: string): number => 1_000_000 / (valueOf(rows, name, 'rate_pieces') ?? Number.NaN)
  return {
    rows,
    ratios: {
      start_vs_codex: start(NAMES.mini) / start(NAMES.codex),
      first_start_vs_codex: start('parley, its very first') / start(NAMES.codex),
      start_vs_codex_by_npm: start(NAMES.mini) / start(NAMES.codexByNpm),
      events_vs_codex: ratioOf(rows, NAMES.mini, NAMES.codex, 'pieces') ?? Number.NaN,
      bridge_added_us_per_piece: perPiece('parley on codex 0.166') - perPiece('codex 0.166 app-server'),
    },
    ratiosMean:
      'start_vs_codex: ours divided by theirs, below 1 we are faster; events_vs_codex: the lower of pieces of text a second and processor time per piece, above 1 ours is better; bridge_added: microseconds that the way through us adds to a piece',
  }
}
