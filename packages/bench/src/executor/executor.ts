import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openProcesses } from '@parley/executor'
import { ensurePeer } from '../../../../scripts/peers/ensure-peer.ts'
import type { Benchmark, BenchmarkOptions, BenchmarkResult, Row } from '../benchmark.ts'
import { outputOf } from '../measure/output-of.ts'
import { type Program, startProgram } from '../measure/program.ts'
import { median, spread } from '../statistics.ts'
import { Measured } from './measured.ts'

const HERE = dirname(fileURLToPath(import.meta.url))
const LAUNCHER = fileURLToPath(new URL('../../../../bin/parley.js', import.meta.url))

/** Processes of this machine and of an executor, beside a bare spawn, a bare pipe and the real `codex exec-server`. */
export const executorBenchmark: Benchmark = {
  name: 'executor',
  summary: 'a process here and on an executor beside a bare spawn and the real codex exec-server: start, output, a tool call',
  needs: () => ({ programs: [], peers: ['codex-0.166'] }),
  run,
}

async function run(options: BenchmarkOptions): Promise<BenchmarkResult> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-bench-'))
  const processes = await openProcesses()
  let own: Program | undefined
  try {
    own = await startProgram([process.execPath, LAUNCHER, 'exec-server', '--json'])
    const peer = await ensurePeer('codex-0.166')
    const codex = await processes.start({
      command: process.execPath,
      args: [peer.bin('codex'), 'exec-server', '--listen', 'ws://127.0.0.1:0'],
      env: { PATH: '/usr/bin:/bin', HOME: folder, CODEX_HOME: folder },
      cwd: folder,
    })
    const codexUrl = await new Promise<string>((resolve) =>
      codex.stdout.once('data', (line: Buffer) => resolve(line.toString().trim())),
    )
    const urls = ['--own', String(own.ready['url']), '--codex', codexUrl]
    const output = await outputOf(process.execPath, [join(HERE, 'runs-main.ts'), '--runs', String(options.rounds * 2), ...urls])
    return resultOf(Measured.parse(JSON.parse(output.trim().split('\n').at(-1) ?? '')))
  } finally {
    await own?.stop()
    await processes.close(0)
    await rm(folder, { recursive: true, force: true })
  }
}

function resultOf({ startMs, bytesPerSecond, callMs }: Measured): BenchmarkResult {
  const rows: Row[] = [
    ...rowsOf(startMs, 'start_to_closed_p50', 'ms', 1),
    ...rowsOf(bytesPerSecond, 'stdout', 'MB/s', 1e-6),
    ...rowsOf(callMs, 'call_p50', 'ms', 1),
  ]
  const of = (samples: Record<string, number[]>, target: string): number => median(samples[target] ?? [Number.NaN])
  const ratios = {
    start_vs_codex: of(startMs, 'remote') / of(startMs, 'codex'),
    start_vs_bare_spawn: of(startMs, 'local') / of(startMs, 'bare_spawn'),
    throughput_vs_pipe: of(bytesPerSecond, 'local') / of(bytesPerSecond, 'bare_pipe'),
    throughput_vs_relay: of(bytesPerSecond, 'remote') / of(bytesPerSecond, 'bare_relay'),
    throughput_vs_codex: of(bytesPerSecond, 'remote') / of(bytesPerSecond, 'codex'),
    call_local_vs_pipe: of(callMs, 'local') / of(callMs, 'bare_pipe'),
    call_vs_local: of(callMs, 'remote') / of(callMs, 'local'),
  }
  const ratiosMean = 'start and call are costs: below 1, ours takes less; throughput: above 1, ours gives more'
  return { rows, ratios, ratiosMean }
}

function rowsOf(samples: Record<string, number[]>, metric: string, unit: string, scale: number): readonly Row[] {
  return Object.entries(samples).map(([target, all]) => ({
    target,
    metric,
    unit,
    value: median(all) * scale,
    spread: spread(halves(all).map(median)),
  }))
}

function halves(values: readonly number[]): readonly (readonly number[])[] {
  const middle = Math.ceil(values.length / 2)
  return values.length < 2 ? [values] : [values.slice(0, middle), values.slice(middle)]
}
