import { localBackend, type McpServerSpec, openProcesses, startMcpServer } from '@parley/executor'
import { type ClientTransport, httpTransport, openHttpServer, openRelay, type Route, webSocketTransport } from '@parley/rpc'
import { type Invocation, usageError } from '@parley/command-line'
import { hearEnd, readSecretLine } from '@parley/command-line/commands'
import { checkExposure, isLoopback } from '../../gateway-process/exposure.ts'
import { listenFailure } from '../../gateway-process/listen-failure.ts'
import { readTls } from '../../gateway-process/read-tls.ts'
import { namedExecutor } from '../../process/named-executor.ts'
import { serverLog } from '../../process/server-log.ts'
import { childEnv, namedEnv } from './child-env.ts'
import { ONE_CALLER_LIMITS, ONE_CALLER_RELAY_LIMITS, oneTokenDoor } from './one-token-door.ts'
import { ownVersion } from '../../version.ts'

const DEFAULT_PORT = 7401
const TOKEN_BYTES = 32
const STATE_KEY_BYTES = 32
const GRACE_MS = 3_000
/** One shared child, one for each session or modern call that can be asked something, and some that are on their way out. */
const CHILDREN_MAX = 64

const health: Route = ({ path }) =>
  path === '/healthz' ? { status: 200, headers: { 'content-type': 'application/json' }, body: '{"status":"ok"}' } : undefined

/** One MCP server behind our wires, unprefixed, until it is told to end. */
export async function proxy(invocation: Invocation): Promise<number> {
  const { io, values } = invocation
  const listen = listenOf(invocation)
  const token = tokenOf(invocation)
  const end = hearEnd(io)
  await using processes = await openProcesses({ maxProcesses: CHILDREN_MAX })
  await using executor = await end.before(namedExecutor(invocation), 'the executor', (late) => closed(late))
  const opening = openRelay({
    connect: upstreamOf(invocation, async (spec) => {
      const here = { ...spec, env: childEnv(io.env, values.text('env')), cwd: io.cwd }
      if (executor === undefined) return startMcpServer(here, localBackend({ processes }), serverLog(io.err))
      const { place, folder } = await executor.current()
      return startMcpServer({ ...spec, env: namedEnv(io.env, values.text('env')), cwd: folder }, place, serverLog(io.err))
    }),
    clientInfo: { name: 'parley-proxy', version: ownVersion() },
    era: eraOf(invocation),
    limits: ONE_CALLER_RELAY_LIMITS,
    log: (level, message) => io.err(`${level}: ${message}\n`),
  })
  const relay = await end.before(opening, 'the server', (late) => late.close())
  try {
    const server = await openHttpServer({
      listen,
      door: oneTokenDoor(token?.text, relay),
      routes: [health],
      allowedHosts: isWildcard(listen.host) ? [] : [listen.host],
      stateKey: io.random(STATE_KEY_BYTES),
      limits: ONE_CALLER_LIMITS,
    }).catch((error: unknown) => {
      throw listenFailure(error, listen)
    })
    const mcp = `${server.url}/mcp`
    const ws = `${server.url.replace(/^http/, 'ws')}/api/mcp/ws`
    const shown = token?.isNew === true ? token.text : null
    if (values.has('json')) io.out(`${JSON.stringify({ url: server.url, mcp, ws, token: shown })}\n`)
    else
      io.out(
        `Serving ${relay.info.name} ${relay.info.version}\n  MCP    ${mcp}\n  ws     ${ws}\n${shown === null ? '' : `  token  ${shown}\n`}`,
      )
    await end.asked
    await server.close(GRACE_MS)
  } finally {
    await relay.close()
    await processes.close(GRACE_MS)
    end.ignore()
  }
  return 0
}

const closed = async (late: AsyncDisposable | undefined): Promise<void> => await late?.[Symbol.asyncDispose]()

type Start = (spec: Pick<McpServerSpec, 'command' | 'args'>) => Promise<ClientTransport>

function upstreamOf({ io, values, positionals, rest }: Invocation, start: Start): () => Promise<ClientTransport> {
  const [url] = positionals
  const [command, ...args] = rest
  if ((url === undefined) === (command === undefined))
    throw usageError('proxy needs either a URL or -- and a command', 'parley proxy -- npx some-mcp-server')
  if (command !== undefined) return () => start({ command, args })
  if (values.has('executor')) throw usageError('--executor is for a command after --; a URL is reached from here')
  const parsed = URL.parse(url ?? '')
  if (parsed === null || !/^(http|ws)s?:$/.test(parsed.protocol))
    throw usageError(`${JSON.stringify(url)} is no http:// or ws:// URL`, 'a command goes after --')
  const file = values.text('upstream-token-file')
  const auth = file === undefined ? {} : { token: readSecretLine({ what: '--upstream-token-file', file, cwd: io.cwd }, io) }
  const open = parsed.protocol.startsWith('http') ? httpTransport : webSocketTransport
  return async () => open({ url: parsed.href, ...auth })
}

function eraOf({ values }: Invocation): 'auto' | 'legacy' | 'modern' {
  const era = values.text('era')
  return era === 'legacy' || era === 'modern' ? era : 'auto'
}

function listenOf({ io, values }: Invocation): { host: string; port: number; tls?: { cert: string; key: string } } {
  const host = values.text('host') ?? '127.0.0.1'
  const port = Number(values.text('port') ?? DEFAULT_PORT)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw usageError(`--port must be a number from 0 to 65535, not ${JSON.stringify(values.text('port'))}`)
  const tls = readTls({ tlsCert: values.text('tls-cert'), tlsKey: values.text('tls-key') }, io.cwd)
  checkExposure({ host, hasTls: tls !== undefined, insecure: values.has('insecure') })
  return { host, port, ...(tls === undefined ? {} : { tls }) }
}

function tokenOf({ io, values }: Invocation): { text: string; isNew: boolean } | undefined {
  const file = values.text('token-file')
  if (values.has('no-auth')) {
    if (file !== undefined) throw usageError('--no-auth and --token-file exclude each other')
    if (!isLoopback(values.text('host') ?? '127.0.0.1'))
      throw usageError('--no-auth works on loopback only', 'leave --host away, or use a token')
    return undefined
  }
  if (file !== undefined) return { text: readSecretLine({ what: '--token-file', file, cwd: io.cwd }, io), isNew: false }
  return { text: Buffer.from(io.random(TOKEN_BYTES)).toString('base64url'), isNew: true }
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}
