import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type Socket, createServer } from 'node:net'
import type { MountServer } from '@parley/agent'
import { type Service, openHttpServer, serveStdio } from '@parley/rpc'

/** Hands its stdio to a port of this process; a Node for it would take longer to start than all else. */
const PIPE = 'exec 3<>/dev/tcp/127.0.0.1/$0 && { cat <&3 & } && cat >&3; kill $!'

/** An MCP server of this process that a Codex can mount. */
export interface Mounted<Server extends MountServer = MountServer> extends AsyncDisposable {
  readonly server: Server
}

/** Over HTTP on loopback, open to everybody there. */
export async function serveHttp(service: Service): Promise<Mounted> {
  const server = await openHttpServer({
    listen: { host: '127.0.0.1', port: 0 },
    door: { authenticate: () => ({ key: 'anyone' }), serviceFor: () => service },
    stateKey: randomBytes(32),
  })
  const url = `${server.url}/mcp`
  return { server: { kind: 'http', url, headers: {} }, [Symbol.asyncDispose]: () => server.close(0) }
}

/** As a command. */
export async function serveCommand(service: Service): Promise<Mounted<Extract<MountServer, { kind: 'stdio' }>>> {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => undefined)
    void serveStdio({ input: socket, output: socket, service })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    server: { kind: 'stdio', command: 'bash', args: ['-c', PIPE, String(port)], env: {} },
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
