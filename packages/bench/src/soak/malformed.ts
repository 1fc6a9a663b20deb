import { openOwnGateway, type OwnGateway } from '../own/open-gateway.ts'
import { keepAlive } from './http-post.ts'
import { malformedHttp } from './malformed-http.ts'
import { malformedStdio } from './malformed-stdio.ts'
import { malformedWebsocket } from './malformed-websocket.ts'
import { type Memory, memoryOf } from './memory.ts'
import type { Soak } from '../soak.ts'
import { Tally } from '../soak.ts'

const MESSAGES = 100_000
const WARM_SHARE = 0.1
const HEAP_SLACK = 1.1
const HEAP_SLACK_BYTES = 4 * 1024 * 1024

/** Malformed messages on every wire: no crash, no hang, no leak, each answered or closed as the specification says. */
export const malformedSoak: Soak = {
  name: 'malformed',
  summary: '100,000 malformed messages on each wire: HTTP of both eras, WebSocket, stdio',
  needs: { programs: [], peers: [] },
  run: async ({ seed, share, log }) => {
    const tally = new Tally()
    const messages = Math.ceil(MESSAGES * share)
    await using gateway = await openOwnGateway({ exposeGc: true })
    const wires = {
      'http legacy': (count: number, from: number) => malformedHttp('legacy', gateway, { messages: count, seed: from, tally }),
      'http modern': (count: number, from: number) =>
        malformedHttp('modern', gateway, { messages: count, seed: from + 1, tally }),
      websocket: (count: number, from: number) => malformedWebsocket(gateway, { messages: count, seed: from + 2, tally }),
    }
    for (const [wire, send] of Object.entries(wires)) {
      log(`${wire}: ${messages} messages`)
      await send(Math.ceil(messages * WARM_SHARE), seed)
      const before = await settled(gateway)
      await send(Math.floor(messages * (1 - WARM_SHARE)), seed + 100)
      const after = await settled(gateway)
      const bound = before.heap_bytes * HEAP_SLACK + HEAP_SLACK_BYTES
      tally.expect(after.heap_bytes <= bound, `${wire}: the heap grew from ${before.heap_bytes} to ${after.heap_bytes}`)
      tally.expect(!gateway.program.exited(), `${wire}: the gateway ended:\n${gateway.program.stderr()}`)
    }
    log(`stdio: ${messages} messages`)
    await malformedStdio({ messages, seed: seed + 3, tally })
    return tally.result()
  },
}

async function settled(gateway: OwnGateway): Promise<Memory> {
  const agent = keepAlive(1)
  try {
    return await memoryOf(agent, gateway)
  } finally {
    agent.destroy()
  }
}
