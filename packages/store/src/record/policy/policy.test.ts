import { createHash } from 'node:crypto'
import { AllowanceId, POLICY_LIMITS, type PolicySubject, type UserId } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { rowCounts, topicsTold } from '../../fixture/look.ts'
import { awakeAgent, sampleAgent } from '../../fixture/sample-agent.ts'
import { type AgentRecord, type DecisionEffects, type Lease, type NewApproval, type Store, openStore } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'

const BOUNDS = { ttlMs: 10_000, maxPerAgent: 30, maxPerPerson: 40 }
const HASH = createHash('sha256').update('').digest('hex')
const DIGEST = 'ab'.repeat(32)
const ASKED: NewApproval = {
  kind: 'tool',
  mount: 'files',
  mountVersion: 1,
  name: 'write',
  digest: HASH,
  arguments: '{}',
  preview: '{}',
  previewSha256: HASH,
  caller: 'tok_1',
  reason: 'r',
  policy: '',
  rule: null,
  layer: null,
  askers: ['default'],
  approvers: [],
}

describe.each(ENGINES)('policies on %s', (engine) => {
  let host: TestEngine
  let url: string
  let store: Store
  let ann: UserId
  let agent: AgentRecord
  let lease: Lease
  let own: PolicySubject
  let now = 1_000
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    now = 1_000
    url = await host.migratedUrl()
    store = await openStore({ url, now: () => now })
    ann = (await store.users.add({ username: 'ann', passwordHash: null, admin: false })).id
    ;({ agent, lease } = await awakeAgent(store, ann, { ttlMs: 100_000 }))
    own = { layer: 'agent', agentId: agent.id }
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  const add = (subject: PolicySubject, text = 'deny_unknown = true') =>
    store.policies.add(subject, { text, note: 'n', by: 'ann' })
  /** Writes one down, shows it and makes it active. */
  const activated = async (subject: PolicySubject, text?: string) => {
    const { version } = await add(subject, text)
    const [active] = await store.policies.active([subject])
    await store.policies.reviewed(subject, version, { digest: DIGEST, base: active?.version ?? null })
    return store.policies.activate(subject, version, { digest: DIGEST, by: 'ann' })
  }

  test('an agent that begins as another is held by what holds that one, and by nothing that was taken away', async () => {
    const begun = () => store.agents.add(sampleAgent(ann, { kind: 'local', knows: { agentId: agent.id, offset: 0 } }))
    const policyOf = async ({ id }: AgentRecord) =>
      (await store.policies.active([{ layer: 'agent', agentId: id }])).map(({ text }) => text)
    expect(await policyOf(await begun())).toEqual([])
    await activated(own, 'deny_unknown = false')
    await activated(own)
    await add(own, 'default = "never active"')
    const held = await begun()
    expect(await policyOf(held)).toEqual(['deny_unknown = true'])
    await store.policies.retire(own)
    expect([await policyOf(held), await policyOf(await begun())]).toEqual([['deny_unknown = true'], []])
    expect((await add({ layer: 'agent', agentId: held.id })).version).toBe(2)
  })

  test('versions are counted for each subject; one is active, and the one before is kept', async () => {
    const subjects: PolicySubject[] = [{ layer: 'installation' }, { layer: 'owner', userId: ann }, own]
    for (const subject of subjects) {
      expect(await activated(subject, 'a')).toMatchObject({
        kind: 'activated',
        policy: { version: 1, status: 'active', subject },
      })
      expect(await activated(subject, 'b')).toMatchObject({ kind: 'activated', policy: { version: 2, activatedBy: 'ann' } })
    }
    expect((await store.policies.active(subjects)).map(({ version, text }) => [version, text])).toEqual([
      [2, 'b'],
      [2, 'b'],
      [2, 'b'],
    ])
    expect((await store.policies.list(own, { limit: 10 })).map(({ version, status }) => [version, status])).toEqual([
      [2, 'active'],
      [1, 'retired'],
    ])
    expect(await store.policies.byVersion(own, 1)).toMatchObject({
      text: 'a',
      sha256: createHash('sha256').update('a').digest('hex'),
    })
    expect(await store.policies.retire(own)).toBe(true)
    expect([await store.policies.retire(own), await store.policies.active([own])]).toEqual([false, []])
  })

  test('only what was shown becomes active: another digest, another base and no look at all are stale', async () => {
    const { version } = await add(own)
    const activate = (digest: string) => store.policies.activate(own, version, { digest, by: 'ann' })
    expect(await activate(DIGEST)).toMatchObject({ kind: 'stale' })
    await store.policies.reviewed(own, version, { digest: DIGEST, base: null })
    expect(await activate('cd'.repeat(32))).toMatchObject({ kind: 'stale' })
    await activated(own)
    expect(await activate(DIGEST)).toMatchObject({ kind: 'stale' })
    await store.policies.reviewed(own, version, { digest: DIGEST, base: 2 })
    expect(await activate(DIGEST)).toMatchObject({ kind: 'activated' })
    expect(await store.policies.activate(own, 99, { digest: DIGEST, by: 'ann' })).toBeUndefined()
    expect(await store.policies.reviewed(own, 99, { digest: DIGEST, base: null })).toBe(false)
  })

  test('of two that are activated at once on two gateways one is, and the other is stale', async () => {
    const versions = await Promise.all([add(own, 'a'), add(own, 'b')])
    expect(new Set(versions.map(({ version }) => version))).toEqual(new Set([1, 2]))
    for (const { version } of versions) await store.policies.reviewed(own, version, { digest: DIGEST, base: null })
    const ends = await Promise.all(
      versions.map(({ version }) => store.policies.activate(own, version, { digest: DIGEST, by: 'ann' })),
    )
    expect(new Set(ends.map((end) => end?.kind))).toEqual(new Set(['activated', 'stale']))
    expect(await store.policies.active([own])).toHaveLength(1)
  })

  test('those whom it is about are told: all hosts, or that of one agent, whose version grows', async () => {
    const told = await topicsTold(store)
    await activated({ layer: 'owner', userId: ann })
    expect(await told(1)).toEqual(['policies'])
    const before = (await store.agents.byId(agent.id))?.version ?? 0
    const toldNext = await topicsTold(store)
    await activated(own)
    expect(await toldNext(1)).toEqual([`agent/${agent.id}`])
    expect((await store.agents.byId(agent.id))?.version).toBeGreaterThan(before)
  })

  test('so many versions are kept, and the active one always', async () => {
    await activated(own)
    for (let count = 0; count < POLICY_LIMITS.versions + 3; count++) await add(own, `# ${count}`)
    const versions = (await store.policies.list(own, { limit: 200 })).map(({ version }) => version)
    expect(versions).toHaveLength(POLICY_LIMITS.versions + 1)
    expect(versions.at(-1)).toBe(1)
    expect(await store.policies.active([own])).toMatchObject([{ version: 1 }])
  })

  test('they go with their agent and with their account, and none is written for what is not there', async () => {
    await activated(own)
    await activated({ layer: 'owner', userId: ann })
    await store.agents.markDeleting(agent.id)
    await expect(add(own)).rejects.toMatchObject({ code: 'not_found' })
    await store.agents.remove(agent.id)
    await store.users.delete(ann)
    await expect(add({ layer: 'owner', userId: ann })).rejects.toMatchObject({ code: 'not_found' })
    expect(await rowCounts(url)).toMatchObject({ policies: 0, allowances: 0 })
  })

  const ask = async (more: Partial<NewApproval> = {}) =>
    (await store.approvals.ask(lease, { ...ASKED, ...more }, BOUNDS)).approval
  const ALLOWANCE: NonNullable<DecisionEffects['allowance']> = {
    session: 'tok_1',
    kind: 'tool',
    mount: 'files',
    mount_version: 1,
    name: 'write',
    digest: null,
    answers: ['default'],
    ttlMs: 5_000,
  }

  test('a yes for the session allows until it runs out; it can be ended before', async () => {
    const { id } = await ask()
    const effects = { allowance: ALLOWANCE }
    expect(await store.approvals.decide(id, { decision: 'approve_session', by: 'ann', reason: null, effects })).toMatchObject({
      kind: 'decided',
    })
    const [allowance] = await store.policies.allowances(agent.id)
    expect(allowance).toMatchObject({ agent_id: agent.id, session: 'tok_1', expires_at: '1970-01-01T00:00:06.000Z' })
    now = 6_000
    expect(await store.policies.allowances(agent.id)).toEqual([])
    expect(await store.policies.prune()).toBe(1)
    now = 1_000
    const again = await ask({ digest: DIGEST })
    await store.approvals.decide(again.id, { decision: 'approve_session', by: 'ann', reason: null, effects })
    const [held] = await store.policies.allowances(agent.id)
    expect(held && (await store.policies.disallow(agent.id, AllowanceId.parse(held.id)))).toBe(true)
    expect(await store.policies.allowances(agent.id)).toEqual([])
  })

  test('a late yes allows nothing: what a decision does goes with it or not at all', async () => {
    const { id } = await ask()
    await store.approvals.decide(id, { decision: 'deny_continue', by: 'bob', reason: null })
    const effects = { allowance: ALLOWANCE, policy: { subject: own, base: null, text: 'a', note: '' } }
    expect(await store.approvals.decide(id, { decision: 'approve_session', by: 'ann', reason: null, effects })).toMatchObject({
      kind: 'late',
    })
    expect(await store.policies.allowances(agent.id)).toEqual([])
    expect(await store.policies.list(own, { limit: 9 })).toEqual([])
  })

  test('a yes as a rule makes a version active with it, unless the policy has changed since', async () => {
    const { id } = await ask()
    const effects = { policy: { subject: own, base: null, text: 'deny_unknown = true', note: 'from it' } }
    await store.approvals.decide(id, { decision: 'approve_rule', by: 'ann', reason: null, effects })
    expect(await store.policies.active([own])).toMatchObject([{ version: 1, note: 'from it' }])
    const other = await ask({ digest: DIGEST, policy: 'agent:1' })
    await expect(
      store.approvals.decide(other.id, { decision: 'approve_rule', by: 'ann', reason: null, effects }),
    ).rejects.toMatchObject({
      code: 'conflict',
    })
    expect(await store.approvals.byId(other.id)).toMatchObject({ status: 'pending', votes: [] })
    expect(await store.policies.list(own, { limit: 9 })).toHaveLength(1)
  })

  test('where two must say yes, each counts once, also when both say so at once; one no is enough', async () => {
    const { id } = await ask()
    const yes = (person: string, by = person) =>
      store.approvals.decide(id, { decision: 'approve', by, person, reason: null, needed: 2 })
    expect(await yes('ann')).toMatchObject({ kind: 'counted', approval: { status: 'pending', votes: ['ann'] } })
    expect(await yes('ann', 'ann (token tok_2)')).toMatchObject({ kind: 'repeated', approval: { status: 'pending' } })
    expect(await store.approvals.dispatch(lease, id)).toBe('refused')
    expect(await yes('bob')).toMatchObject({ kind: 'decided', approval: { status: 'approved', votes: ['ann', 'bob'] } })
    const both = await ask({ digest: DIGEST })
    const ends = await Promise.all(
      ['ann', 'bob'].map((by) => store.approvals.decide(both.id, { decision: 'approve', by, reason: null, needed: 2 })),
    )
    expect(new Set(ends.map((end) => end?.kind))).toEqual(new Set(['counted', 'decided']))
    const third = await ask({ digest: 'ef'.repeat(32) })
    await store.approvals.decide(third.id, { decision: 'approve', by: 'ann', reason: null, needed: 2 })
    await store.approvals.decide(third.id, { decision: 'deny_abort', by: 'bob', reason: null, needed: 2 })
    expect(await store.approvals.byId(third.id)).toMatchObject({ status: 'denied' })
  })

  test('what a person made of the arguments is kept beside them', async () => {
    const { id } = await ask()
    await expect(store.approvals.decide(id, { decision: 'approve', by: 'ann', reason: null, edited: '{' })).rejects.toMatchObject(
      { field: 'edited' },
    )
    await store.approvals.decide(id, { decision: 'approve', by: 'ann', reason: null, edited: '{"a":1}' })
    expect(await store.approvals.byId(id)).toMatchObject({ arguments: '{}', edited: '{"a":1}', status: 'approved' })
  })

  test('approvers find what waits for them among the agents of others', async () => {
    const approvers = [{ users: ['b_b', 'carl'], admins: false, owner: false, needed: 1, sign_in: false }]
    const told = await topicsTold(store)
    const { id } = await ask({ approvers })
    expect(await told(6)).toEqual(expect.arrayContaining(['approvers/b_b', 'approvers/carl']))
    await ask({ digest: DIGEST })
    const bob = (await store.users.add({ username: 'b_b', passwordHash: null, admin: false })).id
    const of = (username: string) => store.approvals.list({ ownerId: bob, username, limit: 9 })
    expect((await of('b_b')).map((each) => each.id)).toEqual([id])
    expect([await of('bxb'), await of('b'), await of('%')]).toEqual([[], [], []])
  })

  test.each(['host', 'person'] as const)(
    'a proposal of a %s becomes active by a yes, and ends by a no, by its end and when it is taken back',
    async (who) => {
      const propose = (text: string, base: number | null) =>
        store.approvals.propose(
          who === 'host' ? lease : agent.id,
          { text, note: '', by: 'x', review: { digest: DIGEST, base } },
          { ...ASKED, digest: createHash('sha256').update(text).digest('hex') },
          BOUNDS,
        )
      const statusOf = async (version: number) => (await store.policies.byVersion(own, version))?.status
      const first = await propose('a', null)
      expect([first.kind, await statusOf(1)]).toEqual(['proposal', 'proposed'])
      expect(await store.policies.activate(own, 1, { digest: 'cd'.repeat(32), by: 'ann' })).toMatchObject({ kind: 'stale' })
      await store.approvals.decide(first.id, { decision: 'approve', by: 'ann', reason: null })
      expect([await statusOf(1), (await store.approvals.byId(first.id))?.status]).toEqual(['active', 'returned'])
      const second = await propose('b', null)
      await expect(store.approvals.decide(second.id, { decision: 'approve', by: 'ann', reason: null })).rejects.toMatchObject({
        code: 'conflict',
      })
      await store.approvals.decide(second.id, { decision: 'deny_continue', by: 'ann', reason: null })
      expect(await statusOf(2)).toBe('refused')
      const third = await propose('c', 1)
      await store.approvals.withdraw(lease, third.id)
      expect(await statusOf(3)).toBe('withdrawn')
      expect(await store.policies.activate(own, 3, { digest: DIGEST, by: 'ann' })).toMatchObject({ kind: 'ended' })
      await propose('d', 1)
      now += 20_000
      await store.approvals.expire(10)
      expect(await statusOf(4)).toBe('withdrawn')
    },
  )

  test('what is approved under one policy is not taken up under another', async () => {
    const { id } = await ask({ policy: 'agent:1' })
    await store.approvals.leave(lease, id)
    expect((await store.approvals.ask(lease, { ...ASKED, policy: 'agent:2' }, BOUNDS)).isAdopted).toBe(false)
    expect((await store.approvals.ask(lease, { ...ASKED, policy: 'agent:1' }, BOUNDS)).isAdopted).toBe(true)
  })

  test('fault 7: all of it is there after a restart', async () => {
    await activated(own, 'x = 1')
    const { id } = await ask({ policy: 'agent:1' })
    await store.approvals.decide(id, { decision: 'approve_session', by: 'ann', reason: null, effects: { allowance: ALLOWANCE } })
    await store.close()
    store = await openStore({ url, now: () => now })
    expect(await store.policies.active([own])).toMatchObject([{ version: 1, text: 'x = 1' }])
    expect(await store.policies.allowances(agent.id)).toHaveLength(1)
    expect(await store.approvals.byId(id)).toMatchObject({ status: 'approved', votes: ['ann'] })
  })
})
