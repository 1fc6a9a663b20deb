import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Caller, type Limits, type ServerHolds, type Service, openHttpServer } from '@parley/rpc'

/** A service that a process in a box can reach. */
export interface ServiceSocket extends AsyncDisposable {
  /** For `httpTransport({ url: 'http://localhost/mcp', socketPath })`. */
  readonly socketPath: string
  /** What it holds for those who dial it, at this moment. */
  holds(): ServerHolds
  close(): Promise<void>
}

/** The kernel takes 107 bytes on Linux and 103 elsewhere; some are left for what a system adds. */
const SOCKET_PATH_BYTES = 100
const ENGINE: Caller = { key: 'engine' }
const MIB = 1024 * 1024
/**
 * The engine has one relay there, which has one session and makes a few calls at a time; but whatever runs in the box of
 * an engine may dial the socket. A message holds a program of 1 MiB, whatever is escaped in it.
 */
const SOCKET_LIMITS: Partial<Limits> = {
  connections: 32,
  inFlightRequests: 32,
  callsPerCaller: 64,
  linksPerCaller: 16,
  // That of the relay has a reader as long as it lives.
  sessionIdleMs: 2 * 60_000,
  messageBytes: 8 * MIB,
  bodyBytesPerCaller: 16 * MIB,
  bodyBytes: 16 * MIB,
  bodyBytesKept: 0,
  streamBufferBytes: MIB,
  replayBytes: MIB / 4,
  requestTimeoutMs: 30_000,
}

/** Serves it on a socket file that only this user may open. Whoever reaches the file is taken for the engine. */
export async function openServiceSocket({
  service,
  socketPath,
}: {
  readonly service: Service
  readonly socketPath: string
}): Promise<ServiceSocket> {
  checkSocketPath(socketPath)
  const server = await openHttpServer({
    listen: { socketPath },
    // No WebSocket: what one holds of a message that does not end could not be given up for another message.
    paths: { http: '/mcp' },
    door: { authenticate: () => ENGINE, serviceFor: () => service },
    limits: SOCKET_LIMITS,
    stateKey: randomBytes(32),
  })
  const close = async (): Promise<void> => {
    await server.close(0)
    rmSync(socketPath, { force: true })
  }
  return { socketPath, holds: () => server.holds(), close, [Symbol.asyncDispose]: close }
}

export function checkSocketPath(socketPath: string): void {
  if (Buffer.byteLength(socketPath) > SOCKET_PATH_BYTES)
    throw new RangeError(`socketPath: ${socketPath} is longer than the ${SOCKET_PATH_BYTES} bytes that a socket may have`)
}

/** A path for a socket: in the folder if that is short enough, else in a fresh one that nobody else may enter. */
export function shortSocketPath(folder: string, name: string): { readonly path: string; readonly remove: () => void } {
  const wanted = join(folder, name)
  if (Buffer.byteLength(wanted) <= SOCKET_PATH_BYTES) return { path: wanted, remove: () => {} }
  const path = join(mkdtempSync(join(tmpdir(), 'parley-')), name)
  return { path, remove: () => rmSync(dirname(path), { recursive: true, force: true }) }
}
