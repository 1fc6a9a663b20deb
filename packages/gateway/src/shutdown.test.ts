import { READS, tool } from '@parley/protocol'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { callTool, openTestGateway, request } from './fixture/test-gateway.ts'
import { TestSession, TestSocket } from './fixture/wires.ts'
import { serveTool } from './world.ts'

const spec = tool({
  name: 'slow',
  roles: ['user'],
  doc: 'Waits for the test.',
  input: z.strictObject({}),
  output: z.object({ done: z.boolean() }),
  annotations: READS,
})

test('closing tells sockets to come back, ends streams, waits for a call under way and is not ready meanwhile', async () => {
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const slow = serveTool(spec, async () => {
    begun.resolve()
    await gate.promise
    return { done: true }
  })
  await using gw = await openTestGateway({ tools: [slow] })
  const socket = await TestSocket.open(gw.gateway.ws, gw.adminToken)
  const session = await TestSession.open(gw.gateway.url, gw.adminToken)
  const stream = await session.stream(gw.adminToken)
  const call = callTool(gw.gateway.url, gw.adminToken, 'slow')
  await begun.promise
  const closing = gw.gateway.close(5_000)
  expect((await fetch(`${gw.gateway.url}/readyz`)).status).toBe(503)
  expect((await request(gw.gateway.url, gw.adminToken, 'tools/list')).body.error?.code).toBe('draining')
  gate.resolve()
  expect((await call).structuredContent).toEqual({ done: true })
  expect(await socket.closed).toMatchObject({ code: 1012 })
  await stream.text()
  await closing
  await expect(fetch(`${gw.gateway.url}/healthz`)).rejects.toThrow('fetch failed')
  const called = await gw.store.audit.search({ action: 'slow', limit: 10 })
  expect(called).toMatchObject([{ outcome: 'ok' }])
})

test('a call that outlives the grace is cut', async () => {
  const begun = Promise.withResolvers<void>()
  const never = serveTool(spec, () => {
    begun.resolve()
    return new Promise(() => undefined)
  })
  await using gw = await openTestGateway({ tools: [never] })
  const call = callTool(gw.gateway.url, gw.adminToken, 'slow').catch(() => 'cut')
  await begun.promise
  await gw.gateway.close(50)
  expect(await call).toBe('cut')
})

test('a gateway that cannot have its port leaves nothing behind', async () => {
  await using gw = await openTestGateway()
  const port = Number(new URL(gw.gateway.url).port)
  await using other = await openTestGateway()
  const timersBefore = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  await expect(other.restart({ listen: { host: '127.0.0.1', port } })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  const timersAfter = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  expect(timersAfter).toBeLessThanOrEqual(timersBefore)
})
