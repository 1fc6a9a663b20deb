import type { Benchmark, BenchmarkOptions, BenchmarkResult, Row } from '../benchmark.ts'
import { ratioOf, Rounds } from '../rounds.ts'
import { measureTarget } from './measure-target.ts'
import type { Target } from './targets.ts'
import { TARGETS } from './targets.ts'

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
    for (const target of targets) await measureTarget(target, round, options, rounds)
  }
  const rows = rounds.rows()
  return { rows, ratios: ratios(rows) }
}

function targetsOf(only: readonly string[]): readonly Target[] {
  return TARGETS.filter(({ name }) => only.length === 0 || only.includes(name))
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
export function lowest(...values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}
