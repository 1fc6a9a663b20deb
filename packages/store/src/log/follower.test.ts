import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqlite } from '@parley/database'
import { migrate } from '@parley/schema'
import { Follower } from './follower.ts'
import { SqlLogs } from './sql-logs.ts'

const entry = (seq: number, size = 100) => ({ seq, offset: 0, at: 0, bytes: new Uint8Array(size) })

test('a follower that nobody reads from holds no more than its buffer, and then waits for a read', () => {
  const follower = new Follower(1_000)
  follower.live(0)
  for (let seq = 0; seq < 10_000; seq += 1) follower.push([entry(seq)])
  expect(follower.peakBytes).toBeLessThanOrEqual(1_000)
  expect(follower.peakBytes).toBeGreaterThan(500)
  expect(follower.waitsFor).toBeUndefined()
})

test('an entry larger than the buffer is never kept', () => {
  const follower = new Follower(50)
  follower.live(0)
  follower.push([entry(0)])
  expect(follower.peakBytes).toBe(0)
  expect(follower.waitsFor).toBeUndefined()
})

test('a gap makes it read, what it has already is skipped', () => {
  const follower = new Follower(10_000)
  follower.live(5)
  follower.push([entry(3), entry(4), entry(5)])
  expect(follower.waitsFor).toBe(6)
  follower.push([entry(8)])
  expect(follower.waitsFor).toBeUndefined()
  expect([follower.take()?.seq, follower.take()?.seq]).toEqual([5, undefined])
})

test('followers and waiting readers leave nothing behind', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-store-'))
  const db = openSqlite(join(folder, 'a.db'), 'normal')
  try {
    await migrate(db, Date.now)
    const logs = new SqlLogs(db, Date.now)
    const abort = new AbortController()
    const followers = Array.from({ length: 50 }, async (_, index) => {
      for await (const found of logs.follow(`log ${index % 5}`, { seq: 0 }, { signal: abort.signal }))
        if (found.seq === index % 3) return
    })
    const readers = Array.from({ length: 50 }, () =>
      logs.read('quiet', { from: { seq: 0 }, maxBytes: 1, waitMs: 30_000, signal: abort.signal }),
    )
    await new Promise((resolve) => setImmediate(resolve))
    expect(db.signals.size).toBe(6)
    for (let index = 0; index < 5; index += 1) await logs.append(`log ${index}`, [new Uint8Array(1)])
    abort.abort()
    await Promise.all([...followers, ...readers])
    expect(db.signals.size).toBe(0)
  } finally {
    await db.close()
    await rm(folder, { recursive: true })
  }
})
