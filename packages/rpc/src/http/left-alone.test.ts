import type { JsonObject } from '@parley/protocol'
import { CallCancelled } from '@parley/protocol'
import { expect, test } from 'vitest'
import { type EventReader, readEvents } from '../fixture/event-reader.ts'
import { openSession, rpc } from '../fixture/http-caller.ts'
import { openTestServer } from '../fixture/open-server.ts'
import { openProbe, until } from '../fixture/probe-service.ts'
import type { Call, Service } from '../service.ts'

const HOLD = { name: 'hold', arguments: { x: 1 } }

/** The probe, whose `hold` says that it is held, and all calls of it. */
function heldProbe() {
  const probe = openProbe()
  const calls: Call[] = []
  const service: Service = {
    ...probe.service,
    call: (method, params, call) => {
      if (params['name'] === 'hold') {
        calls.push(call)
        call.held('waits for a person')
      }
      return probe.service.call(method, params, call)
    },
  }
  const cutOff = () => calls.map(({ cancellation: { aborted, reason } }) => aborted && !(reason instanceof CallCancelled))
  return { ...probe, service, calls, cutOff }
}

async function hold(mcp: string, params: JsonObject = HOLD): Promise<{ stream: EventReader; headers: Record<string, string> }> {
  const { headers } = await openSession(mcp)
  const stream = await readEvents(mcp, headers, rpc(1, 'tools/call', params))
  // With the first event it knows where to go on.
  await until(() => stream.events.length > 0)
  return { stream, headers }
}
const seenLast = ({ events }: EventReader): string => events.findLast(({ id }) => id !== undefined)?.id ?? ''

test('the same call of a client that was killed takes the place of the one that nobody reads', async () => {
  const probe = heldProbe()
  await using open = await openTestServer(probe.service)
  const killed = await hold(open.mcp)
  const other = await hold(open.mcp, { ...HOLD, arguments: { x: 2 } })
  await until(() => probe.calls.length === 2)
  killed.stream.stop()
  other.stream.stop()
  // What its streams say is heard of only by looking: one that is still read stays, so it is made again until the first has gone.
  await expect
    .poll(async () => {
      const again = await hold(open.mcp, { ...HOLD, _meta: { progressToken: 'p' } })
      again.stream.stop()
      return probe.cutOff()[0]
    })
    .toBe(true)
  expect(probe.cutOff()[1]).toBe(false)
  // Whoever comes back for the first one is told what to do.
  const back = await readEvents(open.mcp, { ...killed.headers, 'last-event-id': seenLast(killed.stream) })
  await until(() => back.ended())
  expect(back.events.at(-1)?.message).toMatchObject({
    id: 1,
    error: { message: expect.stringContaining('make the same call again') },
  })
})

test('one that somebody reads stays, beside the same call of another session', async () => {
  const probe = heldProbe()
  await using open = await openTestServer(probe.service)
  const [first, second] = [await hold(open.mcp), await hold(open.mcp)]
  await until(() => probe.calls.length === 2)
  expect(probe.cutOff()).toEqual([false, false])
  probe.release()
  probe.release()
  await until(() => first.stream.ended() && second.stream.ended())
  for (const { stream } of [first, second]) expect(stream.events.at(-1)?.message).toMatchObject({ result: {} })
})

test('a client that does not come back was cut off; one that does gets its answer, and what goes on is carried to its end', async () => {
  const probe = heldProbe()
  await using open = await openTestServer(probe.service, { limits: { stillHeldMs: 20 } })
  const gone = await hold(open.mcp)
  await until(() => probe.calls.length === 1)
  gone.stream.stop()
  await until(() => probe.cutOff()[0] === true)

  const decided = await hold(open.mcp)
  await until(() => probe.calls.length === 2)
  probe.calls[1]?.goesOn()
  decided.stream.stop()
  const beside = await hold(open.mcp, { ...HOLD, arguments: { x: 2 } })
  await until(() => probe.calls.length === 3)
  beside.stream.stop()
  // Once the one beside it was given up, this one would have been, too.
  await until(() => probe.cutOff()[2] === true)
  expect(probe.cutOff()[1]).toBe(false)
  for (let count = 0; count < 3; count++) probe.release()
  const back = await readEvents(open.mcp, { ...decided.headers, 'last-event-id': seenLast(decided.stream) })
  await until(() => back.ended())
  expect(back.events.at(-1)?.message).toMatchObject({ id: 1, result: { content: [{ text: 'released' }] } })
})
