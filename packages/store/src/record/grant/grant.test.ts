import { type Grant, NO_GRANT, UserId } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { rowCounts, topicsTold } from '../../fixture/look.ts'
import { type Store, openStore } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'

const NOBODY = UserId.parse(`usr_${'0'.repeat(26)}`)
const GRANT: Grant = { unboxed: true, folders: ['/srv'], executors: ['box', '*'], private_http: false }

describe.each(ENGINES)('grants on %s', (engine) => {
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

  const addUser = async (username: string) => (await store.users.add({ username, passwordHash: null, admin: false })).id

  test('one is set, replaced whole, told and listed by name; who has none is granted nothing', async () => {
    const [bob, ann] = [await addUser('bob'), await addUser('ann')]
    expect([await store.grants.of(ann), await store.grants.of(NOBODY)]).toEqual([NO_GRANT, NO_GRANT])
    expect(await store.grants.list()).toEqual([])
    const told = await topicsTold(store)
    expect(await store.grants.set(bob, GRANT)).toEqual({ userId: bob, username: 'bob', grant: GRANT, setAt: 1_000 })
    expect(await told(1)).toEqual(['grants'])
    now = 2_000
    const small = { ...NO_GRANT, private_http: true }
    await store.grants.set(ann, GRANT)
    const second = await store.grants.set(bob, small)
    expect(second).toEqual({ userId: bob, username: 'bob', grant: small, setAt: 2_000 })
    expect(await store.grants.of(bob)).toEqual(small)
    expect(await store.grants.list()).toEqual([{ userId: ann, username: 'ann', grant: GRANT, setAt: 2_000 }, second])
  })

  test('there is none for an account that is not there, and none that cannot be read back', async () => {
    const ann = await addUser('ann')
    await expect(store.grants.set(NOBODY, GRANT)).rejects.toMatchObject({ code: 'not_found' })
    await expect(store.grants.set(ann, { ...GRANT, folders: ['srv'] })).rejects.toMatchObject({ field: 'grant' })
    expect(await store.grants.list()).toEqual([])
    // Whoever is disabled comes back to what they were granted.
    await store.users.setDisabled(ann, true)
    expect(await store.grants.set(ann, GRANT)).toMatchObject({ username: 'ann' })
  })

  test('one goes with its account, also when it is set at the same moment', async () => {
    const ann = await addUser('ann')
    await store.grants.set(ann, GRANT)
    const told = await topicsTold(store)
    await store.users.delete(ann)
    expect(await told(3)).toEqual(['grants', `user/${ann}`, 'users'])
    await expect(store.grants.set(ann, GRANT)).rejects.toMatchObject({ code: 'not_found' })
    for (let round = 0; round < 10; round += 1) {
      const id = await addUser(`user${round}`)
      await Promise.allSettled([store.grants.set(id, GRANT), store.users.delete(id), store.grants.set(id, GRANT)])
      expect(await store.grants.of(id)).toEqual(NO_GRANT)
    }
    expect(await rowCounts(url)).toMatchObject({ grants: 0 })
  })
})
