import { expect, test } from 'vitest'
import { openSession, post, rpc, send } from '../fixture/http-caller.ts'
import { openTestServer } from '../fixture/open-server.ts'
import { openProbe } from '../fixture/probe-service.ts'
import { Replay } from './replay.ts'
import { openReplayRoom } from '../limit/unread-room.ts'

const ROOM = { replayBytesInAll: 4_000, replayBytesPerCaller: 1_500 }

function openReplay(limits: { replayBytes: number; replayEvents: number }, room = openReplayRoom(ROOM), key = 'me'): Replay {
  return new Replay(limits, room.ofCaller({ key }))
}

test('an event that is larger than what is kept is not kept, and known to be gone', () => {
  const replay = openReplay({ replayBytes: 1_000, replayEvents: 10 })
  replay.add(0, 1, 'a change')
  replay.add(1, 1, 'x'.repeat(1_001))
  expect(replay.after(1, 0)).toEqual({ events: [], gap: true })
  expect(replay.after(0, 0)).toMatchObject({ events: [{ text: 'a change' }], gap: false })
})

test('what all sessions of one person keep is bounded, and so is what all do; one that ends gives its part back', () => {
  const room = openReplayRoom(ROOM)
  const limits = { replayBytes: 1_000, replayEvents: 10 }
  const [one, other] = [openReplay(limits, room), openReplay(limits, room)]
  one.add(1, 1, 'x'.repeat(1_000))
  other.add(1, 1, 'x'.repeat(400))
  other.add(2, 1, 'x'.repeat(400))
  expect(room.heldBytes).toBe(1_400)
  expect([other.after(1, 0).gap, other.after(2, 0).gap]).toEqual([true, false])
  const others = ['ada', 'bob', 'eve'].map((key) => openReplay(limits, room, key))
  for (const replay of others) replay.add(1, 1, 'x'.repeat(1_000))
  expect(room.heldBytes).toBe(3_400)
  one.release()
  expect(room.heldBytes).toBe(2_400)
})

test('that the standalone stream lost something is never forgotten, however many calls come after', () => {
  const replay = openReplay({ replayBytes: 1000, replayEvents: 3 })
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
  for (const id of [2, 3, 4, 5, 6]) {
    await streamed(id)
    expect((await resume()).status).toBe(400)
  }
})
