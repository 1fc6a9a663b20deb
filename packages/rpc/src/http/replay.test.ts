import { expect, test } from 'vitest'
import { openSession, post, rpc, send } from '../testing/http-caller.ts'
import { openTestServer } from '../testing/open-server.ts'
import { openProbe } from '../testing/probe-service.ts'
import { Replay } from './replay.ts'

test('that the standalone stream lost something is never forgotten, however many calls come after', () => {
  const replay = new Replay({ replayBytes: 1000, replayEvents: 3 })
  replay.add(0, 1, 'a change')
  for (let stream = 1; stream <= 20; stream += 1) replay.add(stream, 1, 'a result')
  expect(replay.after(0, 0)).toEqual({ events: [], gap: true })
  expect(replay.after(20, 0)).toMatchObject({ events: [{ text: 'a result' }], gap: false })
})

test('who comes back for a result that is gone is told so', async () => {
  await using open = await openTestServer(openProbe().service, { limits: { replayEvents: 2 } })
  const { headers } = await openSession(open.mcp)
  const streamed = (id: number) =>
    post(open.mcp, rpc(id, 'tools/call', { name: 'flood', arguments: { bytes: 1, times: 1 } }), headers)
  await streamed(1)
  const resume = () => send(open.mcp, 'GET', null, { ...headers, 'last-event-id': '1-0' })
  expect((await resume()).messages).toMatchObject([{ method: 'notifications/message' }, { id: 1, result: {} }])
  await streamed(2)
  expect((await resume()).status).toBe(400)
})
