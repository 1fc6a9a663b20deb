import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, extname, join } from 'node:path'
import { type Gateway, type PageFile, createLogger, openGateway } from '@parley/gateway'
import { type Client, connectClient, webSocketTransport } from '@parley/rpc'
import { openStore } from '@parley/store'

export const PASSWORD = 'correct horse battery'
const root = dirname(dirname(import.meta.dirname))
const dist = join(root, 'packages/web/dist')
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

/** Builds the page as the set-up does. */
export function buildPage(): void {
  const { status } = spawnSync(process.execPath, ['scripts/setup.js', '--for', 'start'], { cwd: root, stdio: 'inherit' })
  if (status !== 0) throw new Error('the page could not be built')
}

/** A gateway with the page, on a store of its own, without a judge. */
export interface House extends AsyncDisposable {
  readonly url: string
  readonly link: string
  /** A client of the admin, or of a judge. */
  dial(role: 'admin' | 'judge'): Promise<Client>
  /** A client of whoever the token belongs to. */
  dialAs(token: string): Promise<Client>
  stop(): Promise<void>
  /** Opens it where it was. */
  start(): Promise<void>
}

export async function openHouse(password?: string): Promise<House> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-page-'))
  const store = await openStore({ url: `sqlite:${join(folder, 'parley.db')}` })
  const [secret, judgeToken] = [randomBytes(32), randomBytes(24).toString('hex')]
  const open = (port: number): Promise<Gateway> =>
    openGateway({
      store,
      secret,
      judgeToken,
      listen: { host: '127.0.0.1', port },
      signup: false,
      queryToken: true,
      // A judge that is played by hand does not say that it is alive.
      limits: { leaseMs: 600_000 },
      firstAdmin: { username: 'admin', ...(password === undefined ? {} : { password }) },
      log: createLogger({ level: 'error', destination: process.stderr }),
      now: Date.now,
      random: randomBytes,
      version: '0.0.0-test',
      page: pageFile,
    })
  let gateway = await open(0)
  const { url, firstAdmin } = gateway
  const dialAs = (token: string): Promise<Client> => {
    const transport = webSocketTransport({ url: `${url.replace(/^http/, 'ws')}/api/mcp/ws`, token })
    return connectClient(transport, { clientInfo: { name: 'test', version: '1' } })
  }
  return {
    url,
    link: firstAdmin?.signIn ?? '',
    dial: async (role) => dialAs(role === 'judge' ? judgeToken : await tokenOf(url, 'admin', PASSWORD)),
    dialAs,
    stop: () => gateway.close(0),
    start: async () => {
      gateway = await open(Number(new URL(url).port))
    },
    async [Symbol.asyncDispose]() {
      await gateway.close(100)
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Signs in as a page would. */
export async function tokenOf(url: string, username: string, password: string): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/api/auth/login`, { method: 'POST', headers, body: JSON.stringify({ username, password }) })
  const body: unknown = await response.json()
  return String(typeof body === 'object' && body !== null ? Reflect.get(body, 'access_token') : undefined)
}

/** Fills in the form of the page and sends it. */
export function signInWith(password: string, username = 'admin'): string {
  return `document.getElementById('username').value = ${JSON.stringify(username)}
    document.getElementById('password').value = ${JSON.stringify(password)}
    document.querySelector('form').requestSubmit()`
}

function pageFile(path: string): PageFile | undefined {
  const file = join(dist, path)
  if (!existsSync(file)) return undefined
  return { body: readFileSync(file), contentType: TYPES[extname(path)] ?? 'application/octet-stream', etag: `"${path}"` }
}
