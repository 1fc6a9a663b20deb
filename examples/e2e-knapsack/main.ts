// node examples/e2e-knapsack/main.ts [--tail-terminal] [--timeout SECONDS] [--poll-ms N]
//
// The whole way of a job as any program can go it, without a line of Parley's own code: REST for the token alone, then
// everything over MCP on a plain WebSocket; a second socket follows both streams from their first byte.
//
//   PARLEY_URL            the gateway, http://127.0.0.1:7400 unless said; or REALMOI_E2E_API_BASE, which ends in /api
//   REALMOI_E2E_MODEL     the model; unless said the first one that there is
//   PARLEY_E2E_USERNAME, PARLEY_E2E_PASSWORD   an account; unless said one is made, which needs PARLEY_SIGNUP=on there
//
// Exit code: 0 the solution passed, 1 it did not, 2 there is no model.
import { randomBytes } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { McpSocket } from './mcp-socket.ts'
import { zip } from './zip.ts'

const EXAMPLE = join(import.meta.dirname, '..', 'knapsack')
const ENDS = ['succeeded', 'failed', 'cancelled']
const NO_MODEL = 2

const { values } = parseArgs({
  options: {
    'tail-terminal': { type: 'boolean', default: false },
    timeout: { type: 'string', default: '1800' },
    'poll-ms': { type: 'string', default: '500' },
  },
})
const { env } = process
const api = (env['REALMOI_E2E_API_BASE'] ?? `${env['PARLEY_URL'] ?? 'http://127.0.0.1:7400'}/api`).replace(/\/+$/, '')

try {
  process.exitCode = await run()
} catch (error) {
  process.stderr.write(`e2e: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}

async function run(): Promise<number> {
  const token = await signIn()
  const url = `${api.replace(/^http/, 'ws')}/mcp/ws?token=${encodeURIComponent(token)}`
  const socket = await McpSocket.open(url)
  try {
    const model = env['REALMOI_E2E_MODEL'] ?? (await firstModel(socket))
    if (model === undefined) {
      process.stderr.write('e2e: there is no model\n')
      return NO_MODEL
    }
    const { job_id } = await socket.call('job.create', { ...problem(), model })
    await socket.call('job.start', { job_id })
    say(`job ${String(job_id)} with ${model}`)
    const second = await McpSocket.open(url, heard)
    await second.call('job.subscribe', {
      job_id,
      streams: ['agent_status', 'terminal'],
      agent_status_offset: 0,
      terminal_offset: 0,
    })
    const status = await untilEnd(socket, String(job_id))
    second.close()
    return status === undefined ? 1 : await verdict(socket, String(job_id), status)
  } finally {
    socket.close()
  }
}

/** The one thing that is not MCP, because MCP needs a token. */
async function signIn(): Promise<string> {
  const username = env['PARLEY_E2E_USERNAME'] ?? `e2e_knapsack_${Date.now()}`
  const password = env['PARLEY_E2E_PASSWORD'] ?? randomBytes(12).toString('hex')
  const action = env['PARLEY_E2E_USERNAME'] === undefined ? 'signup' : 'login'
  const answer = await fetch(`${api}/auth/${action}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  })
  const body: unknown = await answer.json()
  const token = typeof body === 'object' && body !== null && 'access_token' in body ? body.access_token : undefined
  if (typeof token !== 'string') throw new Error(`${action} was answered with ${answer.status}: ${JSON.stringify(body)}`)
  return token
}

async function firstModel(socket: McpSocket): Promise<string | undefined> {
  const { items } = await socket.call('models.list', { live: true })
  return textOf(field(items, '0'), 'model')
}

function problem(): Record<string, unknown> {
  const tests = join(EXAMPLE, 'tests')
  const files = readdirSync(tests).toSorted()
  const bytes = zip(Object.fromEntries(files.map((name) => [`tests/${name}`, readFileSync(join(tests, name))])))
  return {
    statement_md: readFileSync(join(EXAMPLE, 'problem.md'), 'utf8'),
    current_code_cpp: readFileSync(join(EXAMPLE, 'code.cpp'), 'utf8'),
    tests_zip_b64: bytes.toString('base64'),
    tests_format: 'auto',
    compare_mode: 'tokens',
    run_if_no_expected: true,
    search_mode: 'disabled',
    reasoning_effort: 'medium',
    time_limit_ms: 2_000,
    memory_limit_mb: 1_024,
  }
}

/** What the second socket hears: one line for each step, and the terminal as it is if somebody wants it. */
function heard(method: string, params: Record<string, unknown>): void {
  if (method === 'agent_status') {
    const summary = textOf(params['item'], 'summary') ?? ''
    if (summary !== '') say(`[${textOf(params['item'], 'stage')}] ${summary}`)
  } else if (method === 'terminal' && values['tail-terminal'] && typeof params['chunk_b64'] === 'string')
    process.stdout.write(Buffer.from(params['chunk_b64'], 'base64'))
}

/** The status at the end; undefined when it took too long, and was cancelled. */
async function untilEnd(socket: McpSocket, job_id: string): Promise<string | undefined> {
  const deadline = Date.now() + Number(values.timeout) * 1_000
  for (let last = ''; Date.now() < deadline; await sleep(Number(values['poll-ms']))) {
    const { status } = await socket.call('job.get_state', { job_id })
    if (status !== last) say(`status ${String(status)}`)
    last = String(status)
    if (ENDS.includes(last)) return last
  }
  await socket.call('job.cancel', { job_id })
  say('it took too long and was cancelled')
  return undefined
}

async function verdict(socket: McpSocket, job_id: string, status: string): Promise<number> {
  const { items } = await socket.call('job.get_artifacts', { job_id, names: ['report.json'] })
  const report = field(items, 'report.json')
  const summary = field(report, 'summary')
  const isGood =
    textOf(report, 'status') === 'succeeded' &&
    field(report, 'unjudged') !== true &&
    field(field(report, 'compile'), 'ok') === true &&
    field(summary, 'failed') === 0
  say(`${status}: ${String(field(summary, 'passed'))} of ${String(field(summary, 'judged'))} passed`)
  return isGood ? 0 : 1
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
function textOf(value: unknown, name: string): string | undefined {
  const found = field(value, name)
  return typeof found === 'string' ? found : undefined
}
function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
