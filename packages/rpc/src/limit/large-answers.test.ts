import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { Service } from '../service.ts'
import { openSession, post, postModern, rpc } from '../fixture/http-caller.ts'
import { openTestServer } from '../fixture/open-server.ts'
import { openProbe, until } from '../fixture/probe-service.ts'
import { readBatch } from '../core/batch.ts'
import { LegacyLink } from '../core/legacy-link.ts'
import { testWire } from '../fixture/served-wire.ts'

/** `tools/call` answers a text that is as long as its name says, and counts. */
function openTalker(): { readonly service: Service; readonly calls: () => number } {
  let calls = 0
  const service: Service = {
    ...openProbe().service,
    call: (_method, params) => {
      calls += 1
      return { content: [{ type: 'text', text: 'x'.repeat(Number(params['name'])) }] }
    },
  }
  return { service, calls: () => calls }
}

const asks = (id: number, bytes: number) => rpc(id, 'tools/call', { name: String(bytes) })

test('the answers to a batch have a bound; what is past it is told to ask by itself, and can', async () => {
  const talker = openTalker()
  await using open = await openTestServer(talker.service, { limits: { answerBytes: 100_000 } })
  const { headers } = await openSession(open.mcp, '2025-03-26')
  const batch = Array.from({ length: 64 }, (_, at) => asks(at + 1, at === 63 ? 10 : 40_000))
  const reply = await post(open.mcp, batch, headers)
  const errors = reply.messages.filter(({ error }) => error !== undefined)
  expect(reply.messages).toHaveLength(64)
  expect(errors).toHaveLength(61)
  expect(errors[0]).toEqual({
    jsonrpc: '2.0',
    id: 3,
    error: { code: -32970, message: 'the answers to a batch have at most 100000 bytes: send this request by itself' },
  })
  // What is small still fits.
  expect(reply.messages.at(-1)).toMatchObject({ id: 64, result: {} })
  expect(reply.text.length).toBeLessThan(120_000)
  expect((await post(open.mcp, asks(3, 40_000), headers)).messages).toMatchObject([{ id: 3, result: {} }])
})

test('the same on a socket', async () => {
  const talker = openTalker()
  await using open = await openTestServer(talker.service, { limits: { answerBytes: 100_000 } })
  const socket = new WebSocket(open.ws, { headers: { authorization: 'Bearer me' } })
  const told: string[] = []
  socket.on('message', (data: Buffer) => void told.push(data.toString()))
  await new Promise((resolve) => socket.once('open', resolve))
  const clientInfo = { name: 'test', version: '1' }
  socket.send(JSON.stringify(rpc(0, 'initialize', { protocolVersion: '2025-03-26', capabilities: {}, clientInfo })))
  socket.send(JSON.stringify(Array.from({ length: 64 }, (_, at) => asks(at + 1, 40_000))))
  await until(() => told.length === 2)
  expect(told[1]?.length).toBeLessThan(120_000)
  expect(told[1]?.match(/send this request by itself/g)).toHaveLength(62)
  socket.terminate()
})

test('an answer that no client takes is an error that says so', async () => {
  await using open = await openTestServer(openTalker().service, { limits: { answerBytes: 100_000 } })
  const { headers } = await openSession(open.mcp)
  const error = { code: -32603, message: 'the answer has more than 100000 bytes: ask for less at once' }
  expect((await post(open.mcp, asks(1, 100_000), headers)).messages).toMatchObject([{ id: 1, error }])
  expect((await postModern(open.mcp, 2, 'tools/call', { name: '100000' })).messages).toMatchObject([{ id: 2, error }])
  expect((await postModern(open.mcp, 3, 'tools/call', { name: '90000' })).messages).toMatchObject([{ id: 3, result: {} }])
})

test('a batch takes as many places of its turn as it has messages', () => {
  const served = testWire(openTalker().service, { turnMessages: 4 })
  const link = new LegacyLink({
    id: 'a',
    served,
    service: openTalker().service,
    caller: { key: 'me' },
    revision: '2025-03-26',
    client: { info: undefined, capabilities: {} },
    standalone: { send: () => true, drained: () => Promise.resolve() },
    onEnd: () => undefined,
  })
  expect(served.turns.take('me', 100)).toBe(true)
  readBatch({ values: [asks(1, 1), asks(2, 1), asks(3, 1)], bytes: 100 }, link, served)
  expect([served.turns.take('me', 10), served.turns.take('me', 10), served.turns.take('other', 10)]).toEqual([true, false, true])
})
