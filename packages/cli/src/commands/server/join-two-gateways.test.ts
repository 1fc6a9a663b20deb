import { randomBytes } from 'node:crypto'
import { createLogger, type Gateway, openGateway } from '@parley/gateway'
import {
  dialTunnel,
  type ExecServer,
  joinAsExecutor,
  localBackend,
  openExecServer,
  openExecutor,
  openProcesses,
} from '@parley/executor'
import { messageOf } from '@parley/protocol'
import { type Client, connectClient, httpTransport } from '@parley/rpc'
import { openStore } from '@parley/store'
import { startEngine } from '@parley/store/testing'
import { expect, test } from 'vitest'
import { MANY_PROCESSES } from '../../fixture/parley.ts'
import { connectWorker } from '../../process/connect-worker.ts'

const SECRET = new Uint8Array(32).fill(3)
const EXECUTOR_TOKEN = 'one-token-for-all-executors-of-this-test'

async function gatewayOn(url: string, made: AsyncDisposableStack, port = 0): Promise<Gateway> {
  const store = await openStore({ url })
  const gateway = await openGateway({
    store,
    secret: SECRET,
    listen: { host: '127.0.0.1', port },
    signup: false,
    queryToken: true,
    executorToken: EXECUTOR_TOKEN,
    firstAdmin: { username: 'admin', password: 'a password that is long enough' },
    log: createLogger({ level: 'silent', destination: { write: () => {} } }),
    now: Date.now,
    random: randomBytes,
    version: '0.0.0-test',
  })
  made.defer(async () => {
    await gateway.close(0)
    await store.close()
  })
  return gateway
}

async function adminOf({ url }: Gateway): Promise<string> {
  const response = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password: 'a password that is long enough' }),
  })
  const { access_token: token } = (await response.json()) as { access_token: string }
  return token
}

function join(url: string, server: ExecServer, name: string) {
  return joinAsExecutor({
    url,
    token: EXECUTOR_TOKEN,
    connect: (gateway) =>
      connectWorker('executor', { url: `${gateway.replace('http', 'ws')}/api/mcp/ws`, token: EXECUTOR_TOKEN }),
    server,
    version: '0',
    name,
    labels: [],
    slots: 4,
    log: () => undefined,
  })
}

test(
  'an executor that came to one of two gateways is reached through both, and is drained by either',
  MANY_PROCESSES,
  async () => {
    await using made = new AsyncDisposableStack()
    const postgres = await startEngine('postgres')
    made.defer(() => postgres.stop())
    const url = await postgres.migratedUrl()
    const [one, other] = [await gatewayOn(url, made), await gatewayOn(url, made)]
    const token = await adminOf(one)
    const processes = await openProcesses()
    made.defer(() => processes.close(0))
    const server = openExecServer({ backend: localBackend({ processes }), where: { version: '0', cwd: '/', env: {} } })
    made.defer(() => server.close())
    const joined = await join(one.url, server, 'box')
    made.defer(() => joined.close())
    const open = (gateway: Gateway) =>
      openExecutor({ dial: () => dialTunnel(gateway.url, { executor: 'box', token }), clientName: 'test', recoveryMs: 0 })
    for (const gateway of [one, other]) {
      await expect.poll(() => open(gateway).then(async (each) => each.close().then(() => 'reached'), messageOf)).toBe('reached')
    }
    const admin: Client = await connectClient(httpTransport({ url: other.mcp, token }), {
      clientInfo: { name: 't', version: '1' },
    })
    made.defer(() => admin.close())
    expect((await admin.callTool('executor.list', {})).items).toMatchObject([{ name: 'box', state: 'idle' }])
    await admin.callTool('executor.drain', { name: 'box' })
    await expect.poll(() => open(one).then(() => 'taken', messageOf)).toContain('being drained')
    await expect(join(other.url, server, 'box')).rejects.toThrow('another executor called box is here')
    await joined.close()
    await expect.poll(async () => (await admin.callTool('executor.list', {})).items).toEqual([])
  },
)
