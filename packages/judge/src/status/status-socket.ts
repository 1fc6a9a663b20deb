import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Caller, type Service, openHttpServer } from '@parley/rpc'

/** A status service that other processes of this user can reach. */
export interface StatusSocket extends AsyncDisposable {
  /** For `httpTransport({ url: 'http://localhost/mcp', socketPath })`. */
  readonly socketPath: string
  close(): Promise<void>
}

/** The kernel takes 107 bytes on Linux and 103 elsewhere; some are left for what a system adds. */
const SOCKET_PATH_BYTES = 100
const ENGINE: Caller = { key: 'engine' }

/** Serves it on a socket file that only this user may open. Whoever reaches the file is taken for the engine. */
export async function openStatusSocket({
  service,
  socketPath,
}: {
  readonly service: Service
  readonly socketPath: string
}): Promise<StatusSocket> {
  if (Buffer.byteLength(socketPath) > SOCKET_PATH_BYTES)
    throw new RangeError(`socketPath: ${socketPath} is longer than the ${SOCKET_PATH_BYTES} bytes that a socket may have`)
  const server = await openHttpServer({
    listen: { socketPath },
    door: { authenticate: () => ENGINE, serviceFor: () => service },
    stateKey: randomBytes(32),
  })
  const close = async (): Promise<void> => {
    await server.close(0)
    rmSync(socketPath, { force: true })
  }
  return { socketPath, close, [Symbol.asyncDispose]: close }
}

/** A path for a socket: in the folder if that is short enough, else in a fresh one that nobody else may enter. */
export function shortSocketPath(folder: string, name: string): { readonly path: string; readonly remove: () => void } {
  const wanted = join(folder, name)
  if (Buffer.byteLength(wanted) <= SOCKET_PATH_BYTES) return { path: wanted, remove: () => {} }
  const path = join(mkdtempSync(join(tmpdir(), 'parley-')), name)
  return { path, remove: () => rmSync(dirname(path), { recursive: true, force: true }) }
}
