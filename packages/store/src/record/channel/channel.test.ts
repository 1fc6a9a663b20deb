import { NO_PRICES, UserId } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { topicsTold } from '../../fixture/look.ts'
import { type Channels, type Store, openStore } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'

const MAIN: Parameters<Channels['put']>[0] = {
  name: 'main',
  displayName: 'Main',
  kind: 'openai',
  baseUrl: 'https://example.com/v1',
  wire: 'responses',
  modelsPath: '/models',
  script: null,
  sealedKey: 'sealed',
  keyHint: 'sk…9',
  enabled: true,
  source: 'settings',
}
const SMALL: Parameters<Channels['putModel']>[0] = {
  channel: 'main',
  model: 'small',
  displayName: 'Small',
  contextTokens: 128_000,
  prices: { ...NO_PRICES, input_microusd_per_1m_tokens: 0, output_microusd_per_1m_tokens: 1_000_000_000_000 },
  active: true,
  source: 'settings',
}

describe.each(ENGINES)('channels on %s', (engine) => {
  let host: TestEngine
  let store: Store
  let now = 10_000
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    now = 10_000
    store = await openStore({ url: await host.migratedUrl(), now: () => now })
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  test('a channel is replaced whole, keeps when it came, and those who look are told', async () => {
    const told = await topicsTold(store)
    expect(await store.channels.put(MAIN)).toEqual({ ...MAIN, createdAt: 10_000, updatedAt: 10_000 })
    expect(await told(1)).toEqual(['models'])
    now += 5
    const changed = {
      ...MAIN,
      displayName: '',
      kind: 'script',
      baseUrl: null,
      wire: 'chat',
      modelsPath: '/m',
      script: 'knapsack',
      sealedKey: null,
      keyHint: null,
      enabled: false,
      source: 'admin',
    } as const
    const record = { ...changed, createdAt: 10_000, updatedAt: 10_005 }
    expect(await store.channels.put(changed)).toEqual(record)
    expect(await told(1)).toEqual(['models'])
    expect(await store.channels.byName('main')).toEqual(record)
    await store.channels.put({ ...MAIN, name: 'Zeta' })
    await store.channels.put({ ...MAIN, name: 'alpha' })
    expect((await store.channels.list()).map(({ name }) => name)).toEqual(['Zeta', 'alpha', 'main'])
    expect(await store.channels.byName('none')).toBeUndefined()
  })

  test('a model belongs to a channel and goes with it', async () => {
    await expect(store.channels.putModel(SMALL)).rejects.toMatchObject({ code: 'not_found' })
    await store.channels.put(MAIN)
    await store.channels.put({ ...MAIN, name: 'other' })
    const told = await topicsTold(store)
    expect(await store.channels.putModel(SMALL)).toEqual({ ...SMALL, createdAt: 10_000, updatedAt: 10_000 })
    expect(await told(1)).toEqual(['models'])
    now += 5
    const changed = {
      ...SMALL,
      displayName: 'S',
      contextTokens: null,
      prices: NO_PRICES,
      active: false,
      source: 'admin',
    } as const
    expect(await store.channels.putModel(changed)).toEqual({ ...changed, createdAt: 10_000, updatedAt: 10_005 })
    await store.channels.putModel({ ...SMALL, channel: 'other' })
    await store.channels.putModel({ ...SMALL, model: 'large' })
    // Replacing a channel keeps its models.
    await store.channels.put({ ...MAIN, enabled: false })
    expect((await store.channels.models()).map(({ channel, model }) => `${channel}/${model}`)).toEqual([
      'main/large',
      'main/small',
      'other/small',
    ])
    expect(await store.channels.model('main', 'small')).toMatchObject({ displayName: 'S', prices: NO_PRICES })
    expect(await store.channels.deleteModel('other', 'small')).toBe(true)
    expect(await store.channels.deleteModel('other', 'small')).toBe(false)
    expect(await store.channels.delete('main')).toEqual(['large', 'small'])
    expect(await store.channels.delete('main')).toBeUndefined()
    expect(await store.channels.delete('other')).toEqual([])
    expect(await store.channels.models()).toEqual([])
  })

  test('of a delete and models that come at the same moment none is left behind', async () => {
    for (let round = 0; round < 10; round += 1) {
      await store.channels.put(MAIN)
      const models = Array.from({ length: 5 }, (_, index) => ({ ...SMALL, model: `m${index}` }))
      const [deleted, ...added] = await Promise.allSettled([
        store.channels.delete('main'),
        ...models.map((model) => store.channels.putModel(model)),
      ])
      for (const each of added) if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'not_found' })
      const stayed = added.filter((each) => each.status === 'fulfilled').length
      expect(deleted).toMatchObject({ status: 'fulfilled', value: { length: stayed } })
      expect(await store.channels.models()).toEqual([])
    }
  })

  test('what cannot be stored is refused and names its field', async () => {
    const wrong = (field: string) => ({ code: 'invalid_argument', field })
    await expect(store.channels.put({ ...MAIN, name: '' })).rejects.toMatchObject(wrong('name'))
    await expect(store.channels.put({ ...MAIN, name: 'x'.repeat(1_025) })).rejects.toMatchObject(wrong('name'))
    await expect(store.channels.put({ ...MAIN, baseUrl: 'a\0b' })).rejects.toMatchObject(wrong('baseUrl'))
    await expect(store.channels.put({ ...MAIN, sealedKey: 'x'.repeat(16_385) })).rejects.toMatchObject(wrong('sealedKey'))
    await store.channels.put(MAIN)
    await expect(store.channels.putModel({ ...SMALL, model: 'a\0b' })).rejects.toMatchObject(wrong('model'))
    await expect(store.channels.putModel({ ...SMALL, contextTokens: -1 })).rejects.toMatchObject(wrong('contextTokens'))
    const prices = { ...NO_PRICES, input_microusd_per_1m_tokens: 0.5 }
    await expect(store.channels.putModel({ ...SMALL, prices })).rejects.toMatchObject(wrong('prices'))
    expect(await store.channels.models()).toEqual([])
  })

  test('a quota is set for a person who is there', async () => {
    const { id } = await store.users.add({ username: 'ann', passwordHash: null, admin: false })
    const none = { userId: id, jobsAtOnce: null, tokensPerDay: null, microusdPerDay: null, keptBytes: null, keptJobs: null }
    expect(await store.quotas.of(id)).toEqual(none)
    const told = await topicsTold(store)
    await store.quotas.set({ ...none, jobsAtOnce: 0, tokensPerDay: Number.MAX_SAFE_INTEGER })
    while (!(await told(1)).includes(`usage/${id}`));
    expect(await store.quotas.of(id)).toEqual({ ...none, jobsAtOnce: 0, tokensPerDay: Number.MAX_SAFE_INTEGER })
    const some = { ...none, microusdPerDay: 5, keptBytes: 2 ** 40, keptJobs: 3 }
    await store.quotas.set(some)
    expect(await store.quotas.of(id)).toEqual(some)
    await expect(store.quotas.set({ ...none, tokensPerDay: -1 })).rejects.toMatchObject({ field: 'tokensPerDay' })
    const nobody = UserId.parse(`usr_${'0'.repeat(26)}`)
    await expect(store.quotas.set({ ...none, userId: nobody })).rejects.toMatchObject({ code: 'not_found' })
  })
})
