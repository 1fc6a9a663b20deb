import { type ApprovalAnswer, ApprovalId, type ApprovalStatus, type UserId } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { topicsTold } from '../../fixture/look.ts'
import { awakeAgent } from '../../fixture/sample-agent.ts'
import { sampleApproval } from '../../fixture/sample-approval.ts'
import { AGENT_QUEUE, type AgentRecord, type Lease, type Store, openStore } from '../../index.ts'
import { ENGINES, type TestEngine, startEngine } from '../../testing/engines.ts'
import type { NewApproval } from './approval.ts'

const LOST = { code: 'lease_lost' }
const BOUNDS = { ttlMs: 10_000, maxPerAgent: 3, maxPerPerson: 4 }
const NONE = ApprovalId.parse(`apr_${'0'.repeat(26)}`)

describe.each(ENGINES)('approvals on %s', (engine) => {
  let host: TestEngine
  let store: Store
  let ann: UserId
  let agent: AgentRecord
  let lease: Lease
  let now = 1_000
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    now = 1_000
    store = await openStore({ url: await host.migratedUrl(), now: () => now })
    ann = (await store.users.add({ username: 'ann', passwordHash: null, admin: false })).id
    ;({ agent, lease } = await awakeAgent(store, ann, { ttlMs: 100_000 }))
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  const ask = async (name: string, more?: Partial<NewApproval>) =>
    (await store.approvals.ask(lease, sampleApproval(name, more), BOUNDS)).approval
  const decide = (id: ApprovalId, decision: ApprovalAnswer, by = 'ann') =>
    store.approvals.decide(id, { decision, by, reason: null })
  const statusOf = async (id: ApprovalId): Promise<ApprovalStatus | undefined> => (await store.approvals.byId(id))?.status
  /** The host is gone, and another one holds the agent. */
  const takenOver = async (): Promise<Lease> => {
    await store.leases.release(lease)
    const next = await store.leases.claim(AGENT_QUEUE, 'h2', { ttlMs: 100_000 })
    if (next === undefined) throw new Error('nothing to claim')
    return next
  }

  test('one is asked, approved, sent once and answered, and all who look at it are told', async () => {
    const told = await topicsTold(store)
    const approval = await ask('write')
    expect(await told(4)).toEqual([`agent/${agent.id}`, `approval/${approval.id}`, 'approvals', `approvals/${ann}`].toSorted())
    expect(approval).toMatchObject({
      ...sampleApproval('write'),
      status: 'pending',
      ownerId: ann,
      expiresAt: 11_000,
      decided: null,
    })
    expect(await store.approvals.dispatch(lease, approval.id)).toBe('refused')
    now += 5
    expect(await store.approvals.decide(approval.id, { decision: 'approve', by: 'ann', reason: 'fine' })).toMatchObject({
      kind: 'decided',
      approval: { status: 'approved', decided: { by: 'ann', decision: 'approve', reason: 'fine', at: 1_005 }, endedAt: null },
    })
    expect(await store.approvals.dispatch(lease, approval.id)).toBe('dispatched')
    expect(await store.approvals.dispatch(lease, approval.id)).toBe('refused')
    expect(await store.approvals.withdraw(lease, approval.id)).toBe(false)
    expect(await store.approvals.settle(lease, approval.id, 'returned')).toBe(true)
    expect(await store.approvals.settle(lease, approval.id, 'returned')).toBe(true)
    expect(await store.approvals.settle(lease, approval.id, 'failed')).toBe(false)
    expect(await store.approvals.byId(approval.id)).toMatchObject({ status: 'returned', dispatchedAt: 1_005, endedAt: 1_005 })
  })

  test('fault 1: a denied one is never sent, and a second decision is told who decided what', async () => {
    const { id } = await ask('write')
    expect(await decide(id, 'deny_continue')).toMatchObject({ kind: 'decided', approval: { status: 'denied', endedAt: 1_000 } })
    expect(await decide(id, 'deny_continue', 'bob')).toMatchObject({ kind: 'repeated', approval: { decided: { by: 'ann' } } })
    expect(await decide(id, 'approve', 'bob')).toMatchObject({
      kind: 'late',
      approval: { status: 'denied', decided: { by: 'ann' } },
    })
    expect(await decide(id, 'deny_abort', 'bob')).toMatchObject({ kind: 'late' })
    expect(await store.approvals.dispatch(lease, id)).toBe('refused')
    expect(await decide(NONE, 'approve')).toBeUndefined()
  })

  test('who approves other arguments than those that count is told so, and the very same again is fine', async () => {
    const approve = (id: ApprovalId, edited?: string) =>
      store.approvals.decide(id, { decision: 'approve', by: 'ann', reason: null, ...(edited === undefined ? {} : { edited }) })
    const [plain, other] = [await ask('plain'), await ask('other')]
    expect(await approve(plain.id)).toMatchObject({ kind: 'decided' })
    expect(await approve(plain.id, '{"path":"b"}')).toMatchObject({ kind: 'late', approval: { edited: null } })
    expect(await approve(other.id, '{"path":"b"}')).toMatchObject({ kind: 'decided' })
    expect(await approve(other.id)).toMatchObject({ kind: 'late', approval: { edited: '{"path":"b"}' } })
    expect(await approve(other.id, '{"path":"b"}')).toMatchObject({ kind: 'repeated' })
  })

  test('a host that asks again because it heard no answer finds what it asked, and nothing for which it waits', async () => {
    const [first, again] = [
      await ask('write'),
      await store.approvals.ask(lease, sampleApproval('write'), { ...BOUNDS, attended: [] }),
    ]
    expect(again).toMatchObject({ isAdopted: true, approval: { id: first.id } })
    const beside = await store.approvals.ask(lease, sampleApproval('write'), { ...BOUNDS, attended: [first.id] })
    expect(beside).toMatchObject({ isAdopted: false, approval: { status: 'pending' } })
    lease = await takenOver()
    // The host that asked is another one: whether somebody waits for it is known when that one is known to be gone.
    expect(await store.approvals.ask(lease, sampleApproval('write'), { ...BOUNDS, attended: [] })).toMatchObject({
      isAdopted: false,
    })
  })

  test('a no that was said when nobody waited any more is found by the same call, once', async () => {
    const first = await ask('write')
    now += 1
    await store.approvals.leave(lease, first.id)
    await decide(first.id, 'deny_continue')
    const again = () => store.approvals.ask(lease, sampleApproval('write'), BOUNDS)
    expect(await again()).toMatchObject({ isAdopted: true, approval: { id: first.id, status: 'denied' } })
    const second = await again()
    expect(second).toMatchObject({ isAdopted: false, approval: { status: 'pending' } })
    // Whoever waited has heard it: the same call is another question.
    await decide(second.approval.id, 'deny_continue')
    expect(await again()).toMatchObject({ isAdopted: false })
  })

  test('the vote of somebody who is disabled meanwhile does not count', async () => {
    const bob = await store.users.add({ username: 'bob', passwordHash: null, admin: false })
    const { id } = await ask('write')
    const yes = (person: string) =>
      store.approvals.decide(id, { decision: 'approve', by: person, person, reason: null, needed: 2 })
    expect(await yes('bob')).toMatchObject({ kind: 'counted', approval: { votes: ['bob'] } })
    await store.users.setDisabled(bob.id, true)
    expect(await yes('ann')).toMatchObject({ kind: 'counted', approval: { status: 'pending', votes: ['ann'] } })
  })

  test('a yes under other policies than those that asked withdraws it, and what was approved is not sent under them', async () => {
    const own = { layer: 'agent', agentId: agent.id } as const
    const activate = async () => {
      const { version } = await store.policies.add(own, { text: '', note: '', by: 'ann' })
      await store.policies.reviewed(own, version, { digest: 'f'.repeat(64), base: version === 1 ? null : version - 1 })
      await store.policies.activate(own, version, { digest: 'f'.repeat(64), by: 'ann' })
    }
    const [asking, approved] = [await ask('one'), await ask('two')]
    await decide(approved.id, 'approve')
    await activate()
    expect(await decide(asking.id, 'approve')).toMatchObject({ kind: 'stale', approval: { status: 'withdrawn' } })
    expect(await store.approvals.dispatch(lease, approved.id)).toBe('stale')
    expect(await statusOf(approved.id)).toBe('withdrawn')
    // A no is good under any.
    const third = await ask('three')
    expect(await decide(third.id, 'deny_abort')).toMatchObject({ kind: 'decided' })
  })

  test('of those who decide at once one wins', async () => {
    const { id } = await ask('write')
    const said = await Promise.all([
      decide(id, 'approve', 'ann'),
      decide(id, 'deny_abort', 'bob'),
      decide(id, 'deny_continue', 'eve'),
    ])
    expect(said.filter((each) => each?.kind === 'decided')).toHaveLength(1)
    expect(said.filter((each) => each?.kind === 'late')).toHaveLength(2)
  })

  test('fault 6: approve and expire in the same millisecond have one winner: it is over', async () => {
    const [late, early] = [await ask('late'), await ask('early')]
    now = late.expiresAt - 1
    expect(await decide(early.id, 'approve')).toMatchObject({ kind: 'decided' })
    now += 1
    expect(await decide(late.id, 'approve')).toMatchObject({ kind: 'late', approval: { status: 'expired', decided: null } })
    // One that was approved in time and not sent is over as well.
    expect(await store.approvals.dispatch(lease, early.id)).toBe('refused')
    expect(await store.approvals.expire(10)).toBe(1)
    expect(await store.approvals.expire(10)).toBe(0)
    expect([await statusOf(late.id), await statusOf(early.id)]).toEqual(['expired', 'expired'])
  })

  test('whoever was cut off finds the same call again, once, decided or not, and nobody else’s', async () => {
    const { id } = await ask('write')
    expect(await store.approvals.ask(lease, sampleApproval('write'), BOUNDS)).toMatchObject({ isAdopted: false })
    await store.approvals.leave(lease, id)
    await decide(id, 'approve')
    expect(await store.approvals.ask(lease, sampleApproval('other'), BOUNDS)).toMatchObject({ isAdopted: false })
    const again = await store.approvals.ask(lease, sampleApproval('write'), BOUNDS)
    expect(again).toMatchObject({ isAdopted: true, approval: { id, status: 'approved', callerGoneAt: null } })
    expect(await store.approvals.dispatch(lease, id)).toBe('dispatched')
    await store.approvals.leave(lease, id)
    expect(
      await store.approvals.ask(lease, sampleApproval('write'), { ...BOUNDS, maxPerAgent: 9, maxPerPerson: 9 }),
    ).toMatchObject({
      isAdopted: false,
    })
  })

  test('what a dead host had sent is unknown to the next, what it waited for goes on, and only a person says more', async () => {
    const [sent, open, yes] = [await ask('sent'), await ask('open'), await ask('yes')]
    for (const { id } of [sent, yes]) await decide(id, 'approve')
    await store.approvals.dispatch(lease, sent.id)
    const dead = lease
    const next = await takenOver()
    expect((await store.approvals.takeOver(next)).map(({ id, status }) => [id, status])).toEqual([[sent.id, 'unknown']])
    expect(await store.approvals.takeOver(next)).toEqual([])
    for (const late of [
      () => store.approvals.dispatch(dead, yes.id),
      () => store.approvals.settle(dead, sent.id, 'returned'),
      () => store.approvals.withdraw(dead, open.id),
      () => store.approvals.leave(dead, open.id),
      () => store.approvals.takeOver(dead),
      () => store.approvals.ask(dead, sampleApproval('x'), BOUNDS),
    ])
      await expect(late()).rejects.toMatchObject(LOST)
    expect(await store.approvals.settle(next, sent.id, 'returned')).toBe(false)
    expect(await store.approvals.dispatch(next, sent.id)).toBe('refused')
    expect(await store.approvals.ask(next, sampleApproval('yes'), BOUNDS)).toMatchObject({
      isAdopted: true,
      approval: { id: yes.id },
    })
    expect(await store.approvals.dispatch(next, yes.id)).toBe('dispatched')
    expect(await store.approvals.resolve(yes.id, 'failed', 'ann')).toBe(false)
    expect(await store.approvals.resolve(sent.id, 'failed', 'ann')).toBe(true)
    expect(await store.approvals.resolve(sent.id, 'returned', 'ann')).toBe(false)
    expect(await statusOf(sent.id)).toBe('failed')
  })

  test('a denial that its host did not live to hear is found by the same call, once, and by no other call that is the same', async () => {
    const [heard, unheard] = [await ask('one'), await ask('two')]
    await decide(heard.id, 'deny_continue')
    const again = { ...BOUNDS, isAgain: true }
    // Under the claim that asked, whoever asks has heard it.
    expect(await store.approvals.ask(lease, sampleApproval('one'), again)).toMatchObject({ isAdopted: false })
    await decide(unheard.id, 'deny_continue')
    const next = await takenOver()
    await store.approvals.takeOver(next)
    expect(await store.approvals.ask(next, sampleApproval('two'), again)).toMatchObject({
      isAdopted: true,
      approval: { id: unheard.id, status: 'denied', decided: { by: 'ann' } },
    })
    expect(await store.approvals.ask(next, sampleApproval('two'), again)).toMatchObject({ isAdopted: false })
    // One that waits goes before one that was denied.
    expect(await store.approvals.ask(next, sampleApproval('one'), again)).toMatchObject({
      isAdopted: true,
      approval: { status: 'pending' },
    })
  })

  test('no more wait than may, of one agent and of one person', async () => {
    for (const name of ['a', 'b', 'c']) await ask(name)
    await expect(ask('d')).rejects.toMatchObject({ code: 'quota_exceeded', bound: 'approvals', limit: 3 })
    const first = lease
    ;({ lease } = await awakeAgent(store, ann, { ttlMs: 100_000 }))
    await ask('d')
    await expect(ask('e')).rejects.toMatchObject({ code: 'quota_exceeded', limit: 4 })
    const [newest] = await store.approvals.list({ ownerId: ann, agentId: agent.id, limit: 1 })
    expect(await store.approvals.withdraw(first, newest?.id ?? NONE)).toBe(true)
    await ask('e')
  })

  test('they are listed by owner, agent and status, page by page, and go with their agent', async () => {
    const first = await ask('a')
    now += 1
    const second = await ask('b')
    await decide(second.id, 'deny_abort')
    const names = async (page: Partial<Parameters<Store['approvals']['list']>[0]>) =>
      (await store.approvals.list({ limit: 10, ...page })).map(({ name }) => name)
    expect(await names({})).toEqual(['b', 'a'])
    expect(await names({ statuses: ['pending'] })).toEqual(['a'])
    expect(await names({ statuses: [] })).toEqual([])
    expect(await names({ ownerId: ann, agentId: agent.id, limit: 1 })).toEqual(['b'])
    expect(await names({ beforeCreatedAt: second.createdAt, beforeId: second.id })).toEqual(['a'])
    const bob = (await store.users.add({ username: 'bob', passwordHash: null, admin: false })).id
    expect(await names({ ownerId: bob })).toEqual([])
    expect(await store.approvals.prune(now)).toBe(0)
    expect(await store.approvals.prune(now + 1)).toBe(1)
    await store.agents.markDeleting(agent.id)
    await store.agents.remove(agent.id)
    expect(await store.approvals.byId(first.id)).toBeUndefined()
  })

  test('they are searched in what is shown, who called and who decided, whatever the capitals, and by when they were asked', async () => {
    const first = await ask('write', { preview: 'path: 100%_!.txt', caller: 'tok_9' })
    now = 2_000
    const second = await ask('rename', { mount: null, reason: 'Too Dear', arguments: '{"key":"hidden"}' })
    await store.approvals.decide(second.id, { decision: 'deny_continue', by: 'bob', reason: 'not on Fridays' })
    const found = async (page: Partial<Parameters<Store['approvals']['list']>[0]>) =>
      (await store.approvals.list({ limit: 10, ...page })).map(({ name }) => name)
    for (const search of ['WRITE', '100%_!', 'tok_9', 'files write']) expect(await found({ search })).toEqual(['write'])
    for (const search of ['too dear', 'BOB', 'fridays', 'rename']) expect(await found({ search })).toEqual(['rename'])
    for (const search of ['hidden', '100_', '%', 'x%']) expect(await found({ search })).toEqual(search === '%' ? ['write'] : [])
    expect(await found({ search: 'a', statuses: ['pending'] })).toEqual(['write'])
    expect(await found({ since: 2_000 })).toEqual(['rename'])
    expect(await found({ since: 1_000, beforeCreatedAt: 2_000 })).toEqual(['write'])
    expect(first.createdAt).toBe(1_000)
  })

  test('what cannot be stored is refused and names its field', async () => {
    const wrong: readonly [keyof NewApproval, string][] = [
      ['mount', ''],
      ['name', ''],
      ['digest', 'abc'],
      ['previewSha256', 'ABC'],
      ['arguments', '{'],
      ['arguments', `"${'x'.repeat(1024 * 1024)}"`],
      ['preview', 'x'.repeat(64 * 1024 + 1)],
      ['caller', 'a\0'],
      ['reason', '\ud800'],
    ]
    for (const [field, value] of wrong)
      await expect(ask('a', { [field]: value })).rejects.toMatchObject({ code: 'invalid_argument', field })
    expect(await store.approvals.list({ limit: 10 })).toEqual([])
  })
})
