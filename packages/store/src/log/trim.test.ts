import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type LogChain, type LogPage, LogTrimmed, type Store, openStore } from '../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../testing/engines.ts'

const bytes = (value: string) => new TextEncoder().encode(value)
const string = (value: Uint8Array) => new TextDecoder().decode(value)
const words = (page: LogPage) => page.entries.map((entry) => string(entry.bytes)).join('')
const hash = (...parts: readonly Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest()

/** Each entry is chained by the hash of the one before and itself; the head is the last one, and how often it was made anew. */
const CHAIN: LogChain = {
  extend({ head }, entries) {
    let last: Uint8Array = head ?? new Uint8Array()
    const chains = entries.map((entry) => (last = hash(last, entry)))
    return { head: last, chains }
  },
  trim: ({ head }, { chain }) => (head === null || chain === null ? head : head),
}

describe.each(ENGINES)('logs that roll on %s', (engine) => {
  let host: TestEngine
  let url: string
  let store: Store
  let now = 1_000
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    now = 1_000
    url = await host.migratedUrl()
    store = await openStore({ url, now: () => now })
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  const append = (text: string, offset: number) =>
    store.logs.append('a', [bytes(text)], { at: { offset }, chain: CHAIN, rolls: { maxBytes: 1_000_000 } })

  test('a full log goes on, keeps the newest, and offsets that were given out stay true', async () => {
    await store.logs.create('a', { maxBytes: 64, maxEntries: 1_000 })
    let all = ''
    for (let index = 0; index < 100; index += 1) {
      const outcome = await append(`word-${index};`, all.length)
      all += `word-${index};`
      expect(outcome).toEqual({ kind: 'appended', seq: index + 1, offset: all.length })
    }
    const { seq, offset } = await store.logs.start('a')
    expect(offset).toBeGreaterThanOrEqual(all.length - 64)
    expect(offset).toBeLessThan(all.length - 40)
    expect(words(await store.logs.read('a', { from: { offset }, maxBytes: 1_000 }))).toBe(all.slice(offset))
    expect(words(await store.logs.read('a', { from: { seq }, maxBytes: 1_000 }))).toBe(all.slice(offset))
    expect(words(await store.logs.read('a', { from: { offset: offset + 3 }, maxBytes: 1_000 }))).toBe(all.slice(offset + 3))
    for (const from of [{ offset: 0 }, { offset: offset - 1 }, { seq: 0 }, { seq: seq - 1 }])
      await expect(store.logs.read('a', { from, maxBytes: 10 })).rejects.toEqual(new LogTrimmed({ seq, offset }))
    await expect(store.logs.follow('a', { seq: 0 })[Symbol.asyncIterator]().next()).rejects.toThrow(LogTrimmed)
    // A resend of what is there is recognised, and one of what is gone is no resend.
    expect(await append('word-99;', all.length - 8)).toMatchObject({ kind: 'repeated' })
    expect(await append('word-0;', 0)).toMatchObject({ kind: 'mismatch', offset: all.length })
    expect(await append('x'.repeat(65), all.length)).toMatchObject({ kind: 'full' })
    await store.close()
    store = await openStore({ url, now: () => now })
    expect(await append('!', all.length)).toEqual({ kind: 'appended', seq: 101, offset: all.length + 1 })
  })

  test('a log that has as many entries as it may goes on too, and one that does not roll is full', async () => {
    await store.logs.create('a', { maxBytes: 10_000, maxEntries: 3 })
    for (let index = 0; index < 10; index += 1) await append(String(index), index)
    expect(words(await store.logs.read('a', { from: await store.logs.start('a'), maxBytes: 100 }))).toMatch(/789$/)
    expect((await store.logs.start('a')).seq).toBeGreaterThanOrEqual(7)
    await store.logs.create('b', { maxBytes: 3 })
    await store.logs.append('b', [bytes('one')])
    expect(await store.logs.append('b', [bytes('!')])).toMatchObject({ kind: 'full' })
  })

  test('what is older than a time goes, all of it where all is old, and the log goes on where it ended', async () => {
    const texts = ['one;', 'two;', 'three;']
    let end = 0
    for (const text of texts) {
      now += 10
      await append(text, end)
      end += text.length
    }
    expect(await store.logs.trim('a', { before: 1_020, chain: CHAIN })).toBe(1)
    expect(await store.logs.start('a')).toEqual({ seq: 1, offset: 4 })
    expect(await store.logs.trim('a', { before: 1_020, chain: CHAIN })).toBe(0)
    expect(await store.logs.trim('a', { before: 9_999, chain: CHAIN })).toBe(2)
    expect(await store.logs.end('a')).toEqual({ seq: 3, offset: end, closed: false })
    expect(await store.logs.start('a')).toEqual({ seq: 3, offset: end })
    expect(await store.logs.trim('a', { before: 9_999, chain: CHAIN })).toBe(0)
    expect(await append('four;', end)).toEqual({ kind: 'appended', seq: 4, offset: end + 5 })
    expect(words(await store.logs.read('a', { from: { offset: end }, maxBytes: 100 }))).toBe('four;')
    expect(await store.logs.trim('none', { before: 9_999 })).toBe(0)
  })

  test('more than one commit of old entries goes, and what is written meanwhile stays', async () => {
    for (let batch = 0; batch < 5; batch += 1)
      await store.logs.append(
        'a',
        Array.from({ length: 1_000 }, (_, index) => bytes(`${batch}.${index};`)),
      )
    now = 2_000
    const written = async (): Promise<void> => {
      for (const word of ['new', 'er']) await store.logs.append('a', [bytes(word)])
    }
    const [gone] = await Promise.all([store.logs.trim('a', { before: 2_000 }), written()])
    expect(gone).toBe(5_000)
    expect(words(await store.logs.read('a', { from: await store.logs.start('a'), maxBytes: 100 }))).toBe('newer')
  })

  test('writers of one chain at several gateways: each goes on from what the other wrote', async () => {
    const other = engine === 'sqlite' ? store : await openStore({ url, now: () => now })
    const writers = [store, other, store].map(async ({ logs }, writer) => {
      for (let index = 0; index < 20; index += 1)
        await logs.append('a', [bytes(`${writer}:${index};`), bytes('-')], { chain: CHAIN, rolls: { maxBytes: 1_000_000 } })
    })
    await Promise.all(writers)
    const entries = await store.logs.chainedEntries('a', { seq: 0, offset: 0, maxBytes: 100_000 })
    expect(entries).toHaveLength(120)
    let last: Uint8Array = new Uint8Array()
    for (const entry of entries) {
      last = hash(last, entry.bytes)
      expect(entry.chain === null ? null : Buffer.from(entry.chain)).toEqual(last)
    }
    const log = await store.logs.chained('a')
    expect(Buffer.from(log?.head ?? [])).toEqual(last)
    expect(log?.last).toEqual({ seq: 120, offset: entries.at(-1)?.offset })
    expect(log?.end).toEqual(log?.last)
    if (other !== store) await other.close()
  })
})
