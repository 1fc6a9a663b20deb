import { type Processes, capture, openProcesses } from '@parley/executor'
import type { Io } from '@parley/command-line'
import { type DoctorCheck, reasonOf } from './doctor-check.ts'
import { checkJudging } from './sandbox-check.ts'

const NEEDED_NODE = 26
const VERSION_TIMEOUT_MS = 10_000
const VERSION_BYTES = 4 * 1024

/** Node, the spawner, Codex, the sandbox and its languages: what this machine has, found out without a shell. */
export async function checkMachine(io: Io): Promise<DoctorCheck[]> {
  return [checkNode(), ...(await checkProcesses(io)), ...(await checkJudging(io))]
}

function checkNode(): DoctorCheck {
  const major = Number(process.versions.node.split('.')[0])
  if (major >= NEEDED_NODE) return { name: 'node', status: 'ok', detail: process.versions.node }
  return {
    name: 'node',
    status: 'failed',
    detail: `${process.versions.node}, needed is ${NEEDED_NODE}`,
    hint: 'start it through bin/parley.js after npm install',
  }
}

async function checkProcesses(io: Io): Promise<DoctorCheck[]> {
  try {
    await using processes = await openProcesses()
    const codex = await checkCodex(processes, io)
    const own = { name: 'processes', status: 'ok', detail: 'children are started by a small process of their own' } as const
    return [own, await checkContainment(processes), codex]
  } catch (error) {
    const hint = 'proxy and engines need it; check the limit on processes (ulimit -u)'
    return [{ name: 'processes', status: 'failed', detail: reasonOf(error), hint }]
  }
}

/** Whether a process that leaves its group can be held. */
async function checkContainment(processes: Processes): Promise<DoctorCheck> {
  const name = 'containment'
  try {
    await processes.start({ command: '/bin/sh', args: ['-c', 'exit 0'], env: {}, contained: true })
    return { name, status: 'ok', detail: 'exec-server --contain ends also what leaves its process group' }
  } catch (error) {
    const detail = `a process that leaves its group outlives its end: ${reasonOf(error)}`
    return { name, status: 'missing', detail, hint: 'exec-server --contain needs unshare and PID namespaces' }
  }
}

async function checkCodex(processes: Processes, { env }: Io): Promise<DoctorCheck> {
  const name = 'codex'
  const hint = 'npm install -g @openai/codex'
  const kept: Record<string, string> = {}
  for (const key of ['PATH', 'HOME']) if (env[key] !== undefined) kept[key] = env[key]
  try {
    const spec = { command: 'codex', args: ['--version'], env: kept }
    const done = await capture(processes, spec, { timeoutMs: VERSION_TIMEOUT_MS, maxBytes: VERSION_BYTES })
    if (done.kind === 'timed-out') return { name, status: 'failed', detail: 'codex does not answer', hint }
    const line = `${done.stdout}\n${done.stderr}`.split('\n').find((text) => text.trim() !== '')
    if (done.exit.code !== 0)
      return { name, status: 'failed', detail: `codex fails: ${line ?? done.exit.signal ?? done.exit.code}`, hint }
    return { name, status: 'ok', detail: line?.trim() ?? name }
  } catch (error) {
    if (error instanceof Error && 'reason' in error && error.reason === 'ENOENT') {
      const detail = 'codex is not on PATH; it is for the codex engine; the mini engine needs none'
      return { name, status: 'missing', detail, hint }
    }
    return { name, status: 'failed', detail: reasonOf(error), hint }
  }
}
