import { TokenId, UserId } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type SignInProof, type Store, openStore } from '../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../testing/engines.ts'
import { topicsTold } from '../fixture/look.ts'
import { deletedName } from './user/user.ts'

const NOBODY = UserId.parse(`usr_${'0'.repeat(26)}`)
/** What `addUser` gives everybody. */
const PROOF = { passwordHash: 'hash' }
const NO_TOKEN = TokenId.parse(`tok_${'0'.repeat(26)}`)

describe.each(ENGINES)('records on %s', (engine) => {
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

  const addUser = (username: string) => store.users.add({ username, passwordHash: 'hash', admin: false })

  test('a user is found by id and name, and a name is given once', async () => {
    const ann = await addUser('ann')
    expect(ann).toEqual({
      id: ann.id,
      username: 'ann',
      passwordHash: 'hash',
      admin: false,
      disabled: false,
      createdAt: 1_000,
      lastSignInAt: null,
      identity: null,
    })
    expect(await store.users.byId(ann.id)).toEqual(ann)
    expect(await store.users.byName('ann')).toEqual(ann)
    expect(await store.users.byName('bob')).toBeUndefined()
    await expect(addUser('ann')).rejects.toMatchObject({ code: 'already_exists' })
    now = 2_000
    await store.users.signedIn(ann.id)
    expect(await store.users.byId(ann.id)).toMatchObject({ lastSignInAt: 2_000 })
    await expect(store.users.signedIn(NOBODY)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('users are listed by name in pages, in the order of bytes', async () => {
    for (const name of ['b', 'a-1', 'a.1', 'a_1', 'c', 'a1']) await addUser(name)
    const names = async (page: { afterName?: string; limit: number }) =>
      (await store.users.list(page)).map((user) => user.username)
    expect(await names({ limit: 10 })).toEqual(['a-1', 'a.1', 'a1', 'a_1', 'b', 'c'])
    expect(await names({ afterName: 'a1', limit: 2 })).toEqual(['a_1', 'b'])
  })

  test('there is one first admin, however many ask at once', async () => {
    const asked = await Promise.all(
      Array.from({ length: 6 }, (_, index) => store.users.addFirstAdmin({ username: `admin${index}`, passwordHash: null })),
    )
    expect(asked.filter((user) => user !== undefined)).toMatchObject([{ admin: true }])
    expect(await store.users.list({ limit: 10 })).toHaveLength(1)
  })

  test('disabling a user ends tokens, sign-ins and links at once, and allows no new ones', async () => {
    const [ann, bob] = [await addUser('ann'), await addUser('bob')]
    const token = await store.tokens.add({ hash: 'h1', role: 'user', name: 'laptop', userId: ann.id })
    const other = await store.tokens.add({ hash: 'h2', role: 'user', name: 'laptop', userId: bob.id })
    await store.signIns.add({ jti: 'j1', userId: ann.id, expiresAt: 9_000, proof: PROOF })
    await store.signIns.add({ jti: 'j2', userId: bob.id, expiresAt: 9_000, proof: PROOF })
    await store.signIns.addLink({ hash: 'l1', userId: ann.id, expiresAt: 9_000 })
    const told = await topicsTold(store)
    now = 2_000
    await store.users.setDisabled(ann.id, true)
    expect(await told(5)).toEqual([`sign-in/j1`, `token/${token.id}`, 'tokens', `user/${ann.id}`, 'users'].toSorted())
    expect(await store.tokens.byHash('h1')).toMatchObject({ revokedAt: 2_000 })
    expect(await store.tokens.byId(other.id)).toMatchObject({ revokedAt: null })
    expect(await store.signIns.get('j1')).toEqual({ jti: 'j1', userId: ann.id, expiresAt: 9_000, revokedAt: 2_000 })
    expect(await store.signIns.get('j2')).toMatchObject({ revokedAt: null })
    expect(await store.signIns.takeLink('l1')).toBeUndefined()
    await expect(store.tokens.add({ hash: 'h3', role: 'user', name: 'n', userId: ann.id })).rejects.toMatchObject({
      code: 'conflict',
    })
    await expect(store.signIns.add({ jti: 'j3', userId: ann.id, expiresAt: 1, proof: PROOF })).rejects.toMatchObject({
      code: 'conflict',
    })
    await expect(store.signIns.add({ jti: 'j3', userId: NOBODY, expiresAt: 1, proof: PROOF })).rejects.toMatchObject({
      code: 'not_found',
    })
    await store.users.setDisabled(ann.id, false)
    expect(await store.tokens.byHash('h1')).toMatchObject({ revokedAt: 2_000 })
    await expect(store.users.setDisabled(NOBODY, true)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('a deleted user is found by nobody, keeps its jobs and leaves its name to others', async () => {
    const [ann, bob] = [await addUser('ann'), await addUser('bob')]
    const token = await store.tokens.add({ hash: 'h1', role: 'user', name: 'laptop', userId: ann.id })
    await store.signIns.add({ jti: 'j1', userId: ann.id, expiresAt: 9_000, proof: PROOF })
    await store.quotas.set({ userId: ann.id, jobsAtOnce: 1, tokensPerDay: null, microusdPerDay: null, keptBytes: 1, keptJobs: 1 })
    const told = await topicsTold(store)
    now = 2_000
    await store.users.delete(ann.id)
    expect(await told(5)).toEqual([`sign-in/j1`, `token/${token.id}`, 'tokens', `user/${ann.id}`, 'users'].toSorted())
    expect(await store.users.byId(ann.id)).toBeUndefined()
    expect(await store.users.byName('ann')).toBeUndefined()
    expect(await store.users.byName(deletedName(ann.id))).toBeUndefined()
    expect(await store.users.list({ limit: 10 })).toEqual([bob])
    expect(await store.quotas.of(ann.id)).toMatchObject({ jobsAtOnce: null })
    expect(await store.tokens.byHash('h1')).toMatchObject({ revokedAt: 2_000 })
    for (const act of [
      () => store.users.delete(ann.id),
      () => store.users.setDisabled(ann.id, false),
      () => store.users.setAdmin(ann.id, true),
      () => store.users.setPassword(ann.id, 'hash'),
      () => store.users.signedIn(ann.id),
    ])
      await expect(act()).rejects.toMatchObject({ code: 'not_found' })
    await expect(store.tokens.add({ hash: 'h2', role: 'user', name: 'x', userId: ann.id })).rejects.toMatchObject({
      code: 'conflict',
    })
    expect((await addUser('ann')).id).not.toBe(ann.id)
  })

  test('of admins who are deleted, demoted and disabled all at once, one stays', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    const admins = await Promise.all(names.map((username) => store.users.add({ username, passwordHash: null, admin: true })))
    const ways = [
      (id: UserId) => store.users.delete(id),
      (id: UserId) => store.users.setAdmin(id, false),
      (id: UserId) => store.users.setDisabled(id, true),
    ]
    const outcomes = await Promise.allSettled(admins.map(async ({ id }, index) => ways[index % ways.length]?.(id)))
    expect(outcomes.filter(({ status }) => status === 'rejected')).toMatchObject([{ reason: { code: 'conflict' } }])
    const left = (await store.users.list({ limit: 10 })).filter((user) => user.admin && !user.disabled)
    expect(left).toHaveLength(1)
  })

  test('no token slips past a user who is disabled at the same moment', async () => {
    for (let round = 0; round < 10; round += 1) {
      const user = await addUser(`user${round}`)
      const added = Array.from({ length: 3 }, (_, index) =>
        store.tokens.add({ hash: `${round}/${index}`, role: 'user', name: 'n', userId: user.id }).catch(() => undefined),
      )
      await Promise.all([...added, store.users.setDisabled(user.id, true)])
      for (const token of await store.tokens.list({ limit: 100 }))
        if (token.userId === user.id) expect(token.revokedAt).not.toBeNull()
    }
  })

  test('a new password ends sign-ins, links and tokens, and leaves the tokens where that is asked for', async () => {
    const [ann, bob] = [await addUser('ann'), await addUser('bob')]
    await store.tokens.add({ hash: 'h1', role: 'user', name: 'laptop', userId: ann.id })
    await store.tokens.add({ hash: 'h2', role: 'user', name: 'laptop', userId: bob.id })
    await store.signIns.add({ jti: 'j1', userId: ann.id, expiresAt: 9_000, proof: PROOF })
    await store.signIns.addLink({ hash: 'l1', userId: ann.id, expiresAt: 9_000 })
    await store.users.setPassword(ann.id, 'new hash', { keepTokens: true })
    expect(await store.users.byName('ann')).toMatchObject({ passwordHash: 'new hash' })
    expect(await store.signIns.get('j1')).toMatchObject({ revokedAt: 1_000 })
    expect(await store.signIns.takeLink('l1')).toBeUndefined()
    expect(await store.tokens.byHash('h1')).toMatchObject({ revokedAt: null })
    await store.users.setPassword(ann.id, 'newer hash')
    expect(await store.tokens.byHash('h1')).toMatchObject({ revokedAt: 1_000 })
    expect(await store.tokens.byHash('h2')).toMatchObject({ revokedAt: null })
  })

  test('a person has so many sign-ins at once; one more ends the oldest, of that person alone', async () => {
    const [ann, bob] = [await addUser('ann'), await addUser('bob')]
    await store.signIns.add({ jti: 'bob', userId: bob.id, expiresAt: 2_000, proof: PROOF })
    for (let index = 0; index < 102; index += 1)
      await store.signIns.add({ jti: `j${index}`, userId: ann.id, expiresAt: 9_000 + index, proof: PROOF })
    const ended = ['j0', 'j1', 'j2', 'j101', 'bob'].map(async (jti) => (await store.signIns.get(jti))?.revokedAt)
    expect(await Promise.all(ended)).toEqual([1_000, 1_000, null, null, null])
  })

  test('an identity belongs to one user, is found, changed and taken away, and goes with the account', async () => {
    const [ann, bob] = [await addUser('ann'), await addUser('bob')]
    const identity = { issuer: 'https://id.example', subject: 'a-1' }
    await store.users.setIdentity(ann.id, identity)
    await store.users.setIdentity(ann.id, identity)
    expect(await store.users.byIdentity(identity)).toMatchObject({ id: ann.id, identity })
    expect(await store.users.byIdentity({ ...identity, issuer: 'https://other.example' })).toBeUndefined()
    await expect(store.users.setIdentity(bob.id, identity)).rejects.toMatchObject({ code: 'already_exists' })
    await expect(store.users.setIdentity(NOBODY, null)).rejects.toMatchObject({ code: 'not_found' })
    await store.users.setIdentity(ann.id, null)
    await store.users.setIdentity(bob.id, identity)
    expect(await store.users.byIdentity(identity)).toMatchObject({ id: bob.id })
    await store.users.delete(bob.id)
    expect(await store.users.byIdentity(identity)).toBeUndefined()
    await store.users.setIdentity(ann.id, identity)
  })

  test('a sign-in is written only while what was shown for it still holds', async () => {
    const ann = await addUser('ann')
    const signIn = (jti: string, proof: SignInProof) => store.signIns.add({ jti, userId: ann.id, expiresAt: 9_000, proof })
    for (const hash of ['a', 'b', 'c']) await store.signIns.addLink({ hash, userId: ann.id, expiresAt: 9_000 })
    // A link proves something once it is used up, and only for its own account.
    await expect(signIn('j1', { link: 'a' })).rejects.toMatchObject({ code: 'conflict' })
    for (const hash of ['a', 'b']) await store.signIns.takeLink(hash)
    const bob = await addUser('bob')
    const stolen = store.signIns.add({ jti: 'j1', userId: bob.id, expiresAt: 9_000, proof: { link: 'a' } })
    await expect(stolen).rejects.toMatchObject({ code: 'conflict' })
    await signIn('j1', { link: 'a' })
    await signIn('j2', PROOF)
    // Here somebody has compared the password or used the link, and has not signed in yet.
    await store.users.setPassword(ann.id, 'new hash')
    for (const proof of [PROOF, { link: 'b' }, { passwordHash: null }])
      await expect(signIn('j3', proof)).rejects.toMatchObject({ code: 'conflict' })
    await signIn('j3', { passwordHash: 'new hash' })
    // The password stays when an account is disabled and enabled; its links do not.
    await store.signIns.addLink({ hash: 'd', userId: ann.id, expiresAt: 9_000 })
    await store.signIns.takeLink('d')
    await store.users.setDisabled(ann.id, true)
    await expect(signIn('j4', { passwordHash: 'new hash' })).rejects.toMatchObject({ code: 'conflict' })
    await store.users.setDisabled(ann.id, false)
    await expect(signIn('j4', { link: 'd' })).rejects.toMatchObject({ code: 'conflict' })
    await store.users.delete(ann.id)
    for (const proof of [{ passwordHash: 'new hash' }, { passwordHash: null }])
      await expect(signIn('j4', proof)).rejects.toMatchObject({ code: 'conflict' })
    expect(await store.signIns.get('j4')).toBeUndefined()
  })

  test('a password that was set meanwhile is not overwritten by who knew the one before', async () => {
    const ann = await store.users.add({ username: 'ann', passwordHash: null, admin: false })
    await store.users.setPassword(ann.id, 'first', { from: null })
    await expect(store.users.setPassword(ann.id, 'other first', { from: null })).rejects.toMatchObject({ code: 'conflict' })
    await store.users.setPassword(ann.id, 'by an admin')
    await expect(store.users.setPassword(ann.id, 'stale', { from: 'first' })).rejects.toMatchObject({ code: 'conflict' })
    await expect(store.users.setPassword(NOBODY, 'x', { from: null })).rejects.toMatchObject({ code: 'not_found' })
    expect(await store.users.byName('ann')).toMatchObject({ passwordHash: 'by an admin' })
    await store.users.setPassword(ann.id, 'mine', { from: 'by an admin' })
    expect(await store.users.byName('ann')).toMatchObject({ passwordHash: 'mine' })
  })

  test('tokens are listed newest first and revoked once', async () => {
    const ids: TokenId[] = []
    for (let index = 0; index < 5; index += 1) {
      now += index % 2
      ids.push((await store.tokens.add({ hash: `h${index}`, role: 'judge', name: `judge ${index}`, expiresAt: 5_000 })).id)
    }
    const listed: TokenId[] = []
    for (;;) {
      const last = await store.tokens.byId(listed.at(-1) ?? ids[0] ?? NO_TOKEN)
      const page = await store.tokens.list(
        listed.length === 0 || last === undefined
          ? { limit: 2 }
          : { beforeCreatedAt: last.createdAt, beforeId: last.id, limit: 2 },
      )
      if (page.length === 0) break
      listed.push(...page.map((token) => token.id))
    }
    expect(listed.toSorted()).toEqual(ids.toSorted())
    const [first = NO_TOKEN] = ids
    now = 3_000
    expect(await store.tokens.revoke(first)).toMatchObject({ revokedAt: 3_000, role: 'judge', expiresAt: 5_000, userId: null })
    now = 4_000
    expect(await store.tokens.revoke(first)).toMatchObject({ revokedAt: 3_000 })
    expect(await store.tokens.revoke(NO_TOKEN)).toBeUndefined()
    await expect(store.tokens.add({ hash: 'h1', role: 'judge', name: 'n' })).rejects.toMatchObject({ code: 'already_exists' })
  })

  test('the last use of a token only moves forward', async () => {
    const { id } = await store.tokens.add({ hash: 'h', role: 'judge', name: 'n' })
    await store.tokens.used([id], 500)
    await store.tokens.used([id, NO_TOKEN], 400)
    expect(await store.tokens.byId(id)).toMatchObject({ lastUsedAt: 500 })
  })

  test('a sign-in link works once and not too late; sweeping forgets what is over', async () => {
    const ann = await addUser('ann')
    for (const hash of ['a', 'b']) await store.signIns.addLink({ hash, userId: ann.id, expiresAt: 2_000 })
    const taken = await Promise.all([store.signIns.takeLink('a'), store.signIns.takeLink('a')])
    expect(taken.filter((id) => id !== undefined)).toEqual([ann.id])
    await store.signIns.add({ jti: 'j', userId: ann.id, expiresAt: 2_000, proof: PROOF })
    await store.signIns.add({ jti: 'k', userId: ann.id, expiresAt: 2_001, proof: PROOF })
    now = 2_000
    expect(await store.signIns.takeLink('b')).toBeUndefined()
    const link = { userId: ann.id, expiresAt: 2_000 }
    const states = async () => [await store.signIns.findLink('a'), await store.signIns.findLink('b')]
    await store.signIns.sweep()
    expect(await states()).toEqual([
      { ...link, state: 'used' },
      { ...link, state: 'expired' },
    ])
    expect(await store.signIns.findLink('c')).toBeUndefined()
    expect(await store.signIns.get('j')).toBeUndefined()
    await store.signIns.revokeAllOf(ann.id)
    expect(await store.signIns.get('k')).toMatchObject({ revokedAt: 2_000 })
    now = 2_000 + 24 * 3_600_000
    await store.signIns.sweep()
    expect(await states()).toEqual([undefined, undefined])
  })

  test('looking at a link leaves it good, and a new password ends it', async () => {
    const ann = await addUser('ann')
    for (const hash of ['a', 'b']) await store.signIns.addLink({ hash, userId: ann.id, expiresAt: 2_000 })
    expect(await store.signIns.findLink('a')).toEqual({ userId: ann.id, expiresAt: 2_000, state: 'good' })
    expect(await store.signIns.takeLink('a')).toBe(ann.id)
    await store.users.setPassword(ann.id, 'hash')
    expect([await store.signIns.findLink('a'), await store.signIns.takeLink('b')]).toEqual([undefined, undefined])
  })

  test('the oldest admin who can sign in is the first one, whatever the names', async () => {
    expect(await store.users.oldestAdmin()).toBeUndefined()
    await addUser('ann')
    now = 1_100
    const zoe = await store.users.add({ username: 'zoe', passwordHash: null, admin: true })
    now = 1_200
    const bob = await store.users.add({ username: 'bob', passwordHash: null, admin: true })
    expect(await store.users.oldestAdmin()).toEqual(zoe)
    await store.users.setDisabled(zoe.id, true)
    expect(await store.users.oldestAdmin()).toEqual(bob)
  })

  test('the audit is numbered without a gap, found by what was asked, and pruned by age and by number', async () => {
    const entry = {
      actor: 'ann',
      role: 'user',
      action: 'token.create',
      target: null,
      outcome: 'ok',
      code: null,
      remote: '127.0.0.1',
    } as const
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        store.audit.append([
          { ...entry, at: index },
          { ...entry, at: index, actor: 'bob', outcome: 'denied', code: 'forbidden' },
        ]),
      ),
    )
    const all = await store.audit.after(0, 100)
    expect(all.map((found) => found.seq)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
    expect(await store.audit.search({ actor: 'bob', since: 3, until: 5, limit: 10 })).toHaveLength(2)
    expect(
      (await store.audit.search({ outcome: 'ok', action: 'token.create', beforeSeq: 11, limit: 3 })).map((found) => found.seq),
    ).toEqual(
      all
        .filter((found) => found.outcome === 'ok' && found.seq < 11)
        .map((found) => found.seq)
        .toReversed()
        .slice(0, 3),
    )
    expect(await store.audit.prune(0, 15)).toBe(5)
    expect((await store.audit.after(0, 100)).map((found) => found.seq)).toEqual(
      Array.from({ length: 15 }, (_, index) => index + 6),
    )
    expect(await store.audit.prune(100)).toBe(15)
    expect(await store.audit.prune(100)).toBe(0)
    await store.audit.append([{ ...entry, at: 200, target: 'a\0b\ud800' }])
    expect(await store.audit.after(0, 10)).toEqual([{ ...entry, seq: 21, at: 200, target: 'a\uFFFDb\uFFFD' }])
  })

  test('a setting is set once, and everybody gets the same answer', async () => {
    expect(await store.settings.get('fingerprint')).toBeUndefined()
    const answers = await Promise.all(['a', 'b', 'c'].map((value) => store.settings.setOnce('fingerprint', value)))
    expect(new Set(answers).size).toBe(1)
    expect(await store.settings.get('fingerprint')).toBe(answers[0])
  })

  test('what was written is there after a restart', async () => {
    const ann = await addUser('ann')
    await store.close()
    store = await openStore({ url, now: () => now })
    expect(await store.users.byName('ann')).toEqual(ann)
    await store.ping()
  })
})
