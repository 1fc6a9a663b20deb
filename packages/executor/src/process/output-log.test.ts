import { expect, test } from 'vitest'
import { OutputLog } from './output-log.ts'
import type { ProcessEvent } from './exec-process.ts'

const bytes = (size: number, fill = 'x'): Buffer => Buffer.alloc(size, fill)
const kinds = (events: readonly ProcessEvent[]): string[] =>
  events.map((event) => ('seq' in event ? `${event.kind} ${event.seq}` : event.kind))

function logOf(retainBytes: number, onFull: 'drop' | 'hold') {
  const held: boolean[] = []
  const log = new OutputLog({ retainBytes, onFull, hold: (isHeld) => held.push(isHeld) })
  const heard: ProcessEvent[] = []
  return { log, held, heard, hear: (event: ProcessEvent) => void heard.push(event) }
}

test('a subscriber is handed what is retained, then what comes, each event once', () => {
  const { log, heard, hear } = logOf(100, 'drop')
  log.output('stdout', bytes(1))
  log.subscribe(hear)
  log.output('stderr', bytes(1))
  log.exited(0)
  log.closed()
  log.output('stdout', bytes(1))
  expect(kinds(heard)).toEqual(['output 1', 'output 2', 'exited 3', 'closed 4'])
})

test('beyond its bound the oldest goes; who had not read it is told how many, and a read that it begins later', async () => {
  const { log, held, heard, hear } = logOf(10, 'drop')
  const subscription = log.subscribe(hear)
  subscription.pause()
  for (let at = 0; at < 5; at += 1) log.output('stdout', bytes(4))
  subscription.resume()
  expect(heard[0]).toEqual({ kind: 'lagged', skipped: 3 })
  expect(kinds(heard)).toEqual(['lagged', 'output 4', 'output 5'])
  expect(held).toEqual([])
  expect(await log.read({ afterSeq: 1 })).toMatchObject({ truncated: true, firstSeq: 4, nextSeq: 6 })
  expect(await log.read({ afterSeq: 3 })).toMatchObject({ truncated: false, firstSeq: 4 })
})

test('held, nothing goes before it was taken: by being handed over, or by being said so', () => {
  const { log, held, heard, hear } = logOf(10, 'hold')
  log.output('stdout', bytes(8))
  log.output('stdout', bytes(8))
  expect(held).toEqual([true])
  const said = log.subscribe(() => undefined, { takes: 'said' })
  const handed = log.subscribe(hear)
  expect(held).toEqual([true])
  said.taken(1)
  expect(held).toEqual([true, false])
  log.output('stdout', bytes(8))
  said.taken(99)
  expect(held).toEqual([true, false, true, false])
  handed.close()
  said.close()
  log.output('stdout', bytes(20))
  expect(held.at(-1)).toBe(true)
  expect(kinds(heard)).toEqual(['output 1', 'output 2', 'output 3'])
})

test('numbers that were left out are a lag, and known ones are passed over', () => {
  const { log, heard, hear } = logOf(100, 'drop')
  log.subscribe(hear)
  log.append({ kind: 'output', seq: 1, stream: 'stdout', bytes: bytes(1) })
  log.append({ kind: 'output', seq: 4, stream: 'stdout', bytes: bytes(1) })
  log.append({ kind: 'output', seq: 4, stream: 'stdout', bytes: bytes(1) })
  log.append({ kind: 'output', seq: 2, stream: 'stdout', bytes: bytes(1) })
  expect(kinds(heard)).toEqual(['output 1', 'lagged', 'output 4'])
  expect(heard[1]).toEqual({ kind: 'lagged', skipped: 2 })
})

test('a read waits for the next event, and not longer than it is told', async () => {
  const { log } = logOf(100, 'drop')
  const waiting = log.read({ waitMs: 60_000 })
  log.exited(5)
  expect(await waiting).toMatchObject({ chunks: [], nextSeq: 2, exited: true, exitCode: 5, closed: false })
  expect(await log.read({ afterSeq: 1, waitMs: 1 })).toMatchObject({ nextSeq: 2, closed: false })
  log.closed()
  expect(await log.read({ afterSeq: 2, waitMs: 60_000 })).toMatchObject({ closed: true, nextSeq: 3 })
})

test('that it closed is said only when nothing is left to read', async () => {
  const { log } = logOf(100, 'drop')
  log.output('stdout', bytes(4))
  log.output('stdout', bytes(4))
  log.exited(0)
  log.closed()
  expect(await log.read({ maxBytes: 5 })).toMatchObject({ nextSeq: 2, exited: true, closed: false })
  expect(await log.read({ afterSeq: 1, maxBytes: 5 })).toMatchObject({ nextSeq: 5, closed: true })
})

test('a log that fails tells it last, and a later subscriber too', async () => {
  const { log, heard, hear } = logOf(100, 'drop')
  log.subscribe(hear)
  log.output('stdout', bytes(1))
  log.fail('it is gone')
  log.closed()
  log.subscribe(hear)
  await log.ended
  expect(kinds(heard)).toEqual(['output 1', 'failed', 'output 1', 'failed'])
  expect(await log.read({})).toMatchObject({ failure: 'it is gone', closed: false })
})

test('a listener that makes more happen gets it after its own call', () => {
  const { log } = logOf(100, 'drop')
  const seen: string[] = []
  log.subscribe((event) => {
    seen.push(`begin ${event.kind}`)
    if (event.kind === 'output') log.exited(0)
    seen.push(`end ${event.kind}`)
  })
  log.output('stdout', bytes(1))
  expect(seen).toEqual(['begin output', 'end output', 'begin exited', 'end exited'])
})

test('where output is dropped, whoever is waited for loses none of it while it is there, and the process waits', () => {
  const { log, held, heard, hear } = logOf(10, 'drop')
  const subscription = log.subscribe(hear, { isWaitedFor: true })
  subscription.pause()
  for (let at = 0; at < 4; at += 1) log.output('stdout', bytes(4))
  expect(held).toEqual([true])
  subscription.resume()
  expect(held).toEqual([true, false])
  expect(kinds(heard)).toEqual(['output 1', 'output 2', 'output 3', 'output 4'])
  subscription.pause()
  for (let at = 0; at < 4; at += 1) log.output('stdout', bytes(4))
  subscription.close()
  expect(held).toEqual([true, false, true, false])
  expect(log.firstSeq).toBeGreaterThan(5)
})

test('a read whose asker is gone waits no longer', async () => {
  const { log } = logOf(100, 'drop')
  const asker = new AbortController()
  const waiting = [log.read({ waitMs: 60_000, signal: asker.signal }), log.read({ waitMs: 60_000, signal: asker.signal })]
  asker.abort()
  for (const read of [...waiting, log.read({ waitMs: 60_000, signal: asker.signal })])
    expect(await read).toMatchObject({ chunks: [], nextSeq: 1, closed: false })
})
