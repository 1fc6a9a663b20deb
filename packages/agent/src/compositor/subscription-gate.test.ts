import { AGENT_LIMITS, type JsonObject, ToolError } from '@parley/protocol'
import type { Caller } from '@parley/rpc'
import { describe, expect, test } from 'vitest'
import { deny, gateOf, recorderOf } from './fixture/gate-probe.ts'
import { ProbeServer } from './fixture/probe-server.ts'
import { openTestCompositor, readOwn } from './fixture/test-compositor.ts'
import type { MountCall, MountDecision, SubscriptionShelf } from './ports.ts'

const ERAS = ['legacy', 'modern'] as const
const ALLOWED: MountDecision = { kind: 'allow' }
/** What a gate says that would ask a person, to what nobody waits for. */
const WOULD_ASK: MountDecision = { kind: 'deny', reason: 'nobody is asked', endsTurn: false, wouldAsk: true }

/** A gate whose decisions about URIs a test changes. What a person would be asked about is let through where somebody waits. */
function rulesOf(rules: Record<string, MountDecision>) {
  const decide = ({ name, unattended }: MountCall<Caller>): MountDecision => {
    const decision = rules[name] ?? ALLOWED
    return decision === WOULD_ASK && unattended !== true ? ALLOWED : decision
  }
  return { rules, ...gateOf(decide) }
}

function shelfOf(...uris: string[]): { kept: Set<string>; updates: string[]; shelf: SubscriptionShelf<Caller> } {
  const kept = new Set(uris)
  const updates: string[] = []
  const shelf = {
    caller: { key: 'self' },
    list: () => [...kept],
    add: (uri: string) => void kept.add(uri),
    remove: (uri: string) => void kept.delete(uri),
    updated: (uri: string) => void updates.push(uri),
  }
  return { kept, updates, shelf }
}

/** What is watched at a server now. */
const watchedAt = (probe: ProbeServer): string[] => [...probe.watched].flatMap(([uri, { size }]) => (size > 0 ? [uri] : []))

