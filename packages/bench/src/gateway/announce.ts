import type { Server } from 'node:http'

/** Listens on a free port of loopback and says where, in the line that the harness waits for. */
export function announce(server: Server, path: string, scheme: 'http' | 'ws' = 'http'): void {
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (typeof address !== 'object' || address === null) throw new Error('no address')
    process.stdout.write(`${JSON.stringify({ url: `${scheme}://127.0.0.1:${address.port}${path}` })}\n`)
  })
  process.on('SIGTERM', () => process.exit(0))
}
