import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Store, openStore } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'

describe.each(ENGINES)('scopes of tokens on %s', (engine) => {
  let host: TestEngine
  let store: Store
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    store = await openStore({ url: await host.migratedUrl() })
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  test('a token keeps the scopes that it was made with, each once and in one order, wherever it is read', async () => {
    const { id: userId } = await store.users.add({ username: 'ann', passwordHash: null, admin: false })
    const token = { role: 'user', name: 'ci', userId } as const
    const whole = await store.tokens.add({ ...token, hash: 'whole' })
    const narrow = await store.tokens.add({ ...token, hash: 'narrow', scopes: ['read', 'jobs', 'read'] })
    expect([whole.scopes, narrow.scopes]).toEqual([null, ['jobs', 'read']])
    expect(await store.tokens.byHash('narrow')).toEqual(narrow)
    expect(await store.tokens.byId(narrow.id)).toEqual(narrow)
    const listed = await store.tokens.list({ limit: 10 })
    expect(Object.fromEntries(listed.map(({ id, scopes }) => [id, scopes]))).toEqual({
      [whole.id]: null,
      [narrow.id]: ['jobs', 'read'],
    })
    expect(await store.tokens.revoke(narrow.id)).toMatchObject({ scopes: ['jobs', 'read'], revokedAt: expect.any(Number) })
  })

  test('only the token of a user has scopes, and never none of them', async () => {
    const { id: userId } = await store.users.add({ username: 'ann', passwordHash: null, admin: false })
    const refused = { code: 'invalid_argument', field: 'scopes' }
    await expect(store.tokens.add({ hash: 'h', role: 'judge', name: 'j', scopes: ['jobs'] })).rejects.toMatchObject(refused)
    await expect(store.tokens.add({ hash: 'h', role: 'user', name: 'u', userId, scopes: [] })).rejects.toMatchObject(refused)
    expect(await store.tokens.list({ limit: 10 })).toEqual([])
  })
})
