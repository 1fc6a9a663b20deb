import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensurePeer } from '../../../../scripts/peers/ensure-peer.ts'
import type { PeerName } from '../../../../scripts/peers/peer.ts'
import { freePort, startProgram } from '../measure/program.ts'
import { openOwnGateway } from '../own/open-gateway.ts'
import type { Endpoint } from './echo-call.ts'

const HERE = dirname(fileURLToPath(import.meta.url))
/** The servers share a core; the load generator has the other. */
export const SERVER_CORE = 0

/** A server under load: its process trees are measured, one wire is spoken to. */
export interface Running {
  readonly pids: readonly number[]
  readonly endpoint: Endpoint
  stop(): Promise<void>
}
export interface Target {
  readonly name: string
  /** `stdio`: the load generator starts the server itself. */
  readonly wire: 'http' | 'websocket' | 'stdio'
  /** Whose program it is, when it is not ours. */
  readonly peer?: PeerName
  start(): Promise<Running>
}

export const TARGETS: readonly Target[] = [
  { name: 'floor', wire: 'http', start: () => own('floor-main.ts', 'legacy') },
  { name: 'ours', wire: 'http', start: () => ours('mcp', 'legacy') },
  { name: 'ours-modern', wire: 'http', start: () => ours('mcp', 'modern') },
  { name: 'sdk1', wire: 'http', start: () => own('sdk1-main.ts', 'legacy') },
  { name: 'sdk2', wire: 'http', peer: 'server-2.4.0', start: () => own('sdk2-main.ts', 'modern') },
  { name: 'proxy', wire: 'http', start: parleyProxy },
  { name: 'supergateway', wire: 'http', peer: 'supergateway', start: supergateway },
  { name: 'mcp-proxy', wire: 'http', peer: 'mcp-proxy', start: () => mcpProxy([]) },
  { name: 'mcp-proxy-no-store', wire: 'http', peer: 'mcp-proxy', start: () => mcpProxy(['--no-eventStore']) },
  { name: 'floor-ws', wire: 'websocket', start: () => own('floor-ws-main.ts', 'legacy') },
  { name: 'ours-ws', wire: 'websocket', start: () => ours('ws', 'legacy') },
]

/** The child that every proxy stands before. */
export const STDIO_ECHO = [process.execPath, join(HERE, 'stdio-echo-main.ts')]

async function own(file: string, era: Endpoint['era']): Promise<Running> {
  const program = await startProgram([process.execPath, join(HERE, file)], { core: SERVER_CORE })
  const { url } = program.ready
  if (typeof url !== 'string') throw new Error(`${file} did not say its URL`)
  return { pids: [program.pid], endpoint: { url, era }, stop: () => program.stop() }
}

/** As in the product: a real token, audit, limits, metrics and logs on, the store on disk. */
async function ours(wire: 'mcp' | 'ws', era: Endpoint['era']): Promise<Running> {
  const gateway = await openOwnGateway({ core: SERVER_CORE })
  const endpoint = { url: gateway[wire], era, token: gateway.token }
  return { pids: [gateway.program.pid], endpoint, stop: async () => gateway[Symbol.asyncDispose]() }
}

async function parleyProxy(): Promise<Running> {
  const launcher = join(HERE, '../../../../bin/parley.js')
  const command = [process.execPath, launcher, 'proxy', '--port', '0', '--json', '--', ...STDIO_ECHO]
  const program = await startProgram(command, { core: SERVER_CORE })
  const { mcp, token } = program.ready
  if (typeof mcp !== 'string') throw new Error('the proxy did not say its URL')
  return {
    pids: [program.pid],
    stop: () => program.stop(),
    endpoint: { url: mcp, era: 'legacy', ...(typeof token === 'string' ? { token } : {}) },
  }
}

async function supergateway(): Promise<Running> {
  const peer = await ensurePeer('supergateway')
  const port = await freePort()
  const options = ['--outputTransport', 'streamableHttp', '--stateful', '--port', String(port), '--logLevel', 'none']
  const command = [process.execPath, peer.bin('supergateway'), '--stdio', STDIO_ECHO.join(' '), ...options]
  const program = await startProgram(command, { core: SERVER_CORE, port })
  return { pids: [program.pid], stop: () => program.stop(), endpoint: { url: `http://127.0.0.1:${port}/mcp`, era: 'legacy' } }
}

async function mcpProxy(extra: readonly string[]): Promise<Running> {
  const peer = await ensurePeer('mcp-proxy')
  const port = await freePort()
  const options = ['--host', '127.0.0.1', '--port', String(port), '--server', 'stream', ...extra]
  const command = [process.execPath, peer.bin('mcp-proxy'), ...options, '--', ...STDIO_ECHO]
  const program = await startProgram(command, { core: SERVER_CORE, port })
  return { pids: [program.pid], stop: () => program.stop(), endpoint: { url: `http://127.0.0.1:${port}/mcp`, era: 'legacy' } }
}
