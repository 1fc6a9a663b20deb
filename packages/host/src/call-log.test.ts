import { setImmediate as turn } from 'node:timers/promises'
import { AgentId, type ToolInput } from '@parley/protocol'
import { expect, test } from 'vitest'
import { CallLog } from './call-log.ts'
import type { GatewayCall } from './gateway-calls.ts'

/** The end of a gateway: keeps what is appended, when it is let to. */
function openLog() {
  const batches: string[][] = []
  const failures: string[] = []
  let isOpen = Promise.resolve()
  let offset = 0
  const append = async ({ offset: at, lines }: ToolInput<'host.append_calls'>) => {
    await isOpen
    if (at !== offset) return { ok: false, code: 'offset_mismatch', current_offset: offset }
    batches.push(lines)
    offset += Buffer.byteLength(`${lines.join('\n')}\n`)
    return { ok: true, next_offset: offset }
  }
  const call = ((_name: string, input: ToolInput<'host.append_calls'>) => append(input)) as unknown as GatewayCall
  const claim = { agent_id: AgentId.parse(`agt_${'0'.repeat(26)}`), claim_id: '1' }
  const signal = new AbortController().signal
  const log = new CallLog({ claim, call, signal, offset: 0, failed: (why) => failures.push(why) })
  const hold = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    isOpen = promise
    return resolve
  }
  return { log, batches, failures, hold, moveTo: (at: number) => (offset = at) }
}
const idsIn = (batches: string[][]) => batches.map((lines) => lines.map((line) => JSON.parse(line)))

test('calls of one turn are written together, and those that come meanwhile in the next batch', async () => {
  const { log, batches, hold } = openLog()
  const go = hold()
  const first = [log.write({ id: 1 }), log.write({ id: 2 })]
  await turn()
  await turn()
  const later = [log.write({ id: 3 }), log.write({ id: 4 })]
  go()
  await Promise.all([...first, ...later])
  expect(idsIn(batches)).toEqual([
    [{ id: 1 }, { id: 2 }],
    [{ id: 3 }, { id: 4 }],
  ])
})

test('how a call ended goes with the next call, and says itself that it was sent', async () => {
  const { log, batches } = openLog()
  await log.write({ id: 1, step: 'decided' })
  log.noteUnlessEnded(1, { id: 1, step: 'dispatched' })
  log.noteEnd(1, { id: 1, step: 'returned' })
  await log.write({ id: 2, step: 'decided' })
  expect(idsIn(batches)).toEqual([
    [{ id: 1, step: 'decided' }],
    [
      { id: 1, step: 'returned' },
      { id: 2, step: 'decided' },
    ],
  ])
})

test('without another call it is written after a while, and a call that takes long is said to be under way', async () => {
  const { log, batches } = openLog()
  log.noteUnlessEnded(1, { id: 1, step: 'dispatched' })
  log.noteEnd(2, { id: 2, step: 'failed' })
  await expect.poll(() => idsIn(batches)).toEqual([[{ id: 2, step: 'failed' }], [{ id: 1, step: 'dispatched' }]])
})

test('what is handed in when the last batch was just written is written too', async () => {
  const { log, batches } = openLog()
  const rest: Promise<void>[] = []
  const first = log.write({ id: 0 })
  // In each of the turns of the queue in which the end of the batch is told.
  void first.then(async () => {
    for (let id = 1; id <= 10; id += 1) {
      rest.push(log.write({ id }))
      await Promise.resolve()
    }
  })
  await first
  await expect.poll(() => batches.flat().length).toBe(11)
  await Promise.all(rest)
})

test('idle waits for all that was handed in', async () => {
  const { log, batches } = openLog()
  log.noteUnlessEnded(1, { id: 1, step: 'dispatched' })
  log.noteEnd(2, { id: 2, step: 'returned' })
  await log.idle()
  expect(batches.flat()).toHaveLength(2)
})

test('a log that somebody else has written on fails every call from then on', async () => {
  const { log, failures, moveTo } = openLog()
  await log.write({ id: 1 })
  moveTo(1_000)
  await expect(log.write({ id: 2 })).rejects.toThrow('its log ends at 1000')
  await expect(log.write({ id: 3 })).rejects.toThrow('cannot be written down')
  expect(failures).toEqual([expect.stringContaining('its log ends at 1000')])
})

test('a call that is too long to be written down whole is still known by its name and by what was decided', async () => {
  const { log, batches } = openLog()
  const call = { at: 'then', id: 1, step: 'decided', by: 't', kind: 'tool', mount: 'm' }
  const decision = { kind: 'allow', arguments: { text: 'y'.repeat(20_000) } }
  await log.write({ ...call, name: 'transfer', arguments: { text: 'x'.repeat(20_000) }, decision, ms: 1 })
  await log.write({ ...call, name: 'z'.repeat(20_000), decision })
  await log.write({ id: 2, step: 'failed', error: 'x'.repeat(20_000) })
  const cut = { cut: true, chars: expect.any(Number), begins: expect.any(String) }
  expect(idsIn(batches).flat()).toEqual([
    { ...call, name: 'transfer', decision: { kind: 'allow' }, ...cut },
    { ...call, name: expect.stringMatching(/^sha256:[0-9a-f]{64}$/), decision: { kind: 'allow' }, ...cut },
    cut,
  ])
})
