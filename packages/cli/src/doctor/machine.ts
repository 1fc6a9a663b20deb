import { type Processes, capture, openProcesses } from '@parley/executor'
import type { Io } from '../command-line/io.ts'
import { type Check, reasonOf } from './check.ts'

const NEEDED_NODE = 26
const VERSION_TIMEOUT_MS = 10_000
const VERSION_BYTES = 4 * 1024

interface Tool {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly purpose: string
  readonly hint: string
}

const TOOLS: readonly Tool[] = [
  { name: 'c++', command: 'g++', args: ['--version'], purpose: 'judging C++', hint: 'apt install g++' },
  { name: 'python', command: 'python3', args: ['--version'], purpose: 'judging Python', hint: 'apt install python3' },
  { name: 'java', command: 'javac', args: ['-version'], purpose: 'judging Java', hint: 'apt install default-jdk-headless' },
  {
    name: 'codex',
    command: 'codex',
    args: ['--version'],
    purpose: 'the codex engine; the mini engine needs none',
    hint: 'npm install -g @openai/codex',
  },
]

/** Node, the spawner, compilers, Codex: what this machine has, found out without a shell. */
export async function checkMachine(io: Io): Promise<Check[]> {
  const checks = [checkNode()]
  try {
    await using processes = await openProcesses()
    const tools = await Promise.all(TOOLS.map((tool) => checkTool(processes, tool, io)))
    checks.push({ name: 'processes', status: 'ok', detail: 'children are started by a small process of their own' }, ...tools)
  } catch (error) {
    checks.push({
      name: 'processes',
      status: 'failed',
      detail: reasonOf(error),
      hint: 'proxy and engines need it; check the limit on processes (ulimit -u)',
    })
  }
  return [...checks, { name: 'sandbox', status: 'skipped', detail: 'this version has no sandbox and no judge yet' }]
}

function checkNode(): Check {
  const major = Number(process.versions.node.split('.')[0])
  if (major >= NEEDED_NODE) return { name: 'node', status: 'ok', detail: process.versions.node }
  return {
    name: 'node',
    status: 'failed',
    detail: `${process.versions.node}, needed is ${NEEDED_NODE}`,
    hint: 'start it through bin/parley.js after npm install',
  }
}

async function checkTool(processes: Processes, { name, command, args, purpose, hint }: Tool, { env }: Io): Promise<Check> {
  const kept: Record<string, string> = {}
  for (const key of ['PATH', 'HOME']) if (env[key] !== undefined) kept[key] = env[key]
  try {
    const spec = { command, args, env: kept }
    const done = await capture(processes, spec, { timeoutMs: VERSION_TIMEOUT_MS, maxBytes: VERSION_BYTES })
    if (done.kind === 'timed-out') return { name, status: 'failed', detail: `${command} does not answer`, hint }
    const line = `${done.stdout}\n${done.stderr}`.split('\n').find((text) => text.trim() !== '')
    if (done.exit.code !== 0)
      return { name, status: 'failed', detail: `${command} fails: ${line ?? done.exit.signal ?? done.exit.code}`, hint }
    return { name, status: 'ok', detail: line?.trim() ?? command }
  } catch (error) {
    if (error instanceof Error && 'reason' in error && error.reason === 'ENOENT') {
      return { name, status: 'missing', detail: `${command} is not on PATH; it is for ${purpose}`, hint }
    }
    return { name, status: 'failed', detail: reasonOf(error), hint }
  }
}
