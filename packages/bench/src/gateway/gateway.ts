import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Benchmark, BenchmarkOptions, BenchmarkResult, Row } from '../benchmark.ts'
import { treeUse } from '../measure/process-tree.ts'
import type { Load } from '../measure/wrk.ts'
import { outputOf } from '../measure/output-of.ts'
import { parseLoad, runWrk } from '../measure/wrk.ts'
import { ratioOf, Rounds } from '../rounds.ts'
import { ECHO_TEXT, echoRequests } from './echo-call.ts'
import type { Running, Target } from './targets.ts'
import { TARGETS } from './targets.ts'

const HERE = dirname(fileURLToPath(import.meta.url))
const LOAD_CORE = 1
const CONNECTIONS = [1, 32] as const
const WARM_SECONDS = 2
const MEBIBYTE = 1024 * 1024

/** `tools/call` of an echo tool, over HTTP and WebSocket, beside the floor, the official SDKs and the other proxies. */
export const gatewayBenchmark: Benchmark = {
  name: 'gateway',
  summary: 'tools/call through the gateway and the proxy, beside the floor, the SDKs, supergateway and mcp-proxy',
  needs: (only) => ({ programs: ['taskset', 'wrk'], peers: targetsOf(only).flatMap(({ peer }) => peer ?? []) }),
  run,
}

async function run(options: BenchmarkOptions): Promise<BenchmarkResult> {
  const targets = targetsOf(options.only)
  const rounds = new Rounds()
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const target of targets) await measure(target, round, options, rounds)
  }
  const rows = rounds.rows()
  return { rows, ratios: ratios(rows) }
}

function targetsOf(only: readonly string[]): readonly Target[] {
  return TARGETS.filter(({ name }) => only.length === 0 || only.includes(name))
}

async function measure(target: Target, round: number, options: BenchmarkOptions, rounds: Rounds): Promise<void> {
  const running = await target.start()
  try {
    for (const connections of CONNECTIONS) {
      const load = await loader(target, running, connections)
      await load(WARM_SECONDS, true)
      const before = await treeUse(running.pid)
      const seen = await load(options.seconds, false)
      const after = await treeUse(running.pid)
      const suffix = `c${connections}`
      const cpu = ((after.cpuMs - before.cpuMs) * 1000) / seen.calls
      rounds.add(target.name, `rate_${suffix}`, 'calls/s', seen.calls / seen.seconds)
      rounds.add(target.name, `cpu_${suffix}`, 'µs/call', cpu)
      rounds.add(target.name, `p50_${suffix}`, 'ms', seen.p50Ms)
      if (connections > 1) rounds.add(target.name, 'rss', 'MiB', after.residentBytes / MEBIBYTE)
      options.log(
        `${round}/${options.rounds} ${target.name} ${suffix}: ${Math.round(seen.calls / seen.seconds)} calls/s, ${cpu.toFixed(1)} µs`,
      )
    }
  } finally {
    await running.stop()
  }
}

type LoadFor = (seconds: number, check: boolean) => Promise<Load>

async function loader(target: Target, { endpoint }: Running, connections: number): Promise<LoadFor> {
  if (target.wire === 'websocket') return checked(target, (seconds) => websocketLoad(endpoint, connections, seconds))
  const requests = await echoRequests(endpoint, connections)
  return checked(target, (seconds, check) =>
    runWrk({ url: endpoint.url, connections, seconds, core: LOAD_CORE, requests, needle: ECHO_TEXT, check }),
  )
}

/** A fast wrong answer is not a fast answer. */
function checked(target: Target, load: LoadFor): LoadFor {
  return async (seconds, check) => {
    const seen = await load(seconds, check)
    if (seen.errors > 0 || seen.wrong > 0 || seen.calls === 0)
      throw new Error(`${target.name} answered wrongly: ${JSON.stringify(seen)}`)
    return seen
  }
}

async function websocketLoad(endpoint: Running['endpoint'], connections: number, seconds: number): Promise<Load> {
  const args = ['--url', endpoint.url, '--connections', String(connections), '--seconds', String(seconds)]
  const token = endpoint.token === undefined ? [] : ['--token', endpoint.token]
  return parseLoad(
    await outputOf('taskset', ['-c', String(LOAD_CORE), process.execPath, join(HERE, 'ws-load-main.ts'), ...args, ...token]),
  )
}

function ratios(rows: readonly Row[]): Record<string, number> {
  const found: Record<string, number | undefined> = {
    ours_vs_floor_c32: ratioOf(rows, 'ours', 'floor', 'c32'),
    ours_vs_floor_c1: ratioOf(rows, 'ours', 'floor', 'c1'),
    ours_modern_vs_floor_c32: ratioOf(rows, 'ours-modern', 'floor', 'c32'),
    ours_vs_sdk1_c32: ratioOf(rows, 'ours', 'sdk1', 'c32'),
    ours_modern_vs_sdk2_c32: ratioOf(rows, 'ours-modern', 'sdk2', 'c32'),
    ours_ws_vs_floor_ws_c32: ratioOf(rows, 'ours-ws', 'floor-ws', 'c32'),
    proxy_vs_supergateway_c32: ratioOf(rows, 'proxy', 'supergateway', 'c32'),
    proxy_vs_mcp_proxy_c32: lowest(
      ratioOf(rows, 'proxy', 'mcp-proxy', 'c32'),
      ratioOf(rows, 'proxy', 'mcp-proxy-no-store', 'c32'),
    ),
  }
  return Object.fromEntries(Object.entries(found).filter((entry): entry is [string, number] => entry[1] !== undefined))
}

/** Of a peer's two settings the better one counts. */
function lowest(...values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}
