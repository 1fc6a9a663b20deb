import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type LogEntry, type LogPage, type Store, openStore } from '../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../testing/engines.ts'

const bytes = (value: string) => new TextEncoder().encode(value)
const string = (value: Uint8Array) => new TextDecoder().decode(value)
const strings = (page: LogPage) => page.entries.map((entry) => string(entry.bytes))
const ALL = { from: { seq: 0 }, maxBytes: 1_000_000 } as const

describe.each(ENGINES)('logs on %s', (engine) => {
  let host: TestEngine
  let store: Store
  let now = 1_000
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    now = 1_000
    store = await openStore({ url: await host.migratedUrl(), now: () => now })
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  test('an append creates the log and says where it ends', async () => {
    expect(await store.logs.append('a', [bytes('one'), bytes('three')])).toEqual({ kind: 'appended', seq: 2, offset: 8 })
    expect(await store.logs.append('a', [bytes('!')])).toEqual({ kind: 'appended', seq: 3, offset: 9 })
    expect(await store.logs.read('a', ALL)).toEqual({
      entries: [
        { seq: 0, offset: 3, at: 1_000, bytes: bytes('one') },
        { seq: 1, offset: 8, at: 1_000, bytes: bytes('three') },
        { seq: 2, offset: 9, at: 1_000, bytes: bytes('!') },
      ],
      next: { seq: 3, offset: 9 },
      closed: false,
    })
    expect(await store.logs.end('a')).toEqual({ seq: 3, offset: 9, closed: false })
  })

  test('a resend at an offset is recognised, a gap and a difference are refused with the current end', async () => {
    await store.logs.append('a', [bytes('hello'), bytes(' world')])
    const end = { seq: 2, offset: 11 }
    expect(await store.logs.append('a', [bytes('lo wor')], { at: { offset: 3 } })).toEqual({ kind: 'repeated', ...end })
    expect(await store.logs.append('a', [bytes('hello world')], { at: { offset: 0 } })).toEqual({ kind: 'repeated', ...end })
    expect(await store.logs.append('a', [bytes('x')], { at: { offset: 12 } })).toEqual({ kind: 'mismatch', ...end })
    expect(await store.logs.append('a', [bytes('jello')], { at: { offset: 0 } })).toEqual({ kind: 'mismatch', ...end })
    expect(await store.logs.append('a', [bytes('world?')], { at: { offset: 6 } })).toEqual({
      kind: 'appended',
      seq: 3,
      offset: 12,
    })
    expect(strings(await store.logs.read('a', ALL))).toEqual(['hello', ' world', '?'])
    expect(await store.logs.append('a', [bytes('!')], { at: { offset: 12 } })).toEqual({ kind: 'appended', seq: 4, offset: 13 })
  })

  test('a resend at a sequence number compares entry by entry', async () => {
    await store.logs.append('a', [bytes('one'), bytes('two')], { at: { seq: 0 } })
    expect(await store.logs.append('a', [bytes('one'), bytes('two')], { at: { seq: 0 } })).toEqual({
      kind: 'repeated',
      seq: 2,
      offset: 6,
    })
    expect(await store.logs.append('a', [bytes('onetwo')], { at: { seq: 0 } })).toEqual({ kind: 'mismatch', seq: 2, offset: 6 })
    expect(await store.logs.append('a', [bytes('two'), bytes('three')], { at: { seq: 1 } })).toEqual({
      kind: 'appended',
      seq: 3,
      offset: 11,
    })
    expect(await store.logs.append('a', [bytes('five')], { at: { seq: 4 } })).toEqual({ kind: 'mismatch', seq: 3, offset: 11 })
    expect(strings(await store.logs.read('a', ALL))).toEqual(['one', 'two', 'three'])
  })

  test('the caps of a log refuse all of an append, and leave it readable', async () => {
    await store.logs.create('small', { maxBytes: 10, maxEntries: 3 })
    await expect(store.logs.create('small')).rejects.toMatchObject({ code: 'already_exists' })
    await store.logs.append('small', [bytes('12345')])
    expect(await store.logs.append('small', [bytes('123'), bytes('456')])).toEqual({ kind: 'full', seq: 1, offset: 5 })
    expect(await store.logs.append('small', [bytes('1'), bytes('2'), bytes('3')])).toEqual({ kind: 'full', seq: 1, offset: 5 })
    expect(await store.logs.append('small', [bytes('12'), bytes('345')])).toEqual({ kind: 'appended', seq: 3, offset: 10 })
    expect(strings(await store.logs.read('small', ALL))).toEqual(['12345', '12', '345'])
  })

  test('a closed log takes nothing more but knows a resend', async () => {
    await store.logs.append('a', [bytes('last')])
    await store.logs.close('a')
    expect(await store.logs.append('a', [bytes('more')])).toEqual({ kind: 'closed', seq: 1, offset: 4 })
    expect(await store.logs.append('a', [bytes('last')], { at: { offset: 0 } })).toEqual({ kind: 'repeated', seq: 1, offset: 4 })
    expect(await store.logs.end('a')).toEqual({ seq: 1, offset: 4, closed: true })
    await store.logs.close('never written')
    expect(await store.logs.read('never written', { ...ALL, waitMs: 30_000 })).toMatchObject({ entries: [], closed: true })
  })

  test('a fenced append counts only while the lease is held', async () => {
    await store.leases.offer('jobs', 'one')
    const lease = await store.leases.claim('jobs', 'judge', { ttlMs: 100 })
    if (lease === undefined) throw new Error('nothing to claim')
    expect(await store.logs.append('a', [bytes('x'), bytes('y')], { fence: lease })).toMatchObject({ kind: 'appended', seq: 2 })
    await expect(store.logs.append('a', [bytes('z')], { fence: { ...lease, fence: lease.fence + 1 } })).rejects.toMatchObject({
      code: 'lease_lost',
    })
    now += 100
    await expect(store.logs.append('a', [bytes('z')], { fence: lease })).rejects.toMatchObject({ code: 'lease_lost' })
    await expect(store.logs.append('new', [bytes('x'), bytes('y')], { fence: lease })).rejects.toMatchObject({
      code: 'lease_lost',
    })
    // Not even a resend of what is there: the holder must learn that it lost.
    await expect(store.logs.append('a', [bytes('x')], { at: { offset: 0 }, fence: lease })).rejects.toMatchObject({
      code: 'lease_lost',
    })
    expect(await store.logs.end('a')).toMatchObject({ seq: 2 })
    expect(await store.logs.end('new')).toMatchObject({ seq: 0 })
  })

  test('reads start anywhere, keep the byte limit and give at least one entry', async () => {
    const words = Array.from({ length: 50 }, (_, index) => `word-${index};`)
    await store.logs.append('a', words.map(bytes))
    const text = words.join('')
    for (const offset of [0, 1, 6, 7, 8, 200, text.length - 1]) {
      const page = await store.logs.read('a', { from: { offset }, maxBytes: 1_000_000 })
      expect(strings(page).join('')).toBe(text.slice(offset))
      expect(page.next).toEqual({ seq: 50, offset: text.length })
    }
    const first = await store.logs.read('a', { from: { seq: 10 }, maxBytes: 20 })
    expect(strings(first)).toEqual(['word-10;', 'word-11;'])
    expect(strings(await store.logs.read('a', { from: first.next, maxBytes: 1 }))).toEqual(['word-12;'])
    expect(await store.logs.read('a', { from: { offset: text.length + 5 }, maxBytes: 10 })).toMatchObject({
      entries: [],
      next: { offset: text.length },
    })
    const pages: string[] = []
    for (let offset = 0; offset < text.length;) {
      const page = await store.logs.read('a', { from: { offset }, maxBytes: 13 })
      pages.push(...strings(page))
      offset = page.next.offset
    }
    expect(pages).toEqual(words)
  })

  test('a read waits for the first byte, and gives up at its time or when it is told to', async () => {
    const waiting = store.logs.read('a', { ...ALL, waitMs: 30_000 })
    await store.logs.append('b', [bytes('other')])
    await store.logs.append('a', [bytes('now')])
    expect(strings(await waiting)).toEqual(['now'])
    expect(await store.logs.read('a', { from: { seq: 1 }, maxBytes: 10, waitMs: 5 })).toMatchObject({
      entries: [],
      next: { seq: 1, offset: 3 },
    })
    const abort = new AbortController()
    const aborted = store.logs.read('a', { from: { seq: 1 }, maxBytes: 10, waitMs: 30_000, signal: abort.signal })
    abort.abort()
    expect(await aborted).toMatchObject({ entries: [] })
    const closing = store.logs.read('a', { from: { seq: 1 }, maxBytes: 10, waitMs: 30_000 })
    await store.logs.close('a')
    expect(await closing).toMatchObject({ entries: [], closed: true })
  })

  test('many writers of one log: every entry is there once and the offsets are without a gap', async () => {
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let index = 0; index < 25; index += 1) await store.logs.append('a', [bytes(`${writer}:${index}`), bytes(';')])
    })
    await Promise.all(writers)
    const { entries } = await store.logs.read('a', ALL)
    expect(entries).toHaveLength(400)
    expect(entries.map((entry) => entry.seq)).toEqual(entries.map((_, index) => index))
    let offset = 0
    for (const entry of entries) {
      offset += entry.bytes.length
      expect(entry.offset).toBe(offset)
    }
    expect(new Set(entries.map((entry) => string(entry.bytes)).filter((word) => word !== ';')).size).toBe(200)
  })

  test('two writers that race for one position: one appends, the other is told', async () => {
    await store.logs.create('a')
    for (let round = 0; round < 20; round += 1) {
      const outcomes = await Promise.all(['x', 'y'].map((word) => store.logs.append('a', [bytes(word)], { at: { seq: round } })))
      expect(outcomes.map((outcome) => outcome.kind).toSorted()).toEqual(['appended', 'mismatch'])
    }
  })

  test('a follower gets what was there and what comes, and ends with the log', async () => {
    await store.logs.append('a', [bytes('old'), bytes('older')])
    const got = collect(store.logs.follow('a', { offset: 1 }))
    await store.logs.append('a', [bytes('new')])
    await store.logs.append('a', [bytes('newer')])
    await store.logs.close('a')
    expect((await got).map(({ seq, offset, bytes: found }) => [seq, offset, string(found)])).toEqual([
      [0, 3, 'ld'],
      [1, 8, 'older'],
      [2, 11, 'new'],
      [3, 16, 'newer'],
    ])
  })

  test('a follower may come before the log, and ends when the log is deleted', async () => {
    const got: string[] = []
    const follower = (async () => {
      for await (const entry of store.logs.follow('a', { seq: 0 })) {
        got.push(string(entry.bytes))
        if (got.length === 2) await store.logs.delete('a')
      }
    })()
    await store.logs.append('a', [bytes('one')])
    await store.logs.append('a', [bytes('two')])
    await follower
    expect(got).toEqual(['one', 'two'])
    expect(await store.logs.end('a')).toEqual({ seq: 0, offset: 0, closed: false })
  })

  test('an abort ends a follower, also one that waits', async () => {
    const abort = new AbortController()
    const got = collect(store.logs.follow('a', { seq: 0 }, { signal: abort.signal }))
    await store.logs.append('a', [bytes('one')])
    abort.abort()
    expect((await got).length).toBeLessThanOrEqual(1)
  })

  test('slow followers of a fast writer neither miss nor repeat, whatever their buffer', async () => {
    const count = engine === 'sqlite' ? 3_000 : 600
    const followers = [1, 700, 5_000, 1_000_000].map(async (bufferBytes, index) => {
      const seen: string[] = []
      for await (const entry of store.logs.follow('a', { seq: 0 }, { bufferBytes })) {
        seen.push(string(entry.bytes))
        if (seen.length % (index + 2) === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      return seen
    })
    const expected: string[] = []
    for (let index = 0; index < count; index += 1) {
      const batch = index % 7 === 0 ? [`${index}/a`, `${index}/b`] : [`${index}`]
      expected.push(...batch)
      await store.logs.append('a', batch.map(bytes))
      if (index % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    }
    await store.logs.close('a')
    for (const seen of await Promise.all(followers)) expect(seen).toEqual(expected)
  })

  test('closing the store ends those who wait, without an error', async () => {
    const followed = collect(store.logs.follow('a', { seq: 0 }))
    const reading = store.logs.read('b', { ...ALL, waitMs: 30_000 })
    await store.logs.append('a', [bytes('one')])
    await new Promise((resolve) => setImmediate(resolve))
    await store.close()
    expect((await followed).length).toBeLessThanOrEqual(1)
    expect(await reading).toMatchObject({ entries: [] })
  })

  test('bad arguments name their field', async () => {
    await expect(store.logs.append('', [bytes('x')])).rejects.toMatchObject({ code: 'invalid_argument', field: 'name' })
    await expect(store.logs.append('a', [new Uint8Array()])).rejects.toMatchObject({ code: 'invalid_argument', field: 'entries' })
    await expect(store.logs.append('a', [bytes('x')], { at: { offset: -1 } })).rejects.toMatchObject({ field: 'at.offset' })
    await expect(store.logs.read('a', { ...ALL, waitMs: 30_001 })).rejects.toMatchObject({ field: 'waitMs' })
    await expect(store.logs.append('a', [new Uint8Array(16 * 1024 * 1024 + 1)])).rejects.toMatchObject({ code: 'too_large' })
  })
})

async function collect(entries: AsyncIterable<LogEntry>): Promise<readonly LogEntry[]> {
  const all: LogEntry[] = []
  for await (const entry of entries) all.push(entry)
  return all
}
