import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type IncomingMessage, type RequestOptions, request } from 'node:http'
import { createServer } from 'node:https'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import { connectClient, webSocketTransport } from '@parley/rpc'
import { ownLoopback } from '@parley/store/testing'
import { expect, test } from 'vitest'
import { readSection } from './testing/guide.ts'
import { TEST_CACHE } from './testing/test-cache.ts'

const execute = promisify(execFile)
const root = dirname(import.meta.dirname)
const guide = readFileSync(join(root, 'docs/serving.md'), 'utf8')

/** Processes start one after the other, each in seconds on a crowded machine. */
const PROCESSES = { timeout: 240_000 }

/** The commands of a section, as a person types them. */
function commandsOf(heading: string): readonly string[] {
  const shell = guide.replaceAll(/```nginx\n.*?```\n/gs, '')
  return readSection(shell, heading).flatMap((act) => (act.kind === 'run' ? [act.command] : []))
}

/** A machine of its own: an address, an empty folder, no variable of ours, `parley` on PATH. */
class Machine implements AsyncDisposable {
  /** What is free here nobody else takes. */
  readonly host = ownLoopback()
  readonly folder = mkdtempSync(join(tmpdir(), 'parley-serving-'))
  readonly #running: { readonly child: ChildProcess; readonly exited: Promise<void> }[] = []
  readonly #env = {
    PATH: [join(root, 'bin'), process.env['PATH'] ?? ''].join(delimiter),
    HOME: this.folder,
    PARLEY_DATA_DIR: join(this.folder, 'data'),
    // What is compiled once serves all tests.
    PARLEY_CACHE: TEST_CACHE,
  }

  /** Rejects with `stdout` and `stderr` when the command fails. */
  async run(command: string): Promise<string> {
    return (await execute('sh', ['-c', command], { cwd: this.folder, env: this.#env })).stdout
  }

  /** Starts a command that stays; answers the line of JSON that it says when it is ready. */
  async start(command: string): Promise<Readonly<Record<string, unknown>>> {
    // The guide's commands listen on the port that is ours by default; a test may not.
    const child = spawn('sh', ['-c', `exec env ${command} --json`], { cwd: this.folder, env: this.#env })
    this.#running.push({ child, exited: new Promise((resolve) => child.once('exit', () => resolve())) })
    let err = ''
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
    for await (const line of createInterface({ input: child.stdout })) return Object(JSON.parse(line))
    throw new Error(`${command} ended without a word: ${err}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child, exited } of this.#running.toReversed()) {
      child.kill('SIGTERM')
      await exited
    }
    rmSync(this.folder, { recursive: true, force: true })
  }
}

async function freePort({ host }: Machine): Promise<number> {
  const server = createSocketServer()
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const port = portOf(server.address())
  await new Promise((resolve) => server.close(resolve))
  return port
}

const portOf = (address: AddressInfo | string | null): number =>
  typeof address === 'object' && address !== null ? address.port : 0

/** The guide's commands for a machine: its own address instead of a name and of every address, and a free port. */
const on = ({ host }: Machine, command: string, port: number): string =>
  command
    .replaceAll('DNS:parley.example', `IP:${host},DNS:localhost`)
    .replaceAll('parley.example', host)
    .replaceAll('7400', String(port))
    .replaceAll('0.0.0.0', host)

const CERTIFICATE = commandsOf('With a certificate').find((command) => command.startsWith('openssl')) ?? ''

test(
  'a gateway with its own certificate serves a judge and a user who were given it, and tells others why not',
  PROCESSES,
  async () => {
    await using machine = new Machine()
    const port = await freePort(machine)
    const [up = ''] = commandsOf('With a certificate')
    await machine.run(on(machine, CERTIFICATE, port))
    const ready = await machine.start(`${on(machine, up, port)} --port ${port} --no-judge`)
    expect(ready['sign_in']).toMatch(new RegExp(`^https://${machine.host}:${port}/#link=`))
    const [judgeToken = '', judge = '', userToken = '', doctor = ''] = commandsOf('A judge on another machine')
    for (const command of [judgeToken, userToken]) await machine.run(on(machine, command, port))
    const without = on(machine, doctor, port).replace('NODE_EXTRA_CA_CERTS=cert.pem ', '')
    await expect(machine.run(without)).rejects.toMatchObject({
      stdout: expect.stringMatching(/NODE_EXTRA_CA_CERTS(?![\s\S]*check the URL)/),
    })
    await expect(machine.run(on(machine, doctor, port).replace('https:', 'http:'))).rejects.toMatchObject({
      stdout: expect.stringMatching(/if it speaks TLS,\s+try\s+https:/),
    })
    expect(await machine.run(on(machine, doctor, port))).toMatch(/^token +ok/m)
    expect(await machine.start(on(machine, judge, port))).toMatchObject({ url: `https://${machine.host}:${port}/mcp` })
    const listed = await machine.run(
      `NODE_EXTRA_CA_CERTS=cert.pem parley judge list --url https://${machine.host}:${port} --token-file user-token`,
    )
    expect(listed).toMatch(/ idle /)
  },
)

test('behind a proxy with TLS the page, both wires and the addresses of clients are right', PROCESSES, async () => {
  await using machine = new Machine()
  const port = await freePort(machine)
  await machine.run(on(machine, CERTIFICATE, port))
  await using proxy = await openProxy(machine, port)
  const [up = ''] = commandsOf('Behind a proxy')
  const behind = up.replace('https://parley.example', proxy.url)
  const ready = await machine.start(`${behind} --host ${machine.host} --port ${port} --no-judge`)
  expect(ready['sign_in']).toMatch(new RegExp(`^${proxy.url}/#link=`))
  await machine.run('parley token create --role user --user admin --out user-token')
  const trusting = 'NODE_EXTRA_CA_CERTS=cert.pem parley'
  expect(await machine.run(`${trusting} doctor --url ${proxy.url} --token-file user-token`)).not.toMatch(/failed/)
  const asked = JSON.parse(
    await machine.run(
      `curl -s --cacert cert.pem -H 'content-type: application/json' -d '{"token":"lnk_x"}' ${proxy.url}/api/auth/link`,
    ),
  )
  expect(asked).toMatchObject({ error: { code: 'unknown_link' } })
  const [token = ''] = readFileSync(join(machine.folder, 'user-token'), 'utf8').split('\n')
  const client = await connectClient(webSocketTransport({ url: `ws://${machine.host}:${port}/api/mcp/ws`, token }), {
    clientInfo: { name: 'test', version: '1' },
  })
  expect(await client.callTool('audit.search', { action: 'sign-in' })).toMatchObject({
    items: [{ code: 'unknown_link', remote: CLIENT_ADDRESS }],
  })
  await client.close()
  expect(await machine.run(`curl -s --cacert cert.pem ${proxy.url}/`)).toContain('<title>Parley</title>')
  expect(
    await machine.run(`curl -s -o /dev/null -w '%{http_code}' -H 'Host: other.example' http://${machine.host}:${port}/healthz`),
  ).toBe('403')
  // The judge of the guide dials a WebSocket when it is told to.
  await machine.run('parley token create --role judge --name far --out judge-token')
  const socket = proxy.url.replace(/^https/, 'wss')
  const judging = await machine.start(`NODE_EXTRA_CA_CERTS=cert.pem parley judge --url ${socket} --token-file judge-token`)
  expect(judging).toMatchObject({ url: `${socket}/api/mcp/ws` })
})

test('in plain text beyond loopback it starts only when told to, and the refusal names the three ways', PROCESSES, async () => {
  await using machine = new Machine()
  const port = await freePort(machine)
  // What people see is what they look for in the guide.
  const words = '0.0.0.0 is reachable from other machines, and without TLS tokens would travel in plain text'
  expect(guide).toContain(`| \`${words}\` at the start |`)
  await expect(machine.run('parley up --no-judge --port 0 --host 0.0.0.0')).rejects.toMatchObject({
    stderr: expect.stringMatching(
      new RegExp(`${words}.*--tls-cert and --tls-key, .* proxy .*--insecure; docs/serving\\.md`, 's'),
    ),
  })
  const [plain = ''] = commandsOf('In plain text')
  expect(plain).toContain('--insecure')
  expect(await machine.start(`${on(machine, plain, port)} --port ${port} --no-judge`)).toMatchObject({
    sign_in: expect.stringMatching(new RegExp(`^http://${machine.host}:${port}/#link=`)),
  })
})

/** The address that the proxy says its clients come from: one of those that are for documentation. */
const CLIENT_ADDRESS = '203.0.113.7'

/** A small TLS proxy that does what the guide asks of one. */
async function openProxy({ folder, host }: Machine, port: number): Promise<AsyncDisposable & { readonly url: string }> {
  const [cert, key] = ['cert.pem', 'key.pem'].map((name) => readFileSync(join(folder, name)))
  const passed = ({ method, url, headers }: IncomingMessage): RequestOptions => ({
    host,
    port,
    path: url,
    ...(method === undefined ? {} : { method }),
    headers: { ...headers, 'x-forwarded-for': CLIENT_ADDRESS },
  })
  const server = createServer({ cert, key }, (asked, answer) => {
    const onward = request(passed(asked), (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers)
      got.pipe(answer)
    })
    onward.on('error', () => answer.destroy())
    answer.on('close', () => onward.destroy())
    asked.pipe(onward)
  })
  // Node forgets a socket once it was upgraded.
  const sockets = new Set<Duplex>()
  server.on('upgrade', (asked, socket) => {
    sockets.add(socket.on('error', () => {}))
    const onward = request(passed(asked))
    onward.on('upgrade', (got, behind) => {
      const lines = Object.entries(got.headers).map(([name, value]) => `${name}: ${String(value)}\r\n`)
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`)
      behind.pipe(socket).on('error', () => behind.destroy())
      socket.pipe(behind).on('error', () => socket.destroy())
    })
    onward.on('error', () => socket.destroy()).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `https://localhost:${portOf(server.address())}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
