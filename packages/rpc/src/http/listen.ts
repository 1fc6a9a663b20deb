import { chmodSync, lstatSync, rmSync } from 'node:fs'
import { createServer as createPlainServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect } from 'node:net'
import type { ListenAt } from './server-options.ts'

const MAX_HEADER_BYTES = 16 * 1024
const KEEP_ALIVE_MS = 65_000
/** How often Node looks for requests that take too long to arrive. */
const REQUEST_CHECK_MS = 5_000

/** A server that does not listen yet. Broken requests are answered by Node itself: 400, 408, 431. */
export function createServer(at: ListenAt, requestTimeoutMs: number, onRequest: RequestListener): Server {
  const settings = {
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: requestTimeoutMs,
    headersTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(REQUEST_CHECK_MS, requestTimeoutMs),
    noDelay: true,
    // Some clients (Java's, curl --http2) offer h2c with every request: that is an offer, and is not taken.
    shouldUpgradeCallback: ({ headers }: { readonly headers: { readonly upgrade?: string | undefined } }) =>
      headers.upgrade?.toLowerCase() === 'websocket',
  }
  const tls = 'port' in at ? at.tls : undefined
  return tls === undefined
    ? createPlainServer(settings, onRequest)
    : createTlsServer({ ...settings, handshakeTimeout: requestTimeoutMs, ...tls }, onRequest)
}

export async function listen(server: Server, at: ListenAt): Promise<void> {
  if (!('port' in at)) await removeStale(at.socketPath)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    const ready = (): void => {
      server.off('error', reject)
      resolve()
    }
    if ('port' in at) return void server.listen(at.port, at.host, ready)
    // Nobody else may connect between the bind and the chmod.
    const previous = process.umask(0o177)
    try {
      server.listen(at.socketPath, ready)
    } finally {
      process.umask(previous)
    }
  })
  if (!('port' in at)) chmodSync(at.socketPath, 0o600)
}

/** Takes away the socket file of a process that died. One that is served, or that is no socket, stays: listening fails. */
async function removeStale(socketPath: string): Promise<void> {
  if (lstatSync(socketPath, { throwIfNoEntry: false })?.isSocket() !== true) return
  const refused = await new Promise<boolean>((resolve) => {
    const probe = connect(socketPath)
    probe.once('connect', () => {
      probe.destroy()
      resolve(false)
    })
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'))
  })
  if (refused) rmSync(socketPath, { force: true })
}

export function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

export function urlOf(server: Server, at: ListenAt): string {
  if (!('port' in at)) return 'http://localhost'
  const host = at.host.includes(':') ? `[${at.host}]` : at.host
  return `${at.tls === undefined ? 'http' : 'https'}://${host}:${portOf(server)}`
}
