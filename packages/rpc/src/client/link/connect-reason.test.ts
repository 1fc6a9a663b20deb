import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type Server, createServer as createPlainServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectClient } from '../client.ts'
import { httpTransport } from './http-transport.ts'
import { webSocketTransport } from './web-socket-transport.ts'

const folder = mkdtempSync(join(tmpdir(), 'connect-reason-'))
const servers: Server[] = []
const hosts = { plain: '', tls: '' }

beforeAll(async () => {
  const made = ['-nodes', '-days', '1', '-subj', '/CN=localhost', '-keyout', 'key.pem', '-out', 'cert.pem']
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', ...made]
  execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  const [cert, key] = ['cert.pem', 'key.pem'].map((name) => readFileSync(join(folder, name)))
  hosts.plain = await listen(createPlainServer((_request, response) => response.end()))
  hosts.tls = await listen(createTlsServer({ cert, key }))
})
afterAll(() => {
  for (const server of servers) server.close()
  rmSync(folder, { recursive: true })
})

async function listen(server: Server): Promise<string> {
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it listens on no port')
  return `127.0.0.1:${address.port}`
}

test.each([
  ['http', 'tls', 'if it speaks TLS, try https://'],
  ['ws', 'tls', 'if it speaks TLS, try wss://'],
  ['https', 'plain', 'it does not speak TLS; try http://'],
  ['wss', 'plain', 'it does not speak TLS; try ws://'],
] as const)('%s to a server that speaks %s: %s', async (scheme, spoken, words) => {
  const host = hosts[spoken]
  const url = `${scheme}://${host}/mcp`
  const transport = scheme.startsWith('http') ? httpTransport({ url }) : webSocketTransport({ url })
  await expect(connectClient(transport, { clientInfo: { name: 'test', version: '1' } })).rejects.toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining(`${words}${host}`),
  })
})
