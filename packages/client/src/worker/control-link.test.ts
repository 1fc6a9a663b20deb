import { NOTIFICATIONS } from '@parley/protocol'
import { connectClient, openHttpServer, type Service, webSocketTransport } from '@parley/rpc'
import { expect, onTestFinished, test } from 'vitest'
import { ControlLink } from './control-link.ts'

const BEAT = {
  instance: 'one',
  labels: [],
  slots: 1,
  facts: { version: '0', os: 'linux', arch: 'x64', cores: 1 },
  load: { sessions: 0, running: 0, processes: [], load_1m: 0 },
}

test('an answer that a word of draining overtook does not undo it, and another is asked for soon', async () => {
  let beats = 0
  const drains: boolean[] = []
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
    connect: (heard, signal) =>
      connectClient(webSocketTransport({ url, token: 'x' }), {
        clientInfo: { name: 'test', version: '1' },
        era: 'legacy',
        onNotification: heard,
        signal,
      }),
    worker: { drain: (isDraining) => void drains.push(isDraining), open: () => undefined },
    drainWords: { count: 0 },
    heartbeat: () => BEAT,
    told: () => undefined,
    lost: () => undefined,
    log: () => undefined,
  })
  onTestFinished(() => link.close())
  await link.begin()
  expect(drains).toEqual([true])
  await expect.poll(() => drains, { timeout: 20_000 }).toEqual([true, true])
  expect(beats).toBe(2)
})
