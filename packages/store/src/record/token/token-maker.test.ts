import { TokenId } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Store, type TokenRecord, type UserRecord, openStore } from '../../index.ts'
import { topicsTold } from '../../fixture/look.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'
import { execute } from '../../testing/execute.ts'

describe.each(ENGINES)('what tokens make on %s', (engine) => {
  let host: TestEngine
  let url: string
  let store: Store
  let ann: UserRecord
  let made: number
  let ids: number
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    url = await host.migratedUrl()
    made = 0
    ids = 0
    // Ids that differ in their last character alone.
    const random = (size: number) => new Uint8Array(size).fill(ids++, -1)
    store = await openStore({ url, now: () => 5_000, random })
    ann = await addUser('ann')
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  const addUser = (username: string) => store.users.add({ username, passwordHash: null, admin: true })
  const add = (madeBy?: TokenId, more: object = {}): Promise<TokenRecord> => {
    made += 1
    const token = { hash: `h${made}`, role: 'user', name: 'ci', userId: ann.id, scopes: ['jobs'] } as const
    return store.tokens.add({ ...token, ...(madeBy === undefined ? {} : { madeBy }), ...more })
  }
  const endOf = async ({ id }: TokenRecord) => (await store.tokens.byId(id))?.revokedAt

  test('a token says which one made it, wherever it is read; others say none', async () => {
    const root = await add()
    const leaf = await add(root.id)
    expect([root.madeBy, leaf.madeBy]).toEqual([null, root.id])
    expect(await store.tokens.byId(leaf.id)).toEqual(leaf)
    expect(await store.tokens.byHash('h2')).toEqual(leaf)
    const listed = await store.tokens.list({ limit: 10 })
    expect(new Map(listed.map(({ id, madeBy }) => [id, madeBy]))).toEqual(
      new Map([
        [root.id, null],
        [leaf.id, root.id],
      ]),
    )
  })

  test('of a chain the one that is revoked and all after it end, each is told, and nothing else is touched', async () => {
    const [root, other] = [await add(), await add()]
    const middle = await add(root.id)
    const leaf = await add(middle.id)
    const [beside, ofOther] = [await add(root.id), await add(other.id)]
    const bob = await addUser('bob')
    const foreign = await add(undefined, { userId: bob.id })
    const told = await topicsTold(store)
    expect(await store.tokens.revoke(middle.id)).toEqual({ ...middle, revokedAt: 5_000, also: [leaf.id] })
    expect((await told(3)).toSorted()).toEqual([`token/${leaf.id}`, `token/${middle.id}`, 'tokens'].toSorted())
    expect(await Promise.all([middle, leaf].map(endOf))).toEqual([5_000, 5_000])
    expect(await Promise.all([root, other, beside, ofOther, foreign].map(endOf))).toEqual([null, null, null, null, null])
    expect(await store.tokens.revoke(middle.id)).toMatchObject({ revokedAt: 5_000, also: [] })
    expect(await store.tokens.revoke(root.id)).toMatchObject({ also: [beside.id] })
  })

  test('a long chain ends as one, and so does one that closes on itself', async () => {
    const root = await add()
    let last = root
    for (let depth = 0; depth < 20; depth += 1) last = await add(last.id)
    await execute(url, 'UPDATE tokens SET made_by = $2 WHERE id = $1', [root.id, last.id])
    expect((await store.tokens.revoke(root.id))?.also).toHaveLength(20)
    expect(await endOf(last)).toBe(5_000)
  })

  test('nobody makes a token by one that has ended, by one of another account, or without scopes', async () => {
    const [root, ended] = [await add(), await add()]
    await store.tokens.revoke(ended.id)
    const bob = await addUser('bob')
    await expect(add(ended.id)).rejects.toMatchObject({ code: 'conflict' })
    await expect(add(root.id, { userId: bob.id })).rejects.toMatchObject({ code: 'conflict' })
    await expect(add(TokenId.parse(`tok_${'z'.repeat(26)}`))).rejects.toMatchObject({ code: 'conflict' })
    const judge = { role: 'judge', userId: undefined, scopes: undefined }
    await expect(add(root.id, judge)).rejects.toMatchObject({ code: 'invalid_argument', field: 'madeBy' })
    await expect(add(root.id, { scopes: undefined })).rejects.toMatchObject({ field: 'madeBy' })
    expect(await store.tokens.list({ limit: 10 })).toHaveLength(2)
  })

  test('what ends all tokens of an account ends those that they made', async () => {
    const root = await add()
    const leaf = await add(root.id)
    await store.users.add({ username: 'bob', passwordHash: null, admin: true })
    await store.users.setDisabled(ann.id, true)
    expect(await Promise.all([root, leaf].map(endOf))).toEqual([5_000, 5_000])
  })

  test('no token slips past the end of its maker at the same moment', async () => {
    for (let round = 0; round < 5; round += 1) {
      const root = await add()
      const adding = Array.from({ length: 3 }, () => add(root.id).catch(() => undefined))
      await Promise.all([...adding, store.tokens.revoke(root.id)])
    }
    const stand = (await store.tokens.list({ limit: 100 })).filter(({ revokedAt }) => revokedAt === null)
    expect(stand).toEqual([])
  })
})
