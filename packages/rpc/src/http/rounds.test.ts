import type { JsonObject } from '@parley/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { modern, post, postModern, type Reply } from '../fixture/http-caller.ts'
import { openTestServer } from '../fixture/open-server.ts'
import { openProbe, until } from '../fixture/probe-service.ts'
import { type Client, connectClient } from '../client/client.ts'
import type { ClientOptions } from '../client/client-options.ts'
import { webSocketTransport } from '../client/link/web-socket-transport.ts'
import type { Service } from '../service.ts'

const CALL = { name: 'hold', arguments: {} }
const LONG_MS = 600_000
const limits = { roundMs: 30, roundAwayMs: LONG_MS }

/** The probe, whose `hold` says that it is held. `asked`: then it needs something of the client. */
function heldProbe(asked = false) {
  const probe = openProbe()
  let calls = 0
  const service: Service = {
    ...probe.service,
    call: async (method, params, call) => {
      if (call.answers === undefined) {
        calls += 1
        call.held('waits for a person')
      }
      if (!asked) return probe.service.call(method, params, call)
      if (call.answers === undefined) await probe.service.call(method, { ...CALL }, call)
      return probe.service.call(method, { name: 'ask', arguments: {} }, call)
    },
  }
  return { ...probe, service, calls: () => calls }
}

const connect = async (url: string, clientLimits: NonNullable<ClientOptions['limits']>): Promise<Client> => {
  const clientInfo = { name: 'test', version: '1' }
  const client = await connectClient(webSocketTransport({ url, token: 'me' }), {
    clientInfo,
    era: 'modern',
    limits: clientLimits,
  })
  onTestFinished(() => client.close())
  return client
}
const resultOf = ({ messages }: Reply): JsonObject => messages.at(-1)?.['result'] as JsonObject
const stateOf = (reply: Reply): string => resultOf(reply)['requestState'] as string

test('a held call of a client that takes no tasks is asked for again and again, and made once', async () => {
  const probe = heldProbe()
  await using open = await openTestServer(probe.service, { limits })
  let reply = await postModern(open.mcp, 1, 'tools/call', CALL)
  for (let id = 2; id < 5; id += 1) {
    expect(resultOf(reply)).toMatchObject({ resultType: 'input_required', requestState: expect.stringMatching(/^held\./) })
    expect(resultOf(reply)).not.toHaveProperty('inputRequests')
    reply = await postModern(open.mcp, id, 'tools/call', { ...CALL, requestState: stateOf(reply) })
  }
  probe.release()
  const last = await postModern(open.mcp, 9, 'tools/call', { ...CALL, requestState: stateOf(reply) })
  expect(resultOf(last)).toMatchObject({ resultType: 'complete', content: [{ text: 'released' }] })
  expect({ calls: probe.calls(), cancelled: probe.cancelled }).toEqual({ calls: 1, cancelled: [] })
})

test('an answer that did not arrive is had by asking with the same state once more', async () => {
  const probe = heldProbe()
  await using open = await openTestServer(probe.service, { limits })
  const requestState = stateOf(await postModern(open.mcp, 1, 'tools/call', CALL))
  probe.release()
  for (const id of [2, 3])
    expect(resultOf(await postModern(open.mcp, id, 'tools/call', { ...CALL, requestState }))).toMatchObject({
      content: [{ text: 'released' }],
    })
  expect(probe.calls()).toBe(1)
})

test('what the call asks in between goes to the client, and its answers back', async () => {
  const probe = heldProbe(true)
  await using open = await openTestServer(probe.service, { limits })
  const able = { elicitation: {} }
  const first = await postModern(open.mcp, 1, 'tools/call', CALL, able)
  probe.release()
  let reply = first
  for (let id = 2; resultOf(reply)['inputRequests'] === undefined; id += 1)
    reply = await postModern(open.mcp, id, 'tools/call', { ...CALL, requestState: stateOf(reply) }, able)
  expect(resultOf(reply)).toMatchObject({ inputRequests: { name: { method: 'elicitation/create' } } })
  const inputResponses = { name: { action: 'accept', content: { name: 'Ada' } } }
  const answered = { ...CALL, requestState: stateOf(reply), inputResponses }
  expect(JSON.stringify(resultOf(await postModern(open.mcp, 99, 'tools/call', answered, able)))).toContain('Ada')
  expect(probe.calls()).toBe(1)
})

test('one that does not ask again in time is cut off, which is no wish to cancel', async () => {
  const probe = heldProbe()
  await using open = await openTestServer(probe.service, { limits: { ...limits, roundAwayMs: 1 } })
  const requestState = stateOf(await postModern(open.mcp, 1, 'tools/call', CALL))
  await until(() => probe.cancelled.length === 1)
  expect(probe.cancelled).toEqual(['Error: its client did not ask again'])
  const late = await postModern(open.mcp, 2, 'tools/call', { ...CALL, requestState })
  expect(late.messages).toMatchObject([{ error: { code: -32_602, message: expect.stringContaining('without it') } }])
})

test('a state is good for its own token and call alone', async () => {
  const probe = heldProbe()
  await using open = await openTestServer(probe.service, { limits })
  const requestState = stateOf(await postModern(open.mcp, 1, 'tools/call', CALL))
  const wrong = [
    { ...CALL, requestState: requestState.slice('held.'.length) },
    { ...CALL, arguments: { more: true }, requestState },
    { ...CALL, requestState: 'held.' },
    { ...CALL, requestState: `held.${'A'.repeat(80)}` },
  ]
  for (const params of wrong)
    expect((await postModern(open.mcp, 2, 'tools/call', params)).messages).toMatchObject([{ error: { code: -32_602 } }])
  const { body, headers } = modern(3, 'tools/call', { ...CALL, requestState })
  expect((await post(open.mcp, body, { ...headers, authorization: 'Bearer other' })).messages).toMatchObject([
    { error: { code: -32_602 } },
  ])
  open.server.cut(({ key }) => key === 'Bearer me', 'revoked')
  expect(probe.cancelled).toEqual(['Error: revoked'])
  expect(probe.calls()).toBe(1)
})

test('who wants progress is kept waiting by it, in one request', async () => {
  const probe = heldProbe()
  await using open = await openTestServer(probe.service, { limits: { ...limits, roundMs: 1, stillHeldMs: 5 } })
  const client = await connect(open.ws, {})
  let steps = 0
  const call = client.request('tools/call', CALL, { onProgress: () => void (steps += 1) })
  await until(() => steps > 3)
  probe.release()
  expect(await call).toMatchObject({ content: [{ text: 'released' }] })
  expect(probe.calls()).toBe(1)
})

test('a client of ours goes on by itself', async () => {
  const probe = heldProbe()
  await using open = await openTestServer(probe.service, { limits: { ...limits, roundMs: 5 } })
  const client = await connect(open.ws, { inputRounds: 1_000, inputPauseMs: 1 })
  const call = client.request('tools/call', CALL)
  await until(() => probe.holding() === 1)
  probe.release()
  expect(await call).toMatchObject({ content: [{ text: 'released' }] })
  expect(probe.calls()).toBe(1)
})
