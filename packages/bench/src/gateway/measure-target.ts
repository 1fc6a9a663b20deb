import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BenchmarkOptions } from '../benchmark.ts'
import { outputOf } from '../measure/output-of.ts'
import { type TreeUse, treeUse } from '../measure/process-tree.ts'
import { type Load, parseLoad, runWrk } from '../measure/wrk.ts'
import type { Rounds } from '../rounds.ts'
import { ECHO_TEXT, echoRequests } from './echo-call.ts'
import { type Running, SERVER_CORE, type Target } from './targets.ts'

const HERE = dirname(fileURLToPath(import.meta.url))
const LOAD_CORE = 1
const CONNECTIONS = [1, 32] as const
const WARM_SECONDS = 2
const MEBIBYTE = 1024 * 1024

/** One target once: started fresh, warmed up, loaded by one connection and by many, ended. */
export async function measureTarget(target: Target, round: number, options: BenchmarkOptions, rounds: Rounds): Promise<void> {
  const running = await target.start()
  try {
    for (const connections of CONNECTIONS) {
      const load = await loader(target, running, connections)
      await load(WARM_SECONDS, true)
      const before = await useOf(running.pids)
      const seen = await load(options.seconds, false)
      const after = await useOf(running.pids)
      const suffix = `c${connections}`
      const cpu = ((after.cpuMs - before.cpuMs) * 1000) / seen.calls
      rounds.add(target.name, `rate_${suffix}`, 'calls/s', seen.calls / seen.seconds)
      if (running.pids.length > 0) rounds.add(target.name, `cpu_${suffix}`, 'µs/call', cpu)
      rounds.add(target.name, `p50_${suffix}`, 'ms', seen.p50Ms)
      if (connections > 1 && running.pids.length > 0) rounds.add(target.name, 'rss', 'MiB', after.residentBytes / MEBIBYTE)
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
  if (target.wire === 'stdio') return checked(target, (seconds) => stdioLoad(connections, seconds))
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

async function stdioLoad(connections: number, seconds: number): Promise<Load> {
  const args = ['--core', String(SERVER_CORE), '--connections', String(connections), '--seconds', String(seconds)]
  return parseLoad(
    await outputOf('taskset', ['-c', String(LOAD_CORE), process.execPath, join(HERE, 'stdio-load-main.ts'), ...args]),
  )
}

/** Of all its programs together. */
async function useOf(pids: readonly number[]): Promise<Omit<TreeUse, 'processes'>> {
  const uses = await Promise.all(pids.map((pid) => treeUse(pid)))
  const sum = (of: (use: TreeUse) => number): number => uses.reduce((total, use) => total + of(use), 0)
  return { cpuMs: sum((use) => use.cpuMs), residentBytes: sum((use) => use.residentBytes) }
}
