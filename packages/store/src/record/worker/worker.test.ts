import { createHash } from 'node:crypto'
import { type TokenId, WORKER_LIMITS } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { topicsTold } from '../../fixture/look.ts'
import { WORKER } from '../../fixture/worker.ts'
import { type Store, isWorkerHere, openStore } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'

const ONE = WORKER.instance
const OTHER = 'b'.repeat(32)

describe.each(ENGINES)('workers on %s', (engine) => {
  let host: TestEngine
  let store: Store
  let now = 100_000
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    now = 100_000
    store = await openStore({ url: await host.migratedUrl(), now: () => now })
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  const tokenOf = async (name: string, more = ''): Promise<TokenId> => {
    const hash = createHash('sha256').update(`${name}${more}`).digest('hex')
    return (await store.tokens.add({ hash, role: 'executor', name })).id
  }

  test('one is written down with what it tells, by kind and name', async () => {
    const first = await store.workers.seen(WORKER)
    expect(first).toEqual({ ...WORKER, drain: false, firstSeenAt: 100_000, lastSeenAt: 100_000, leftAt: null })
    now = 101_000
    const load = { sessions: 1, running: 1, processes: [{ program: 'sh', since: new Date(0).toISOString() }], load_1m: 0.5 }
    expect(await store.workers.seen({ ...WORKER, load })).toEqual({ ...first, load, lastSeenAt: 101_000 })
    await store.workers.seen({ ...WORKER, kind: 'host' })
    expect((await store.workers.list('executor', 0)).map(({ kind }) => kind)).toEqual(['executor'])
    expect(await store.workers.byName('executor', 'other')).toBeUndefined()
  })

  test('a second instance of a name is refused while the first is here, and takes its place when that left or is silent', async () => {
    await store.workers.seen(WORKER)
    await expect(store.workers.seen({ ...WORKER, instance: OTHER })).rejects.toThrow('another executor called box is here')
    await store.workers.left({ ...WORKER, instance: OTHER })
    await expect(store.workers.seen({ ...WORKER, instance: OTHER })).rejects.toThrow('is here')
    await store.workers.left(WORKER)
    expect(await store.workers.seen({ ...WORKER, instance: OTHER })).toMatchObject({ instance: OTHER, leftAt: null })
    await expect(store.workers.seen(WORKER)).rejects.toThrow('is here')
    now += WORKER_LIMITS.silentMs + 1
    const [silent] = await store.workers.list('executor', 0)
    expect(silent === undefined || isWorkerHere(silent, now)).toBe(false)
    expect(await store.workers.seen(WORKER)).toMatchObject({ instance: ONE })
  })

  test('of many instances of one name that come at once one gets it', async () => {
    const instances = Array.from({ length: 8 }, (_, at) => String(at).repeat(32).slice(0, 32))
    const come = await Promise.allSettled(instances.map((instance) => store.workers.seen({ ...WORKER, instance })))
    expect(come.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('a name is its token’s while that stands, here or not', async () => {
    const [ann, bob] = [await tokenOf('ann'), await tokenOf('bob')]
    await store.workers.seen({ ...WORKER, tokenId: ann })
    await store.workers.left(WORKER)
    for (const tokenId of [bob, null])
      await expect(store.workers.seen({ ...WORKER, tokenId, instance: OTHER })).rejects.toThrow('another token')
    await store.tokens.revoke(ann)
    expect(await store.workers.byName('executor', 'box')).toBeUndefined()
    expect(await store.workers.seen({ ...WORKER, tokenId: bob, instance: OTHER })).toMatchObject({ tokenId: bob })
  })

  test('nobody takes the name of a worker that has yet to come: a token that was made for it', async () => {
    const [box, second, other] = [await tokenOf('box'), await tokenOf('box', 'again'), await tokenOf('other')]
    for (const tokenId of [other, null]) await expect(store.workers.seen({ ...WORKER, tokenId })).rejects.toThrow('another token')
    expect(await store.workers.byName('executor', 'box')).toBeUndefined()
    expect(await store.workers.seen({ ...WORKER, tokenId: second })).toMatchObject({ tokenId: second })
    await store.tokens.revoke(second)
    expect(await store.workers.seen({ ...WORKER, tokenId: box })).toMatchObject({ tokenId: box })
    await store.tokens.revoke(box)
    expect(await store.workers.seen({ ...WORKER, tokenId: other })).toMatchObject({ tokenId: other })
  })

  test('a token has so many names and no more', { timeout: 60_000 }, async () => {
    for (let at = 0; at < 256; at += 1) await store.workers.seen({ ...WORKER, name: `w${at}` })
    await expect(store.workers.seen({ ...WORKER, name: 'one-more' })).rejects.toThrow('256 names of executors at most')
    expect(await store.workers.seen({ ...WORKER, name: 'w7' })).toMatchObject({ name: 'w7' })
    expect(await store.workers.seen({ ...WORKER, name: 'one-more', tokenId: await tokenOf('ann') })).toMatchObject({
      name: 'one-more',
    })
  })

  test('draining is told, stays while it is away, and outlasts others', async () => {
    const told = await topicsTold(store)
    await store.workers.seen(WORKER)
    expect(await told(1)).toEqual(['executors'])
    now += 1_000
    await store.workers.seen(WORKER)
    expect(await store.workers.setDrain('executor', 'box', true)).toMatchObject({ drain: true })
    expect(await told(1)).toEqual(['executors'])
    await store.workers.seen({ ...WORKER, name: 'other' })
    expect(await store.workers.prune(now + 1, now)).toBe(1)
    expect(await store.workers.seen(WORKER)).toMatchObject({ drain: true })
    expect(await store.workers.setDrain('executor', 'nobody', true)).toBeUndefined()
  })

  test('what cannot be read back is not written', async () => {
    await expect(store.workers.seen({ ...WORKER, slots: 0 })).rejects.toThrow('slots')
    await expect(store.workers.seen({ ...WORKER, labels: [{ key: 'NO SUCH KEY', value: '' }] })).rejects.toThrow('labels')
    await expect(store.workers.seen({ ...WORKER, name: '' })).rejects.toThrow('name')
  })

  test('gateways are announced, listed while they are heard of, and removed', async () => {
    const told = await topicsTold(store)
    await store.gateways.announce({ id: 'g1', url: 'http://one:1' })
    now += 10
    await store.gateways.announce({ id: 'g1', url: 'http://one:1' })
    await store.gateways.announce({ id: 'g2', url: 'http://two:1' })
    expect(await store.gateways.list(now)).toEqual([
      { id: 'g1', url: 'http://one:1', startedAt: 100_000, lastSeenAt: now },
      { id: 'g2', url: 'http://two:1', startedAt: now, lastSeenAt: now },
    ])
    await store.gateways.remove('g2')
    expect(await store.gateways.list(0)).toHaveLength(1)
    expect(await told(1)).toEqual(['gateways'])
    expect(await store.gateways.prune(now + 1)).toBe(1)
  })
})
