import type { Benchmark, BenchmarkOptions, BenchmarkResult, Row } from '../benchmark.ts'
import { lowest } from '../gateway/gateway.ts'
import { measureTarget } from '../gateway/measure-target.ts'
import { type Running, SERVER_CORE, STDIO_ECHO, type Target, TARGETS } from '../gateway/targets.ts'
import { ratioOf, Rounds, valueOf } from '../rounds.ts'
import { holdByPolicies } from './hold-by-policies.ts'
import { Runtime } from './open-runtime.ts'
import { sleepingAgentsRound } from './sleeping-agents.ts'
import { toldRound } from './told-subscribers.ts'

const PEERS: ReadonlySet<string> = new Set(['proxy', 'supergateway', 'mcp-proxy', 'mcp-proxy-no-store'])
const CALLED: readonly Target[] = [
  { name: 'runtime', wire: 'http', start: () => runtime('legacy') },
  { name: 'runtime-modern', wire: 'http', start: () => runtime('modern') },
  { name: 'runtime-policy', wire: 'http', start: () => runtime('legacy', holdByPolicies) },
  ...TARGETS.filter(({ name }) => PEERS.has(name)),
  { name: 'stdio', wire: 'stdio', start: () => Promise.resolve({ pids: [], endpoint: { url: '', era: 'legacy' }, stop: ended }) },
]
const OTHERS: Readonly<Record<string, (rounds: Rounds) => Promise<void>>> = {
  subscribers: toldRound,
  sleeping_agents: sleepingAgentsRound,
}

/** A call of an agent's mount through the gateway and a host, beside the proxies and the child itself. */
export const runtimeBenchmark: Benchmark = {
  name: 'runtime',
  summary: 'tools/call of an agent’s mount through gateway and host, beside the proxies; subscribers, sleeping agents',
  needs: (only) => ({ programs: ['taskset', 'wrk'], peers: calledOf(only).flatMap(({ peer }) => peer ?? []) }),
  run,
}

async function run(options: BenchmarkOptions): Promise<BenchmarkResult> {
  const rounds = new Rounds()
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const target of calledOf(options.only)) await measureTarget(target, round, options, rounds)
    for (const [name, measure] of Object.entries(OTHERS)) {
      if (options.only.length > 0 && !options.only.includes(name)) continue
      await measure(rounds)
      options.log(`${round}/${options.rounds} ${name}`)
    }
  }
  const rows = rounds.rows()
  return { rows: [...rows, ...beside(rows)], ratios: ratios(rows) }
}

function calledOf(only: readonly string[]): readonly Target[] {
  return CALLED.filter(({ name }) => only.length === 0 || only.includes(name))
}

/** As in the product: a token of an agent, the gate, the log of calls, audit, limits and metrics; every process is counted. */
async function runtime(era: 'legacy' | 'modern', hold?: typeof holdByPolicies): Promise<Running> {
  const open = await Runtime.open({ core: SERVER_CORE })
  const { agentId, token } = await open.agentWith(STDIO_ECHO)
  await hold?.(open.admin, agentId)
  return {
    pids: [open.gateway.program.pid, open.host.pid],
    endpoint: { url: open.gateway.mcp, era, token },
    stop: async () => open[Symbol.asyncDispose](),
  }
}

const ended = async (): Promise<void> => undefined

/** What one call takes longer than a call of the child itself. */
function beside(rows: readonly Row[]): readonly Row[] {
  const direct = valueOf(rows, 'stdio', 'p50_c1')
  if (direct === undefined) return []
  return rows
    .filter(({ target, metric }) => target !== 'stdio' && metric === 'p50_c1')
    .map((row) => ({ ...row, metric: 'p50_more_c1', value: row.value - direct }))
}

function ratios(rows: readonly Row[]): Record<string, number> {
  const found: Record<string, number | undefined> = {
    runtime_vs_supergateway: ratioOf(rows, 'runtime', 'supergateway', 'c32'),
    runtime_vs_mcp_proxy: lowest(
      ratioOf(rows, 'runtime', 'mcp-proxy', 'c32'),
      ratioOf(rows, 'runtime', 'mcp-proxy-no-store', 'c32'),
    ),
    runtime_vs_proxy: ratioOf(rows, 'runtime', 'proxy', 'c32'),
    runtime_policy_vs_proxy: ratioOf(rows, 'runtime-policy', 'proxy', 'c32'),
  }
  return Object.fromEntries(Object.entries(found).filter((entry): entry is [string, number] => entry[1] !== undefined))
}
