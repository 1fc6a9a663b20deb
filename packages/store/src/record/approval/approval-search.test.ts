import { type UserId, Approvers } from '@parley/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { awakeAgent } from '../../fixture/sample-agent.ts'
import { sampleApproval } from '../../fixture/sample-approval.ts'
import { type ApprovalRecord, type Lease, type NewApproval, type Store, openStore } from '../../index.ts'
import { type TestEngine, startEngine } from '../../testing/engines.ts'
import { execute } from '../../testing/execute.ts'

const KELVIN = '\u212A'
const SHOWN = {
  first: 'İstanbul Straße É',
  second: String.raw`C:\Temp\100% ${KELVIN} 1`,
  third: 'a_b!c istanbul strasse é 1000',
}
/** What is searched for, and what it finds. */
const FINDS: Readonly<Record<string, readonly string[]>> = {
  İSTANBUL: ['first'],
  istanbul: ['third'],
  ISTANBUL: ['third'],
  i̇stanbul: [],
  STRAßE: ['first'],
  STRAẞE: [],
  STRASSE: ['third'],
  É: ['first'],
  é: ['third'],
  [`${KELVIN} 1`]: ['second'],
  'k 1': [],
  '100%': ['second'],
  '100': ['second', 'third'],
  '1%0': [],
  '%': ['second'],
  A_B: ['third'],
  aXb: [],
  b_c: [],
  '!': ['third'],
  [String.raw`c:\temp\1`]: ['second'],
  '\\': ['second'],
  '\\\\': [],
}

/** One database in which the small I has no dot: what counts as the same letter is the server's to say, and it must not matter. */
const PLACES = [
  { place: 'sqlite', engine: 'sqlite', urlIn: (host: TestEngine) => host.migratedUrl() },
  { place: 'postgres', engine: 'postgres', urlIn: (host: TestEngine) => host.migratedUrl() },
  { place: 'a Turkish postgres', engine: 'postgres', urlIn: turkishUrl },
] as const

async function turkishUrl(host: TestEngine): Promise<string> {
  const beside = await host.freshUrl()
  const url = `${beside}_turkish`
  const name = new URL(url).pathname.slice(1)
  await execute(beside, `CREATE DATABASE ${name} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'tr'`, [])
  return url
}

describe.each(PLACES)('a search among approvals on $place', ({ engine, urlIn }) => {
  let host: TestEngine
  let store: Store
  let ann: UserId
  let lease: Lease
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    store = await openStore({ url: await urlIn(host) })
    ann = (await store.users.add({ username: 'ann', passwordHash: null, admin: false })).id
    ;({ lease } = await awakeAgent(store, ann, { ttlMs: 100_000 }))
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  const ask = async (name: string, more: Partial<NewApproval>): Promise<void> => {
    await store.approvals.ask(lease, sampleApproval(name, more), { ttlMs: 100_000, maxPerAgent: 5, maxPerPerson: 5 })
  }
  const namesIn = (found: readonly ApprovalRecord[]) => found.map(({ name }) => name).toSorted()

  test('capitals of the letters a to z do not matter, every other sign is found as it is written', async () => {
    for (const [name, preview] of Object.entries(SHOWN)) await ask(name, { preview })
    const found: Record<string, readonly string[]> = {}
    for (const search of Object.keys(FINDS)) found[search] = namesIn(await store.approvals.list({ limit: 10, search }))
    expect(found).toEqual(FINDS)
  })

  test('who is named as an approver is found by exactly this name', async () => {
    const bob = (await store.users.add({ username: 'bob', passwordHash: null, admin: false })).id
    for (const name of ['ann-b', 'Ann_b']) await ask(name, { approvers: [Approvers.parse({ users: ['x', name] })] })
    const of = async (more: { username?: string }) => namesIn(await store.approvals.list({ ownerId: bob, limit: 10, ...more }))
    for (const name of ['ann-b', 'Ann_b']) expect(await of({ username: name })).toEqual([name])
    for (const name of ['ANN-B', 'ann_b', 'Ann%b', 'ann', '-']) expect(await of({ username: name })).toEqual([])
    expect(await of({})).toEqual([])
    expect(namesIn(await store.approvals.list({ ownerId: ann, limit: 10 }))).toEqual(['Ann_b', 'ann-b'])
  })
})
