import { resolve } from 'node:path'
import { type ExecServer, localBackend, openExecServer, openProcesses } from '@parley/executor'
import { lineFrames, listenFrames } from '@parley/rpc/frame'
import { CommandError, type Invocation, usageError } from '@parley/command-line'
import { hearEnd, readSecretLine, wholeNumber } from '@parley/command-line/commands'
import { wholeEnv } from '../../process/program-env.ts'
import { checkExposure, isLoopback } from '../../gateway-process/exposure.ts'
import { listenFailure } from '../../gateway-process/listen-failure.ts'
import { readTls } from '../../gateway-process/read-tls.ts'
import { ownVersion } from '../../version.ts'
import { rootsOf } from '../../option/worker-options.ts'
import { type JoinPlace, joinPlaceOf, serveGateways } from './join-gateways.ts'

const DEFAULT_LISTEN = 'ws://127.0.0.1:0'
/** A URL leaves them out. */
const USUAL_PORTS: Readonly<Record<string, string>> = { 'ws:': '80', 'wss:': '443' }
const PROCESSES_MAX = 256
const GRACE_MS = 1_000
/** What clean-up may take after stdin ended. */
const END_MS = 1_900

type Place =
  | { readonly kind: 'stdio' }
  | { readonly kind: 'port'; readonly host: string; readonly port: number; readonly tls?: { cert: string; key: string } }
  | { readonly kind: 'file'; readonly socketPath: string }
  | JoinPlace

/** Runs processes for whoever connects, by the process API of `codex exec-server`, until it is told to end. */
export async function execServerCommand(invocation: Invocation): Promise<number> {
  const { io, values } = invocation
  const place = placeOf(invocation)
  const token = place.kind === 'gateway' ? undefined : tokenOf(invocation, place)
  const slots = wholeNumber(values, 'slots', { min: 1, max: PROCESSES_MAX }) ?? PROCESSES_MAX
  const roots = rootsOf(invocation)
  await using processes = await openProcesses({ maxProcesses: PROCESSES_MAX })
  await using server = openExecServer({
    backend: localBackend({ processes, contained: values.has('contain') }),
    where: { version: ownVersion(), cwd: io.cwd, env: wholeEnv(io.env) },
    roots,
    limits: { processes: slots },
    log: (message) => io.err(`${message}\n`),
  })
  if (place.kind === 'gateway') await serveGateways(invocation, server, { ...place, slots })
  else await (place.kind === 'stdio' ? serveStdin(invocation, server) : serveSockets(invocation, server, place, token))
  await processes.close(GRACE_MS)
  return 0
}

async function serveStdin({ io }: Invocation, server: ExecServer): Promise<void> {
  const stop = io.onSignal(() => io.stdin.destroy())
  // Nobody comes back to a pipe.
  server.serve(lineFrames({ input: io.stdin, output: process.stdout }), 0)
  await server.idle()
  setTimeout(() => process.exit(0), END_MS).unref()
  stop()
}

async function serveSockets(
  { io, values }: Invocation,
  server: ExecServer,
  place: Exclude<Place, { kind: 'stdio' | 'gateway' }>,
  token: string | undefined,
): Promise<void> {
  const { asked, ignore } = hearEnd(io)
  const listener = await listenFrames({
    listen: place.kind === 'file' ? { socketPath: place.socketPath } : place,
    ...(token === undefined ? {} : { token }),
    onLink: (link) => server.serve(link),
  }).catch((error: unknown) => {
    throw place.kind === 'port' ? listenFailure(error, place) : socketFailure(error, place.socketPath)
  })
  io.out(values.has('json') ? `${JSON.stringify({ url: listener.url })}\n` : `${listener.url}\n`)
  await asked
  await listener.close()
  ignore()
}

function placeOf(invocation: Invocation): Place {
  const { io, values } = invocation
  const joined = joinPlaceOf(invocation)
  if (joined !== undefined) return joined
  const given = values.text('listen') ?? DEFAULT_LISTEN
  if (given === 'stdio') return { kind: 'stdio' }
  if (given.startsWith('unix:')) {
    const path = given.slice('unix:'.length)
    if (path === '') throw usageError('--listen unix: needs a path', '--listen unix:/run/user/1000/exec.sock')
    return { kind: 'file', socketPath: resolve(io.cwd, path) }
  }
  const url = URL.parse(given)
  if (url === null || !/^wss?:$/.test(url.protocol) || url.pathname !== '/')
    throw usageError(`--listen must be ws://ADDRESS:PORT, unix:PATH or stdio, not ${JSON.stringify(given)}`)
  const tls = readTls({ tlsCert: values.text('tls-cert'), tlsKey: values.text('tls-key') }, io.cwd)
  if ((url.protocol === 'wss:') !== (tls !== undefined))
    throw usageError('wss:// goes with --tls-cert and --tls-key, ws:// without')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  checkExposure({ host, hasTls: tls !== undefined, insecure: values.has('insecure') })
  return { kind: 'port', host, port: Number(url.port || USUAL_PORTS[url.protocol]), ...(tls === undefined ? {} : { tls }) }
}

/** Whoever connects runs programs as this user: beyond this machine nobody may without showing a token. */
function tokenOf({ io, values }: Invocation, place: Place): string | undefined {
  const file = values.text('token-file')
  if (file === undefined) {
    if (place.kind === 'port' && !isLoopback(place.host))
      throw usageError(`${place.host} is reachable from other machines: give --token-file`, MAKE_TOKEN)
    return undefined
  }
  if (place.kind === 'stdio') throw usageError('--token-file is for sockets; on stdio nobody else can connect')
  const token = readSecretLine({ what: '--token-file', file, cwd: io.cwd }, io)
  if (token.length < TOKEN_CHARS)
    throw new CommandError('weak_token', `the token in ${file} has ${token.length} characters, fewer than ${TOKEN_CHARS}`, {
      hint: MAKE_TOKEN,
    })
  return token
}
const TOKEN_CHARS = 32
const MAKE_TOKEN = '(umask 077; openssl rand -hex 32 > FILE) makes one'

function socketFailure(error: unknown, path: string): unknown {
  if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) return error
  return new CommandError('socket_taken', `${path} is served by another process`, { hint: 'choose another path', cause: error })
}
