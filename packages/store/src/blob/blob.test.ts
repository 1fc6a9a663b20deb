import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Store, openStore, personHolder } from '../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../testing/engines.ts'
import { execute } from '../testing/execute.ts'
import { rowCounts } from '../fixture/look.ts'

const MIB = 1024 * 1024
const HOUR = 60 * 60_000
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
/** Bytes that differ everywhere, so that a wrong piece shows. */
const pattern = (size: number) => Uint8Array.from({ length: size }, (_, index) => (index * 31 + (index >> 8)) & 0xff)
/** Whoever has no account: a share without a user in the database. */
const ANN = personHolder(null)
const ABC = new TextEncoder().encode('abc')

describe.each(ENGINES)('blobs on %s', (engine) => {
  let host: TestEngine
  let url: string
  let store: Store
  let now = HOUR
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    now = HOUR
    url = await host.migratedUrl()
    store = await openStore({ url, now: () => now })
  })
  const usedByAnn = async () => (await store.shares.of(null)).bytes.used
  afterEach(() => store.close())
  afterAll(() => host.stop())

  test('an upload in uneven chunks survives a restart and is read back from anywhere', async () => {
    const all = pattern(2 * MIB + 700_001)
    const upload = await store.blobs.begin('ann')
    const sizes = [1, 1_000, MIB - 1_001, 5, MIB, 300_000]
    let offset = 0
    for (const size of sizes) {
      offset = (await store.blobs.write(upload, 'ann', offset, all.subarray(offset, offset + size))).offset
    }
    await store.close()
    store = await openStore({ url, now: () => now })
    offset = (await store.blobs.write(upload, 'ann', offset, all.subarray(offset))).offset
    expect(offset).toBe(all.length)
    const stored = { sha256: sha256(all), bytes: all.length }
    expect(await store.blobs.commit(upload, 'ann', { sha256: stored.sha256, holder: 'job' })).toEqual(stored)
    expect(await store.blobs.stat(stored.sha256)).toEqual({ bytes: all.length })
    expect(await store.blobs.verify(stored.sha256)).toBe(true)
    for (const [from, max] of [
      [0, 10],
      [MIB - 5, 10],
      [MIB, MIB],
      [5, 2 * MIB],
      [all.length - 3, 100],
      [all.length, 5],
      [all.length + 9, 5],
    ] as const) {
      const page = await store.blobs.read(stored.sha256, from, max)
      const expected = all.subarray(from, from + max)
      expect(Buffer.compare(page?.bytes ?? ABC, expected)).toBe(0)
      expect(page?.eof).toBe(from + max >= all.length)
    }
  })

  test('a resend is harmless, a gap and a difference say where the upload stands', async () => {
    const upload = await store.blobs.begin('ann')
    await store.blobs.write(upload, 'ann', 0, ABC)
    expect(await store.blobs.write(upload, 'ann', 0, ABC)).toEqual({ offset: 3 })
    expect(await store.blobs.write(upload, 'ann', 1, new TextEncoder().encode('bcd'))).toEqual({ offset: 4 })
    await expect(store.blobs.write(upload, 'ann', 5, ABC)).rejects.toMatchObject({ code: 'offset_mismatch', offset: 4 })
    await expect(store.blobs.write(upload, 'ann', 0, new TextEncoder().encode('xbc'))).rejects.toMatchObject({
      code: 'offset_mismatch',
      offset: 4,
    })
    await expect(store.blobs.write(upload, 'ann', 2 * 1024 * MIB, ABC)).rejects.toMatchObject({ code: 'too_large' })
  })

  test('a wrong hash stores nothing and the upload stays', async () => {
    const upload = await store.blobs.begin('ann')
    await store.blobs.write(upload, 'ann', 0, ABC)
    const wrong = '0'.repeat(64)
    await expect(store.blobs.commit(upload, 'ann', { sha256: wrong, holder: 'job' })).rejects.toMatchObject({
      code: 'hash_mismatch',
      actual: sha256(ABC),
    })
    expect(await store.blobs.stat(sha256(ABC))).toBeUndefined()
    expect(await store.blobs.commit(upload, 'ann', { holder: 'job' })).toEqual({ sha256: sha256(ABC), bytes: 3 })
  })

  test("another owner's upload is not found", async () => {
    const upload = await store.blobs.begin('ann')
    for (const attempt of [
      () => store.blobs.write(upload, 'bob', 0, ABC),
      () => store.blobs.commit(upload, 'bob', { holder: 'job' }),
      () => store.blobs.abort(upload, 'bob'),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ code: 'not_found' })
    }
    await store.blobs.abort(upload, 'ann')
    await expect(store.blobs.write(upload, 'ann', 0, ABC)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('an upload counts for its owner until its last byte is gone, aborted or handed in twice', async () => {
    const big = pattern(3 * MIB)
    const filled = async () => {
      const upload = await store.blobs.begin(ANN)
      for (let offset = 0; offset < big.length; offset += MIB)
        await store.blobs.write(upload, ANN, offset, big.subarray(offset, offset + MIB))
      return upload
    }
    const kept = async () => (await rowCounts(url))['blob_chunks'] ?? 0
    await store.blobs.commit(await filled(), ANN, { holder: 'job' })
    const chunks = await kept()
    for (const end of [
      async () => store.blobs.abort(await filled(), ANN),
      async () => store.blobs.commit(await filled(), ANN, { holder: 'job' }),
    ]) {
      await end()
      expect([await kept(), await usedByAnn()]).toEqual([chunks, 0])
    }
    // As a crash leaves one whose bytes are only in part removed: of use for nothing, and counted.
    const upload = await filled()
    await execute(url, 'UPDATE uploads SET touched_at = -1 WHERE id = $1', [upload])
    expect(await usedByAnn()).toBe(big.length)
    for (const attempt of [
      () => store.blobs.write(upload, ANN, 0, ABC),
      () => store.blobs.commit(upload, ANN, { holder: 'job' }),
      () => store.blobs.abort(upload, ANN),
    ])
      await expect(attempt()).rejects.toMatchObject({ code: 'not_found' })
    expect(await store.blobs.collect(0)).toEqual({ blobs: 0, uploads: 1 })
    expect([await kept(), await usedByAnn()]).toEqual([chunks, 0])
  })

  test('the same bytes are stored once and live as long as somebody holds them', async () => {
    const upload = await store.blobs.begin('ann')
    await store.blobs.write(upload, 'ann', 0, ABC)
    const stored = await store.blobs.put(ABC, 'one')
    expect(await store.blobs.commit(upload, 'ann', { holder: 'two' })).toEqual(stored)
    await store.blobs.hold(stored.sha256, 'three')
    now += 10
    for (const holder of ['one', 'two', 'three']) {
      expect(await store.blobs.collect(0)).toEqual({ blobs: 0, uploads: 0 })
      expect(await store.blobs.verify(stored.sha256)).toBe(true)
      await store.blobs.drop(stored.sha256, holder)
      now += 10
    }
    expect(await store.blobs.collect(1_000)).toEqual({ blobs: 0, uploads: 0 })
    expect(await store.blobs.collect(0)).toEqual({ blobs: 1, uploads: 0 })
    expect(await store.blobs.read(stored.sha256, 0, 10)).toBeUndefined()
    await expect(store.blobs.hold(stored.sha256, 'four')).rejects.toMatchObject({ code: 'not_found' })
    await expect(store.blobs.verify(stored.sha256)).rejects.toMatchObject({ code: 'not_found' })
    expect(await store.blobs.put(ABC, 'again')).toEqual(stored)
    expect(await store.blobs.verify(stored.sha256)).toBe(true)
  })

  test('stale holds go by prefix', async () => {
    const [abc, long] = [await store.blobs.put(ABC, 'user/ann'), await store.blobs.put(pattern(MIB + 5), 'user/ann')]
    await store.blobs.hold(abc.sha256, 'user/bob')
    await store.blobs.hold(abc.sha256, 'users')
    expect(await store.blobs.isHeld(abc.sha256, 'user/bob')).toBe(true)
    expect(await store.blobs.isHeld(long.sha256, 'user/bob')).toBe(false)
    now += 1_000
    await store.blobs.hold(long.sha256, 'user/ann')
    expect(await store.blobs.dropStale('user/', 1_000)).toBe(0)
    now += 1
    expect(await store.blobs.dropStale('user/', 1_000)).toBe(2)
    expect(await store.blobs.isHeld(abc.sha256, 'user/ann')).toBe(false)
    expect(await store.blobs.isHeld(abc.sha256, 'users')).toBe(true)
    expect(await store.blobs.isHeld(long.sha256, 'user/ann')).toBe(true)
    await expect(store.blobs.dropStale('', 0)).rejects.toMatchObject({ code: 'invalid_argument', field: 'holderPrefix' })
  })

  test('more stale holds than one step takes all go', async () => {
    const { sha256 } = await store.blobs.put(ABC, 'user/0')
    for (let index = 1; index < 250; index += 1) await store.blobs.hold(sha256, `user/${index}`)
    now += 1
    expect(await store.blobs.dropStale('user/', 0)).toBe(250)
  })

  test('uploads that nobody touched for an hour are collected', async () => {
    const [old, fresh] = [await store.blobs.begin('ann'), await store.blobs.begin('ann')]
    await store.blobs.write(old, 'ann', 0, pattern(20))
    now += HOUR - 1
    await store.blobs.write(fresh, 'ann', 0, ABC)
    expect(await store.blobs.collect(0)).toEqual({ blobs: 0, uploads: 0 })
    now += 2
    expect(await store.blobs.collect(2 * HOUR)).toEqual({ blobs: 0, uploads: 0 })
    expect(await store.blobs.collect(0)).toEqual({ blobs: 0, uploads: 1 })
    await expect(store.blobs.commit(old, 'ann', { holder: 'job' })).rejects.toMatchObject({ code: 'not_found' })
    await store.blobs.commit(fresh, 'ann', { holder: 'job' })
  })

  test('an empty blob is a blob', async () => {
    const upload = await store.blobs.begin('ann')
    const stored = await store.blobs.commit(upload, 'ann', { holder: 'job' })
    expect(stored).toEqual({ sha256: sha256(new Uint8Array()), bytes: 0 })
    expect(await store.blobs.read(stored.sha256, 0, 10)).toMatchObject({ eof: true })
    expect(await store.blobs.verify(stored.sha256)).toBe(true)
  })

  test('holding, storing and collecting at the same time never loses what is held', async () => {
    const contents = Array.from({ length: 6 }, (_, index) => pattern(1_000 + index))
    for (let round = 0; round < 5; round += 1) {
      now += 1
      await Promise.all([
        ...contents.map((content) => store.blobs.put(content, `round ${round}`)),
        ...contents.map((content) => store.blobs.drop(sha256(content), `round ${round - 1}`)),
        store.blobs.collect(0),
        store.blobs.collect(0),
      ])
      for (const content of contents) expect(await store.blobs.verify(sha256(content))).toBe(true)
    }
  })
})