describe.each(ERAS)('what was subscribed before, of a %s mount', (era) => {
  test('is taken up unless it is denied; that is kept, and says why it is not watched', async () => {
    const { asked, gate } = rulesOf({ 'test://denied': deny(true)(), 'test://asked': WOULD_ASK })
    const { events, recorder } = recorderOf()
    const { kept, updates, shelf } = shelfOf('test://m/denied', 'test://m/asked', 'test://m/doc')
    await using world = await openTestCompositor({ gate, recorder, subscriptions: shelf })
    // Nobody knows yet whose they are.
    expect(asked).toEqual([])
    const probe = new ProbeServer()
    world.mount(probe, { name: 'm', era })
    await expect.poll(() => watchedAt(probe).toSorted()).toEqual(['test://asked', 'test://doc'])
    const client = await world.client()
    const entry = (uri: string, state: string, last_error: string | null) => ({ mount: 'm', uri, state, last_error })
    await expect
      .poll(() => readOwn(client, 'compositor://subscriptions'))
      .toMatchObject({
        subscriptions: [
          entry('test://m/denied', 'failed', 'denied by policy: not today'),
          // Somebody decided about it before.
          entry('test://m/asked', 'active', null),
          entry('test://m/doc', 'active', null),
        ],
      })
    const read = { caller: { key: 'self' }, kind: 'resource', mount: 'm', arguments: {}, unattended: true }
    const looked = ['denied', 'asked', 'doc'].map((name) => ({ ...read, name: `test://${name}` }))
    expect(asked.slice(0, looked.length)).toMatchObject(looked)
    expect(events.filter((event) => JSON.stringify(event).includes('decided'))).toEqual([
      ['decided', 1, 'm', 'test://denied', 'deny'],
      ['decided', 2, 'm', 'test://doc', 'allow'],
    ])
    expect([...kept]).toEqual(['test://m/denied', 'test://m/asked', 'test://m/doc'])
    expect(world.logged).toEqual(['the subscription to test://m/denied is kept and not watched: denied by policy: not today'])
    await expect.poll(() => updates.toSorted()).toEqual(['test://m/asked', 'test://m/doc'])
  })

  test('starts no mount where nothing of it may be watched', async () => {
    const { gate } = rulesOf({ 'test://doc': deny(false)() })
    await using world = await openTestCompositor({ gate, subscriptions: shelfOf('test://m/doc').shelf })
    const probe = new ProbeServer()
    world.mount(probe, { name: 'm', era })
    await expect.poll(() => world.logged).toHaveLength(1)
    expect([probe.connects, world.compositor.mounts()[0]?.state]).toEqual([0, 'pending'])
  })

  test('is as it was before where it cannot be kept', async () => {
    const { rules, gate } = rulesOf({ 'test://doc': deny(false)() })
    const { kept, shelf } = shelfOf('test://m/doc')
    const add = (): never => {
      throw new ToolError('quota_exceeded', 'no room')
    }
    await using world = await openTestCompositor({ gate, subscriptions: { ...shelf, add } })
    const probe = new ProbeServer()
    world.mount(probe, { name: 'm', era })
    await expect.poll(() => world.logged).toHaveLength(1)
    rules['test://doc'] = ALLOWED
    const client = await world.client()
    for (const uri of ['test://m/doc', 'test://m/other'])
      expect((await client.callToolRaw('resources_subscribe', { uri })).isError).toBe(true)
    expect(await readOwn(client, 'compositor://subscriptions')).toMatchObject({
      subscriptions: [{ uri: 'test://m/doc', state: 'failed' }],
    })
    await expect.poll(() => watchedAt(probe)).toEqual([])
    expect([...kept]).toEqual(['test://m/doc'])
    const uri = `test://m/${'x'.repeat(AGENT_LIMITS.uriChars)}`
    expect(JSON.stringify(await client.callToolRaw('resources_subscribe', { uri }))).toContain('invalid_argument')
  })

  test('is watched once somebody subscribes again and is let through', async () => {
    const { rules, gate } = rulesOf({ 'test://doc': deny(false)() })
    const { kept, shelf } = shelfOf('test://m/doc')
    await using world = await openTestCompositor({ gate, subscriptions: shelf })
    const probe = new ProbeServer()
    world.mount(probe, { name: 'm', era })
    await expect.poll(() => world.logged).toHaveLength(1)
    // What was denied meanwhile is not as it was decided once.
    rules['test://doc'] = WOULD_ASK
    await world.compositor.reconsider()
    expect(watchedAt(probe)).toEqual([])
    const client = await world.client()
    const { structuredContent } = await client.callToolRaw('resources_subscribe', { uri: 'test://m/doc' })
    expect(structuredContent).toMatchObject({ state: 'active', last_error: null })
    expect([watchedAt(probe), [...kept]]).toEqual([['test://doc'], ['test://m/doc']])
    await client.callToolRaw('resources_unsubscribe', { uri: 'test://m/doc' })
    await expect.poll(() => watchedAt(probe)).toEqual([])
    expect([...kept]).toEqual([])
  })

  test('passes the gate anew with each mount of that name', async () => {
    const { rules, gate } = rulesOf({})
    await using world = await openTestCompositor({ gate, subscriptions: shelfOf('test://m/doc').shelf })
    const [first, second] = [new ProbeServer(), new ProbeServer()]
    world.mount(first, { name: 'm', era })
    await expect.poll(() => watchedAt(first)).toEqual(['test://doc'])
    await world.compositor.detach('m')
    rules['test://doc'] = WOULD_ASK
    // It is not there: what is decided about it is decided when it comes. What was let through was of another mount.
    await world.compositor.reconsider()
    world.mount(second, { name: 'm', era })
    await expect.poll(() => world.logged.join()).toContain('is kept and not watched')
    expect(second.connects).toBe(0)
  })

  test('ends when policies deny it, stays where they would ask, and goes on when they allow it again', async () => {
    const { rules, gate } = rulesOf({})
    const { updates, shelf } = shelfOf('test://m/doc', 'test://m/other')
    await using world = await openTestCompositor({ gate, subscriptions: shelf })
    const probe = new ProbeServer()
    world.mount(probe, { name: 'm', era })
    await expect.poll(() => updates.toSorted()).toEqual(['test://m/doc', 'test://m/other'])
    rules['test://doc'] = deny(false)()
    rules['test://other'] = WOULD_ASK
    await world.compositor.reconsider()
    await expect.poll(() => watchedAt(probe)).toEqual(['test://other'])
    const client = await world.client()
    const states = async () => JSON.stringify(await readOwn(client, 'compositor://subscriptions'))
    expect(await states()).toMatch(/doc","state":"failed","last_error":"denied by policy: not today".*other","state":"active"/)
    updates.length = 0
    delete rules['test://doc']
    await world.compositor.reconsider()
    // It may have changed meanwhile.
    await expect.poll(() => updates).toEqual(['test://m/doc'])
    expect(watchedAt(probe).toSorted()).toEqual(['test://doc', 'test://other'])
    expect(await states()).toMatch(/doc","state":"active","last_error":null/)
  })
})

describe.each(ERAS)('what a %s client watches', (era) => {
  test('is not told any more when policies deny it, and is told again when they do not', async () => {
    const { rules, gate } = rulesOf({})
    await using world = await openTestCompositor({ gate })
    const probe = new ProbeServer()
    world.mount(probe, { name: 'm', era })
    const client = await world.client({ era })
    const heard: string[] = []
    const hear = (uri: string) => client.subscribe(uri, () => heard.push(uri))
    await hear('test://m/doc')
    await hear('test://m/other')
    /** The second is told of after the first: once it is heard, the first would have been. */
    const touch = async (expected: readonly string[]): Promise<void> => {
      heard.length = 0
      probe.touch('test://doc')
      probe.touch('test://other')
      await expect.poll(() => heard).toEqual(expected)
    }
    await touch(['test://m/doc', 'test://m/other'])
    rules['test://doc'] = deny(true)()
    rules['test://other'] = WOULD_ASK
    await world.compositor.reconsider()
    await touch(['test://m/other'])
    heard.length = 0
    delete rules['test://doc']
    await world.compositor.reconsider()
    await expect.poll(() => heard).toEqual(['test://m/doc'])
    await touch(['test://m/doc', 'test://m/other'])
  })

  test('is decided about again when its mount comes back', async () => {
    const { rules, gate } = rulesOf({})
    await using world = await openTestCompositor({ gate })
    const [first, second] = [new ProbeServer(), new ProbeServer()]
    world.mount(first, { name: 'm', era })
    const client = await world.client({ era })
    const heard: string[] = []
    for (const uri of ['test://m/doc', 'test://m/other']) await client.subscribe(uri, () => heard.push(uri))
    await world.compositor.detach('m')
    rules['test://doc'] = deny(true)()
    world.mount(second, { name: 'm', era })
    await expect.poll(() => heard).toContain('test://m/other')
    second.touch('test://doc')
    second.touch('test://other')
    await expect.poll(() => heard.filter((uri) => uri === 'test://m/other').length).toBeGreaterThan(1)
    expect(heard).not.toContain('test://m/doc')
  })
})

test('a gate that throws while it looks again denies', async () => {
  let isBroken = false
  const { gate } = gateOf(() => {
    if (isBroken) throw new Error('no policy')
    return ALLOWED
  })
  await using world = await openTestCompositor({ gate, subscriptions: shelfOf('test://m/doc').shelf })
  const probe = new ProbeServer()
  world.mount(probe, { name: 'm' })
  await expect.poll(() => watchedAt(probe)).toEqual(['test://doc'])
  isBroken = true
  await world.compositor.reconsider()
  await expect.poll(() => watchedAt(probe)).toEqual([])
  const index: JsonObject = await readOwn(await world.client(), 'compositor://subscriptions')
  expect(JSON.stringify(index)).toContain('the policy could not be evaluated')
})
