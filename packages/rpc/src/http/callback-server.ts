import { once } from 'node:events'
import { createServer } from 'node:http'
import { Connections } from './connections.ts'
import { DEFAULT_LIMITS } from '../limits.ts'

/** Listens on this machine for the browser to come back, once. */
export interface CallbackServer {
  readonly redirectUri: string
  /** The parameters that the browser brought; the first that name `state` count. */
  readonly came: Promise<URLSearchParams>
  close(): Promise<void>
}

/** A browser has a few; other programs of this machine can dial it, too. */
const CONNECTIONS_MAX = 32

const PAGE = (text: string): string =>
  `<!doctype html><meta charset="utf-8"><title>Parley</title><body style="font:16px system-ui;margin:4em"><p>${text}</p>`

export async function openCallbackServer(port = 0): Promise<CallbackServer> {
  const came = Promise.withResolvers<URLSearchParams>()
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '', 'http://127.0.0.1')
    const isCallback = request.method === 'GET' && url?.pathname === '/callback' && url.searchParams.has('state')
    response.writeHead(isCallback ? 200 : 404, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      connection: 'close',
    })
    response.end(
      PAGE(isCallback ? 'Back in the terminal it says how it went. This window can be closed.' : 'There is nothing here.'),
    )
    if (isCallback && url !== null) came.resolve(url.searchParams)
  })
  const connections = new Connections({ ...DEFAULT_LIMITS, connections: CONNECTIONS_MAX })
  server.on('connection', (socket) => connections.take(socket))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  return {
    redirectUri: `http://127.0.0.1:${bound}/callback`,
    came: came.promise,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}
