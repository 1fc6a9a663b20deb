import { NOTIFICATIONS } from '@parley/protocol'
import { connectClient, openHttpServer, type Service, webSocketTransport } from '@parley/rpc'
import { expect, onTestFinished, test } from 'vitest'
import { openTalk } from '../server/fixture/talk.ts'
import { ControlLink } from './control-link.ts'

const BEAT = {
  instance: 'one',
  labels: [],
  slots: 1,
  facts: { version: '0', os: 'linux', arch: 'x64', cores: 1 },
  load: { sessions: 0, running: 0, processes: [], load_1m: 0 },
}

test('an answer that a word of draining overtook does not undo it, and another is asked for soon', async () => {
  await using talk = await openTalk()
  let beats = 0
  const service: Service = {
    info: { name: 'test', version: '1' },
    capabilities: { tools: {} },
    call: async (method, _params, call) => {
      if (method === 'tools/list') return { tools: [] }
      beats += 1
      const answer = { name: 'box', drain: beats > 1, gateway: 'g', gateways: [], heartbeat_ms: 600_000 }
      // It was read before somebody drained it, and is sent after that was told.
      if (beats === 1) call.link?.notify(NOTIFICATIONS.worker_control.method, { name: 'box', drain: true })
      return { content: [], structuredContent: answer }
    },
  }
  const gateway = await openHttpServer({
    listen: { host: '127.0.0.1', port: 0 },
    stateKey: new Uint8Array(32),
    door: { authenticate: () => ({ key: 'box' }), serviceFor: () => service },
  })
  onTestFinished(() => gateway.close(0))
  const url = `${gateway.url.replace('http', 'ws')}/api/mcp/ws`
  const link = new ControlLink({
    url: gateway.url,
    token: 'x',
    connect: (heard, signal) =>
      connectClient(webSocketTransport({ url, token: 'x' }), {
        clientInfo: { name: 'test', version: '1' },
        era: 'legacy',
        onNotification: heard,
        signal,
      }),
    server: talk.server,
    drainWords: { count: 0 },
    heartbeat: () => BEAT,
    told: () => undefined,
    lost: () => undefined,
    log: () => undefined,
  })
  onTestFinished(() => link.close())
  await link.begin()
  const client = talk.connect()
  expect((await client.ask('initialize', { clientName: 't' })).error?.message).toContain('drained')
  await expect.poll(() => beats, { timeout: 20_000 }).toBe(2)
  expect((await client.ask('initialize', { clientName: 't' })).error?.message).toContain('drained')
})
