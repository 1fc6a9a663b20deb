import type { JudgeFacts } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Store, openStore } from '../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../testing/engines.ts'
import { topicsTold } from '../testing/look.ts'

const FACTS: JudgeFacts = {
  version: '1.0.0',
  languages: [{ language: 'cpp', version: 'g++ 14' }],
  sandbox: { driver: 'cage', tier: 'full', enforced: { memory: 'cgroup' }, missing: [] },
  slots: 2,
  running: 0,
}

describe.each(ENGINES)('judges on %s', (engine) => {
  let host: TestEngine
  let url: string
  let store: Store
  let now = 100_000
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    now = 100_000
    url = await host.freshUrl()
    store = await openStore({ url, now: () => now })
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  test('a judge is written down, and what it told stays until it tells something else', async () => {
    expect(await store.judges.byId('m1')).toBeUndefined()
    const first = await store.judges.seen({ machineId: 'm1', name: 'judge token', facts: FACTS })
    expect(first).toEqual({
      machineId: 'm1',
      name: 'judge token',
      tokenId: null,
      drain: false,
      firstSeenAt: 100_000,
      lastSeenAt: 100_000,
      leftAt: null,
      facts: FACTS,
    })
    now = 101_000
    expect(await store.judges.seen({ machineId: 'm1', name: 'other token' })).toEqual({
      ...first,
      name: 'other token',
      lastSeenAt: 101_000,
    })
    expect(await store.judges.seen({ machineId: 'm2', name: 'n' })).toMatchObject({ facts: null })
    const busy = { ...FACTS, running: 2 }
    expect(await store.judges.seen({ machineId: 'm1', name: 'n', facts: busy })).toMatchObject({ facts: busy })
    await store.close()
    store = await openStore({ url, now: () => now })
    expect(await store.judges.byId('m1')).toMatchObject({ facts: busy, firstSeenAt: 100_000 })
    await expect(store.judges.seen({ machineId: '', name: 'n' })).rejects.toMatchObject({ field: 'machineId' })
    const slots = { ...FACTS, slots: 0 }
    await expect(store.judges.seen({ machineId: 'm', name: 'n', facts: slots })).rejects.toMatchObject({ field: 'facts' })
  })

  test('those who look are told when a judge comes, changes or drains, and not when it is merely there', async () => {
    const told = await topicsTold(store)
    const judge = { machineId: 'm1', name: 'n', facts: FACTS }
    const changes = [
      () => store.judges.seen(judge),
      () => store.judges.seen({ ...judge, name: 'o' }),
      () => store.judges.seen({ ...judge, name: 'o', facts: { ...FACTS, running: 1 } }),
      () => store.judges.setDrain('m1', true),
      () => store.judges.left('m1'),
      () => store.judges.seen({ machineId: 'm1', name: 'o' }),
      () => {
        now += 60_000
        return store.judges.seen({ machineId: 'm1', name: 'o' })
      },
      () => store.judges.prune(now + 1),
    ]
    for (const change of changes) {
      await change()
      expect(await told(1)).toEqual(['judges'])
    }
    await store.judges.seen(judge)
    await told(1)
    await store.judges.seen({ machineId: 'm1', name: 'n' })
    await store.judges.seen(judge)
    await store.judges.alive(['m1'], now + 1)
    await store.judges.setDrain('m1', false)
    expect(await store.judges.setDrain('nobody', true)).toBeUndefined()
    await store.topics.publish('last')
    expect(await told(1)).toEqual(['last'])
  })

  test('a drain stays, time only moves forward, and those long gone are forgotten', async () => {
    for (const machineId of ['m3', 'm1', 'm2']) await store.judges.seen({ machineId, name: 'n' })
    expect(await store.judges.setDrain('m1', true)).toMatchObject({ machineId: 'm1', drain: true })
    expect(await store.judges.seen({ machineId: 'm1', name: 'n' })).toMatchObject({ drain: true })
    await store.judges.alive(['m2', 'm1', 'unknown'], 150_000)
    await store.judges.alive(['m2'], 120_000)
    expect((await store.judges.list(0)).map(({ machineId, lastSeenAt }) => [machineId, lastSeenAt])).toEqual([
      ['m1', 150_000],
      ['m2', 150_000],
      ['m3', 100_000],
    ])
    expect((await store.judges.list(100_001)).map(({ machineId }) => machineId)).toEqual(['m1', 'm2'])
    expect(await store.judges.prune(100_001)).toBe(1)
    expect(await store.judges.prune(200_000, 100_001)).toBe(1)
    expect((await store.judges.list(0)).map(({ machineId }) => machineId)).toEqual(['m1'])
    expect(await store.judges.prune(100_001)).toBe(0)
    expect(await store.judges.byId('m3')).toBeUndefined()
  })

  test('a judge that left is back when it asks for work again, and not because it finishes what it holds', async () => {
    await store.judges.seen({ machineId: 'm1', name: 'n' })
    now = 101_000
    await store.judges.left('m1')
    now = 102_000
    await store.judges.left('m1')
    await store.judges.alive(['m1'], now)
    expect(await store.judges.byId('m1')).toMatchObject({ leftAt: 101_000, lastSeenAt: 102_000 })
    expect(await store.judges.seen({ machineId: 'm1', name: 'n' })).toMatchObject({ leftAt: null })
  })

  test('judges are forgotten with the token they came with', async () => {
    const { id: tokenId } = await store.tokens.add({ hash: 'h'.repeat(64), role: 'judge', name: 'tower' })
    const other = await store.tokens.add({ hash: 'i'.repeat(64), role: 'judge', name: 'attic' })
    for (const machineId of ['m1', 'm2']) await store.judges.seen({ machineId, name: 'tower', tokenId })
    await store.judges.seen({ machineId: 'm3', name: 'attic', tokenId: other.id })
    // It came back with another token: the first one says nothing about it any more.
    await store.judges.seen({ machineId: 'm2', name: 'attic', tokenId: other.id })
    const told = await topicsTold(store)
    await store.tokens.revoke(tokenId)
    expect((await told(3)).toSorted()).toEqual(['judges', `token/${tokenId}`, 'tokens'])
    expect((await store.judges.list(0)).map(({ machineId, name }) => [machineId, name])).toEqual([
      ['m2', 'attic'],
      ['m3', 'attic'],
    ])
  })

  test('one machine that comes twice at once is one judge', async () => {
    await Promise.all(Array.from({ length: 8 }, () => store.judges.seen({ machineId: 'm1', name: 'n', facts: FACTS })))
    expect(await store.judges.list(0)).toHaveLength(1)
  })
})
