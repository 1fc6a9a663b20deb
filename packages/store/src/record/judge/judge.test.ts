import { createHash } from 'node:crypto'
import type { JudgeFacts, TokenId } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { topicsTold } from '../../fixture/look.ts'
import { type Store, openStore, ownMachineId } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'

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
    url = await host.migratedUrl()
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
    // It came back with another token, and is another judge: the first one says nothing about it.
    const { machineId: back } = await store.judges.seen({ machineId: 'm2', name: 'attic', tokenId: other.id })
    const told = await topicsTold(store)
    await store.tokens.revoke(tokenId)
    expect((await told(3)).toSorted()).toEqual(['judges', `token/${tokenId}`, 'tokens'])
    expect((await store.judges.list(0)).map(({ machineId, name }) => [machineId, name])).toEqual([
      [back, 'attic'],
      ['m3', 'attic'],
    ])
  })

  test('an entry belongs to its token: what another says of the same machine is written down beside it', async () => {
    const [ann, bob] = [await tokenOf('ann'), await tokenOf('bob')]
    const said = { machineId: 'm1', name: 'm1' }
    const first = await store.judges.seen({ ...said, tokenId: ann, facts: FACTS })
    expect(await store.judges.setDrain('m1', true)).toEqual({ ...first, drain: true })
    now = 101_000
    const lies = { ...FACTS, languages: [], slots: 1_000 }
    const second = await store.judges.seen({ ...said, nameBeside: 'm1 (bob)', tokenId: bob, facts: lies })
    const third = await store.judges.seen({ ...said, nameBeside: 'm1 (judge)' })
    expect(second).toMatchObject({ machineId: expect.stringMatching(/^m1#[0-9a-f]{10}$/), name: 'm1 (bob)', drain: false })
    expect(third).toMatchObject({ machineId: expect.stringMatching(/^m1#/), name: 'm1 (judge)', tokenId: null, facts: null })
    expect(new Set([second.machineId, third.machineId]).size).toBe(2)
    await store.judges.left(second.machineId)
    await store.judges.alive([second.machineId], 102_000)
    await store.judges.setDrain(third.machineId, true)
    await store.judges.setDrain(third.machineId, false)
    expect(await store.judges.byId('m1')).toEqual({ ...first, drain: true })
    // Each comes back to its own, also by saying it outright; nobody comes to another's.
    expect((await store.judges.seen({ ...said, tokenId: ann })).machineId).toBe('m1')
    expect((await store.judges.seen({ ...said, tokenId: bob })).machineId).toBe(second.machineId)
    expect((await store.judges.seen({ ...said, machineId: second.machineId, tokenId: bob })).machineId).toBe(second.machineId)
    const fourth = await store.judges.seen({ ...said, machineId: second.machineId, tokenId: ann })
    expect(fourth.machineId).not.toBe(second.machineId)
    expect(await store.judges.list(0)).toHaveLength(4)
  })

  test('a judge whose token was replaced goes on: with what was there where the old one is over, else beside it', async () => {
    const [old, expiring] = [await tokenOf('old'), await tokenOf('expiring', 200_000)]
    for (const tokenId of [old, expiring])
      await store.judges.seen({ machineId: `of ${tokenId}`, name: 'n', tokenId, facts: FACTS })
    const next = await tokenOf('next')
    await store.judges.setDrain(`of ${expiring}`, true)
    const beside = await store.judges.seen({ machineId: `of ${old}`, name: 'n', tokenId: next })
    expect(beside).toMatchObject({ machineId: expect.stringMatching(/#/), facts: null })
    await store.tokens.revoke(old)
    expect((await store.judges.seen({ machineId: `of ${old}`, name: 'n', tokenId: next })).machineId).toBe(beside.machineId)
    now = 200_001
    expect(await store.judges.seen({ machineId: `of ${expiring}`, name: 'n', tokenId: next })).toMatchObject({
      machineId: `of ${expiring}`,
      tokenId: next,
      drain: true,
      facts: FACTS,
    })
    // One that never had a name beside another's gets the one that is free.
    const last = await tokenOf('last')
    expect((await store.judges.seen({ machineId: `of ${old}`, name: 'n', tokenId: last })).machineId).toBe(`of ${old}`)
  })

  test('the longest names of machines stay apart, and one that somebody took on purpose is a conflict', async () => {
    const [ann, bob] = [await tokenOf('ann'), await tokenOf('bob')]
    const names = ['a', 'b'].map((end) => 'x'.repeat(127) + end)
    const ids = new Set<string>()
    for (const tokenId of [ann, bob])
      for (const machineId of names) ids.add((await store.judges.seen({ machineId, name: 'n', tokenId })).machineId)
    expect([ids.size, Math.max(...[...ids].map((id) => id.length))]).toEqual([4, 128])
    await store.judges.seen({ machineId: 'm', name: 'n', tokenId: ann })
    await store.judges.seen({ machineId: ownMachineId({ machineId: 'm', tokenId: bob }), name: 'n', tokenId: ann })
    await expect(store.judges.seen({ machineId: 'm', name: 'n', tokenId: bob })).rejects.toMatchObject({ code: 'conflict' })
  })

  test('of two tokens that say the same of themselves at once each has an entry', async () => {
    const tokens = await Promise.all(['a', 'b', 'c'].map((name) => tokenOf(name)))
    const seen = await Promise.all(
      Array.from({ length: 12 }, (_, at) => store.judges.seen({ machineId: 'm1', name: 'n', tokenId: tokens[at % 3] ?? null })),
    )
    expect(new Set(seen.map(({ machineId }) => machineId)).size).toBe(3)
    expect(new Set((await store.judges.list(0)).map(({ tokenId }) => tokenId))).toEqual(new Set(tokens))
  })

  async function tokenOf(name: string, expiresAt?: number): Promise<TokenId> {
    const hash = createHash('sha256').update(name).digest('hex')
    return (await store.tokens.add({ hash, role: 'judge', name, ...(expiresAt === undefined ? {} : { expiresAt }) })).id
  }

  test('one machine that comes twice at once is one judge', async () => {
    await Promise.all(Array.from({ length: 8 }, () => store.judges.seen({ machineId: 'm1', name: 'n', facts: FACTS })))
    expect(await store.judges.list(0)).toHaveLength(1)
  })
})
