// The measured process. Targets take turns, so that a slow moment hits all of them. One JSON line at the end.
import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type ExecBackend, type ExecProcess, localBackend, openExecutor, openProcesses, startMcpServer } from '@parley/executor'
import { type Client, type ClientTransport, connectClient, stdioTransport } from '@parley/rpc'
import { dialFrames } from '@parley/rpc/frame'
import { ECHO_TEXT } from '../gateway/echo-call.ts'
import type { Measured } from './measured.ts'

const WARM = 5
const MIB = 1024 * 1024
const STREAM_BYTES = 128 * MIB
const RELAY = fileURLToPath(new URL('relay-main.ts', import.meta.url))
const CALLS = 200
const ECHO = fileURLToPath(new URL('../gateway/stdio-echo-main.ts', import.meta.url))
const ENV = { PATH: '/usr/bin:/bin' }

const { values } = parseArgs({ options: { runs: { type: 'string' }, own: { type: 'string' }, codex: { type: 'string' } } })
const runs = Number(values.runs ?? 20)
const processes = await openProcesses()
const places: Record<string, ExecBackend> = { local: localBackend({ processes }) }
for (const [name, url] of Object.entries({ remote: values.own, codex: values.codex }))
  if (url !== undefined) places[name] = await openExecutor({ dial: () => dialFrames({ url }), clientName: 'bench' })

const measured: Measured = { startMs: {}, bytesPerSecond: {}, callMs: {} }
let count = 0
const relayPort = await startRelay()

for (let run = -WARM; run < runs * 5; run += 1) {
  await timed(measured.startMs, 'bare_spawn', run, bareStart)
  for (const [name, place] of Object.entries(places))
    await timed(measured.startMs, name, run, async () => closed(await start(place, ['/bin/true'])))
}
for (let run = -1; run < runs; run += 1) {
  const stream = async (name: string, all: () => Promise<number>): Promise<void> => {
    const started = performance.now()
    const bytes = await all()
    if (bytes !== STREAM_BYTES) throw new Error(`${name} gave ${bytes} bytes`)
    keep(measured.bytesPerSecond, name, run, (bytes / (performance.now() - started)) * 1_000)
  }
  await stream('bare_pipe', barePipe)
  await stream('bare_relay', bareRelay)
  for (const [name, place] of Object.entries(places))
    await stream(name, async () => closed(await start(place, ['/usr/bin/head', '-c', String(STREAM_BYTES), '/dev/zero'])))
}
await measureCalls()
process.stdout.write(`${JSON.stringify(measured)}\n`)
process.exit(0)

function start(place: ExecBackend, argv: [string, ...string[]]): Promise<ExecProcess> {
  count += 1
  return place.start({ processId: `bench-${count}`, argv, env: ENV, cwd: '/', tty: false, pipeStdin: false })
}

/** Settles when it has closed, with the bytes it said. */
function closed(running: ExecProcess): Promise<number> {
  return new Promise((resolve) => {
    let bytes = 0
    running.subscribe((event) => {
      if (event.kind === 'output') bytes += event.bytes.length
      else if (event.kind === 'closed') resolve(bytes)
    })
  })
}

function bareStart(): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn('/bin/true', { env: ENV, cwd: '/' })
    child.stdin.end()
    child.stdout.resume()
    child.stderr.resume()
    child.once('close', () => resolve(0))
  })
}

function barePipe(): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn('/usr/bin/head', ['-c', String(STREAM_BYTES), '/dev/zero'], {
      env: ENV,
      cwd: '/',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let bytes = 0
    child.stdout.on('data', (chunk: Buffer) => (bytes += chunk.length))
    child.once('close', () => resolve(bytes))
  })
}

/** Settles with the port of a process that sends what a pipe says to whoever connects. It ends with us. */
function startRelay(): Promise<number> {
  const relay = spawn(process.execPath, [RELAY, String(STREAM_BYTES)], { stdio: ['ignore', 'pipe', 'inherit'] })
  process.once('exit', () => relay.kill('SIGKILL'))
  return new Promise((resolve) => relay.stdout.once('data', (line: Buffer) => resolve(Number(line.toString()))))
}

function bareRelay(): Promise<number> {
  return new Promise((resolve) => {
    let bytes = 0
    connect(relayPort, '127.0.0.1')
      .on('data', (chunk: Buffer) => (bytes += chunk.length))
      .once('close', () => resolve(bytes))
  })
}

/** One tool call at a time: over a bare pipe, over the local place, over each executor. */
async function measureCalls(): Promise<void> {
  const spec = { command: process.execPath, args: [ECHO], env: ENV, cwd: '/' }
  const bare = await processes.start(spec)
  const transports: Record<string, ClientTransport> = { bare_pipe: stdioTransport({ input: bare.stdout, output: bare.stdin }) }
  for (const [name, place] of Object.entries(places))
    transports[name] = await startMcpServer(spec, place, { log: () => undefined })
  const clients: [string, Client][] = []
  for (const [name, transport] of Object.entries(transports))
    clients.push([name, await connectClient(transport, { clientInfo: { name: 'bench', version: '1' }, era: 'legacy' })])
  for (let run = -WARM; run < runs * CALLS; run += 1)
    for (const [name, client] of clients)
      await timed(measured.callMs, name, run, () =>
        client.request('tools/call', { name: 'echo', arguments: { text: ECHO_TEXT } }),
      )
}

async function timed(samples: Record<string, number[]>, name: string, run: number, act: () => Promise<unknown>): Promise<void> {
  const started = performance.now()
  await act()
  keep(samples, name, run, performance.now() - started)
}

function keep(samples: Record<string, number[]>, name: string, run: number, value: number): void {
  if (run >= 0) (samples[name] ??= []).push(value)
}
