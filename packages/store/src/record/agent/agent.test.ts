import { AgentId, AgentSettings, UserId } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { rowCounts, topicsTold } from '../../fixture/look.ts'
import { awakeAgent, sampleAgent, sampleMount } from '../../fixture/sample-agent.ts'
import { AGENT_QUEUE, type Store, callsLog, openStore } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'

const NOBODY = UserId.parse(`usr_${'0'.repeat(26)}`)
const NO_AGENT = AgentId.parse(`agt_${'0'.repeat(26)}`)
const bytes = (value: string) => new TextEncoder().encode(value)

describe.each(ENGINES)('agents on %s', (engine) => {
  let host: TestEngine
  let url: string
  let store: Store
  let ann: UserId
  let bob: UserId
  let now = 1_000
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    now = 1_000
    url = await host.migratedUrl()
    store = await openStore({ url, now: () => now })
    ann = await addUser('ann')
    bob = await addUser('bob')
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  const addUser = async (username: string) => (await store.users.add({ username, passwordHash: null, admin: false })).id
  const named = (name: string, ownerId = ann) => store.agents.add(sampleAgent(ownerId, { name }))
  const topicsOf = (id: AgentId, ownerId: UserId) => [`agent/${id}`, 'agents', `agents/${ownerId}`].toSorted()

  test('one is kept with all that it was made of, and found by its id', async () => {
    const told = await topicsTold(store)
    const mounts = [sampleMount('files', { plain: true }), sampleMount('web', { deny: ['x'] })]
    const agent = await store.agents.add(sampleAgent(ann, { name: 'Anna.1', kind: 'local', preset: 'coder', mounts }))
    expect(agent).toEqual({
      id: agent.id,
      ownerId: ann,
      ownerName: 'ann',
      name: 'Anna.1',
      kind: 'local',
      preset: 'coder',
      settings: AgentSettings.parse({ instructions: 'Be brief. \u0000\ud800', model: null, engine: 'mini' }),
      status: 'active',
      version: 1,
      mounts: 2,
      reported: [],
      createdAt: 1_000,
      updatedAt: 1_000,
    })
    expect(await store.agents.byId(agent.id)).toEqual(agent)
    expect(await store.agents.mounts(agent.id)).toEqual(
      mounts.map((mount) => ({ agentId: agent.id, ...mount, version: 1, attachedAt: 1_000 })),
    )
    expect(await store.agents.byId(NO_AGENT)).toBeUndefined()
    expect(await told(3)).toEqual(topicsOf(agent.id, ann))
  })

  test('a name is given once to each owner', async () => {
    await named('one')
    await expect(named('one')).rejects.toMatchObject({ code: 'already_exists', field: 'name' })
    expect(await named('one', bob)).toMatchObject({ name: 'one', ownerName: 'bob' })
    await expect(named('no name')).rejects.toMatchObject({ code: 'invalid_argument', field: 'name' })
  })

  test('without a name it gets the first of its kind that the owner has not, and no longer one than a name may be', async () => {
    const add = async (base: string) => (await store.agents.add(sampleAgent(ann, { base }))).name
    expect([await add('coder'), await add('coder'), await add('other')]).toEqual(['coder', 'coder-2', 'other'])
    await named('coder-3')
    expect(await add('coder')).toBe('coder-4')
    const long = 'a'.repeat(64)
    expect([await add(long), await add(long)]).toEqual(['a'.repeat(63), `${'a'.repeat(61)}-2`])
    const atOnce = await Promise.all(Array.from({ length: 4 }, () => store.agents.add(sampleAgent(bob, { base: 'x' }))))
    expect(atOnce.map(({ name }) => name).toSorted()).toEqual(['x', 'x-2', 'x-3', 'x-4'])
  })

  test('of several of one name that are added at once one is there', async () => {
    const added = await Promise.allSettled(Array.from({ length: 6 }, () => named('one')))
    expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const each of added)
      if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'already_exists', field: 'name' })
    expect(await store.agents.list({ limit: 10 })).toHaveLength(1)
  })

  test('a person has so many and no more, however many come at once', async () => {
    const adding = Array.from({ length: 8 }, () => store.agents.add(sampleAgent(ann, { maxAgents: 3 })))
    const added = await Promise.allSettled(adding)
    expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    for (const each of added)
      if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'quota_exceeded', bound: 'agents', limit: 3 })
    expect(await store.agents.add(sampleAgent(bob, { maxAgents: 1 }))).toMatchObject({ ownerId: bob })
    // One that is being deleted counts until it is removed.
    const [first] = await store.agents.list({ ownerId: ann, limit: 1 })
    if (first === undefined) throw new Error('none was added')
    await store.agents.markDeleting(first.id)
    await expect(store.agents.add(sampleAgent(ann, { maxAgents: 3 }))).rejects.toMatchObject({ code: 'quota_exceeded' })
    await store.agents.remove(first.id)
    await store.agents.add(sampleAgent(ann, { maxAgents: 3 }))
  })

  test('nobody who is gone or disabled gets one', async () => {
    await expect(store.agents.add(sampleAgent(NOBODY))).rejects.toMatchObject({ code: 'not_found' })
    await store.users.setDisabled(ann, true)
    await expect(store.agents.add(sampleAgent(ann))).rejects.toMatchObject({ code: 'not_found' })
    await store.users.delete(bob)
    await expect(store.agents.add(sampleAgent(bob))).rejects.toMatchObject({ code: 'not_found' })
  })

  test('what cannot be read back is not written, and nothing of it stays', async () => {
    const before = await rowCounts(url)
    const twice = [sampleMount('web'), sampleMount('web')]
    const plain = [sampleMount('a', { plain: true }), sampleMount('b', { plain: true })]
    const refused = { code: 'invalid_argument' }
    await expect(store.agents.add(sampleAgent(ann, { mounts: twice }))).rejects.toMatchObject({ ...refused, field: 'mounts' })
    await expect(store.agents.add(sampleAgent(ann, { mounts: plain }))).rejects.toMatchObject({ code: 'conflict' })
    await expect(store.agents.add(sampleAgent(ann, { preset: '' }))).rejects.toMatchObject({ ...refused, field: 'preset' })
    const settings = { ...sampleAgent(ann).settings, instructions: 'a'.repeat(300_000) }
    await expect(store.agents.add(sampleAgent(ann, { settings }))).rejects.toMatchObject({ ...refused, field: 'settings' })
    for (const [field, value] of [
      ['shown', '{'],
      ['sealed', ''],
      ['sealed', 'a'.repeat(1024 * 1024 + 1)],
      ['name', 'a\0'],
    ] as const) {
      const mounts = [{ ...sampleMount('web'), [field]: value }]
      await expect(store.agents.add(sampleAgent(ann, { mounts }))).rejects.toMatchObject({ ...refused, field: `mount.${field}` })
    }
    expect(await rowCounts(url)).toEqual(before)
  })

  test('they are listed newest first, of one owner or of all, in pages', async () => {
    for (const [at, name] of ['a', 'b', 'c', 'd'].entries()) {
      // Two of one moment are told apart by their ids.
      now = 1_000 + Math.floor(at / 2)
      await named(name)
    }
    await named('other', bob)
    const all = await store.agents.list({ limit: 10 })
    expect(
      all
        .map(({ name }) => name)
        .slice(3)
        .toSorted(),
    ).toEqual(['a', 'b'])
    expect(all.map(({ createdAt }) => createdAt)).toEqual([1_001, 1_001, 1_001, 1_000, 1_000])
    const own = await store.agents.list({ ownerId: ann, limit: 10 })
    expect(own).toEqual(all.filter(({ ownerId }) => ownerId === ann))
    const paged = []
    for (let last = own[0]; last !== undefined;) {
      paged.push(last)
      const page = { ownerId: ann, beforeCreatedAt: last.createdAt, beforeId: last.id, limit: 1 }
      last = (await store.agents.list(page))[0]
    }
    expect(paged).toEqual(own)
    await expect(store.agents.list({ limit: 0 })).rejects.toMatchObject({ field: 'limit' })
  })

  test('what is given is changed, and the rest stays', async () => {
    const agent = await named('one')
    await named('two')
    now = 2_000
    const told = await topicsTold(store)
    const changed = await store.agents.update(agent.id, { name: 'new', settings: { model: 'm' } })
    const settings = { ...agent.settings, model: 'm' }
    expect(changed).toEqual({ ...agent, name: 'new', settings, version: 2, updatedAt: 2_000 })
    expect(await told(3)).toEqual(topicsOf(agent.id, ann))
    now = 3_000
    // What changes nothing is no change.
    expect(await store.agents.update(agent.id, { name: 'new', settings: { model: 'm' } })).toEqual(changed)
    expect(await store.agents.update(agent.id, {})).toEqual(changed)
    await expect(store.agents.update(agent.id, { name: 'two' })).rejects.toMatchObject({ code: 'already_exists', field: 'name' })
    await expect(store.agents.update(NO_AGENT, { name: 'x' })).rejects.toMatchObject({ code: 'not_found' })
    expect(await store.agents.byId(agent.id)).toEqual(changed)
    await store.agents.markDeleting(agent.id)
    await expect(store.agents.update(agent.id, { name: 'x' })).rejects.toMatchObject({ code: 'not_found' })
  })

  test('changes of two parts at once are both kept, and one of two gets a name', async () => {
    const [one, two] = [await named('one'), await named('two')]
    await Promise.all([
      store.agents.update(one.id, { settings: { model: 'm' } }),
      store.agents.update(one.id, { settings: { instructions: 'i' } }),
    ])
    expect(await store.agents.byId(one.id)).toMatchObject({ settings: { model: 'm', instructions: 'i' }, version: 3 })
    const renamed = await Promise.allSettled([
      store.agents.update(one.id, { name: 'same' }),
      store.agents.update(two.id, { name: 'same' }),
      named('same'),
    ])
    expect(renamed.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const each of renamed) if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'already_exists' })
  })

  test('one that is marked has no token and no lease, refuses all, and is removed with all that is its own', async () => {
    const empty = await rowCounts(url)
    const { agent, lease } = await awakeAgent(store, ann, { mounts: [sampleMount('web')] })
    await store.agents.listen(lease, 'file:///a', 5)
    await store.logs.append(callsLog(agent.id), [bytes('{}\n')], { fence: lease })
    const token = await store.tokens.add({ hash: 'h', role: 'agent', name: 'n', agentId: agent.id })
    const old = await store.tokens.add({ hash: 'o', role: 'agent', name: 'n', agentId: agent.id })
    await store.tokens.revoke(old.id)
    expect(await store.agents.remove(agent.id)).toBe(false)
    expect(await store.agents.deleting(10)).toEqual([])
    now = 1_500
    const told = await topicsTold(store)
    const marked = await store.agents.markDeleting(agent.id)
    expect(marked).toMatchObject({ status: 'deleting', version: agent.version + 1, updatedAt: 1_500 })
    expect(await told(5)).toEqual([...topicsOf(agent.id, ann), `token/${token.id}`, 'tokens'].toSorted())
    expect(await store.tokens.byHash('h')).toMatchObject({ revokedAt: 1_500 })
    expect(await store.tokens.byHash('o')).toMatchObject({ revokedAt: 1_000 })
    expect(await store.leases.count(AGENT_QUEUE)).toEqual({ waiting: 0, held: 0 })
    now = 1_600
    expect(await store.agents.markDeleting(agent.id)).toEqual(marked)
    expect(await store.agents.markDeleting(NO_AGENT)).toBeUndefined()
    const missing = { code: 'not_found' }
    await expect(store.agents.wake(agent.id)).rejects.toMatchObject(missing)
    await expect(store.agents.attach(agent.id, sampleMount('more'), 5)).rejects.toMatchObject(missing)
    expect(await store.agents.detach(agent.id, 'web')).toBe(false)
    const mint = { hash: 'n', role: 'agent', name: 'n', agentId: agent.id } as const
    await expect(store.tokens.add(mint)).rejects.toMatchObject(missing)
    const late = await Promise.allSettled([
      store.agents.sleep(lease),
      store.agents.report(lease, []),
      store.agents.listen(lease, 'file:///b', 5),
      store.agents.unlisten(lease, 'file:///a'),
      store.logs.append(callsLog(agent.id), [bytes('{}\n')], { fence: lease }),
    ])
    for (const each of late) expect(each).toMatchObject({ status: 'rejected', reason: { code: 'lease_lost' } })
    expect(await store.agents.deleting(10)).toEqual([agent.id])
    const toldOfEnd = await topicsTold(store)
    expect(await store.agents.remove(agent.id)).toBe(true)
    expect(await toldOfEnd(4)).toEqual([...topicsOf(agent.id, ann), 'tokens'].toSorted())
    expect(await rowCounts(url)).toEqual(empty)
    expect(await store.agents.remove(agent.id)).toBe(false)
    expect(await store.agents.deleting(10)).toEqual([])
  })

  test('a token of an agent is for one that is there, and every one of it is known by its agent', async () => {
    const agent = await named('one')
    const token = { hash: 'h', role: 'agent', name: 'n' } as const
    await expect(store.tokens.add({ ...token, agentId: NO_AGENT })).rejects.toMatchObject({ code: 'not_found' })
    await expect(store.tokens.add(token)).rejects.toMatchObject({ code: 'invalid_argument', field: 'agentId' })
    await expect(store.tokens.add({ ...token, role: 'judge', agentId: agent.id })).rejects.toMatchObject({ field: 'agentId' })
    expect(await store.tokens.add({ ...token, agentId: agent.id })).toMatchObject({ agentId: agent.id, userId: null })
  })

  test('no token and no lease slips past an agent that is deleted at the same moment', async () => {
    for (let round = 0; round < 10; round += 1) {
      const agent = await named(`agent${round}`)
      const hash = `h${round}`
      const [minted] = await Promise.allSettled([
        store.tokens.add({ hash, role: 'agent', name: 'n', agentId: agent.id }),
        store.agents.wake(agent.id),
        store.agents.attach(agent.id, sampleMount('web'), 5),
        store.agents.markDeleting(agent.id),
      ])
      const token = await store.tokens.byHash(hash)
      expect(token?.revokedAt ?? null).toBe(minted.status === 'fulfilled' ? now : null)
      expect(await store.agents.held(agent.id)).toEqual({ kind: 'asleep' })
      expect(await store.agents.byId(agent.id)).toMatchObject({ status: 'deleting' })
      expect(await store.agents.remove(agent.id)).toBe(true)
      expect(await store.agents.mounts(agent.id)).toEqual([])
    }
    expect(await store.leases.count(AGENT_QUEUE)).toEqual({ waiting: 0, held: 0 })
  })
})
