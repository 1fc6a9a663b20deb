import { type Store, openStore } from '@parley/store'
import { ENGINES, type TestEngine, execute, startEngine } from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CallChain } from './call-chain.ts'
import { type VerifiedPart, verifyCalls } from './verify-calls.ts'

const KEY = new Uint8Array(32).fill(5)
const NAME = 'agent/one/calls'
const OTHER = 'agent/other/calls'
/** Each of the appends; lines begin at 0, 3 | 6 | 9, 12, 15 | 18, and the log ends at 21. */
const APPENDED = ['a0\na1\n', 'b0\n', 'c0\nc1\nc2\n', 'd0\n']
const OLDER = 1_000
const bytes = (text: string) => Buffer.from(text)
type Value = Parameters<typeof execute>[2][number]

describe.each(ENGINES)('the chain of a log of calls on %s', (engine) => {
  let host: TestEngine
  let url: string
  let store: Store
  let now = OLDER
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  beforeEach(async () => {
    now = OLDER
    url = await host.migratedUrl()
    store = await openStore({ url, now: () => now })
  })
  afterEach(() => store.close())
  afterAll(() => host.stop())

  /** As a gateway that was started anew: it remembers nothing. */
  const restart = async () => {
    await store.close()
    store = await openStore({ url, now: () => now })
  }
  const append = (text: string, name = NAME, chain = new CallChain(KEY)) =>
    store.logs.append(name, [bytes(text)], { chain, rolls: { maxBytes: 1_000_000 } })
  const appendAll = async (name = NAME) => {
    const chain = new CallChain(KEY)
    for (const text of APPENDED) await append(text, name, chain)
  }
  const verify = async (name = NAME, maxBytes = 1_000_000, key = KEY): Promise<Omit<VerifiedPart, 'next' | 'bytes'>> => {
    const found = { lines: 0, unchained: 0, since: null as number | null, faults: [] as VerifiedPart['faults'] }
    for (let seq: number | null = 0; seq !== null;) {
      const part: VerifiedPart = await verifyCalls({
        logs: store.logs,
        chain: new CallChain(key),
        name,
        seq,
        maxBytes,
        maxFaults: 100,
      })
      found.lines += part.lines
      found.unchained += part.unchained
      found.since ??= part.since
      found.faults = [...found.faults, ...part.faults]
      seq = part.next
    }
    return found
  }
  const faultsOf = async (maxBytes?: number) =>
    (await verify(NAME, maxBytes)).faults.map(({ kind, offset }) => `${kind} ${offset}`)
  /** What somebody does who has the database alone. On PostgreSQL the log's row says where it ends, and they mend that, too. */
  const doctor = async (sql: string, values: readonly Value[] = []) => {
    await execute(url, sql, values)
    if (engine === 'sqlite') return
    await execute(
      url,
      `UPDATE logs SET next_seq = last.seq + 1, end_offset = last.end_offset
       FROM (SELECT DISTINCT ON (log_id) log_id, seq, end_offset FROM log_entries ORDER BY log_id, seq DESC) AS last WHERE last.log_id = logs.id`,
      [],
    )
  }

  test('a log that nobody touched is proved, whole and in pieces, also after a restart', async () => {
    await appendAll()
    const proved = { lines: 7, unchained: 0, since: OLDER, faults: [] }
    expect(await verify()).toEqual(proved)
    expect(await verify(NAME, 1)).toEqual(proved)
    await restart()
    await append('e0\n')
    expect(await verify(NAME, 1)).toEqual({ ...proved, lines: 8 })
    expect(await verify('agent/none/calls')).toEqual({ ...proved, lines: 0, since: null })
  })

  const setBytes = 'UPDATE log_entries SET bytes = $1 WHERE seq = $2'
  const added = (chain: string) =>
    `INSERT INTO log_entries (log_id, seq, end_offset, at, bytes, chain) SELECT log_id, 4, 24, at, bytes, ${chain} FROM log_entries WHERE seq = 3`
  const closed = 'UPDATE log_entries SET end_offset = end_offset - 3 WHERE seq >= 2'
  type Step = readonly [sql: string, values?: Value[]]
  const DOCTORED: readonly (readonly [what: string, faults: readonly string[], ...steps: Step[]])[] = [
    ['a changed line', ['changed 12'], [setBytes, [bytes('c0\ncX\nc2\n'), 2]]],
    ['a changed time', ['changed 6'], ['UPDATE log_entries SET at = at + 1 WHERE seq = 1']],
    ['lines that changed places', ['changed 9'], [setBytes, [bytes('c1\nc0\nc2\n'), 2]]],
    ['batches that changed places', ['changed 6', 'changed 18'], [setBytes, [bytes('d0\n'), 1]], [setBytes, [bytes('b0\n'), 3]]],
    [
      'batches that changed places with their chains',
      ['changed 6', 'changed 9', 'changed 18'],
      ['UPDATE log_entries SET seq = 99 WHERE seq = 1'],
      ['UPDATE log_entries SET seq = 1, end_offset = 9 WHERE seq = 3'],
      ['UPDATE log_entries SET seq = 3, end_offset = 21 WHERE seq = 99'],
    ],
    ['a removed batch', ['missing 6'], ['DELETE FROM log_entries WHERE seq = 1']],
    ['a removed line', ['changed 12', 'changed 15', 'cut_off 18'], [setBytes, [bytes('c0\nc2\n'), 2]], [closed]],
    ['a removed beginning', ['missing 0'], ['DELETE FROM log_entries WHERE seq = 0']],
    [
      'a removed beginning of a log that is said to begin later',
      ['missing 0'],
      ['DELETE FROM log_entries WHERE seq = 0'],
      ['UPDATE logs SET first_seq = 1, first_offset = 6'],
    ],
    ['an appended line', ['added 21'], [added('NULL')]],
    ['an appended line with the chain of another', ['changed 21'], [added('chain')]],
    ['a cut off end', ['cut_off 18'], ['DELETE FROM log_entries WHERE seq = 3']],
    [
      'a cut off end of a batch',
      ['changed 15', 'cut_off 15'],
      [setBytes, [bytes('c0\nc1\n'), 2]],
      ['DELETE FROM log_entries WHERE seq = 3'],
      ['UPDATE log_entries SET end_offset = 15 WHERE seq = 2'],
    ],
    ['a line without its chain', ['added 6'], ['UPDATE log_entries SET chain = NULL WHERE seq = 1']],
    ['a doctored head', ['head 0'], ['UPDATE logs SET chain_head = $1', [Buffer.alloc(121, 1)]]],
    ['a head that is none', ['head 0'], ['UPDATE logs SET chain_head = $1', [bytes('x')]]],
    [
      'no head, and a last line without its chain',
      ['head 0', 'added 18'],
      ['UPDATE log_entries SET chain = NULL WHERE seq = 3'],
      ['UPDATE logs SET chain_head = NULL'],
    ],
    ['no head', ['head 0'], ['UPDATE logs SET chain_head = NULL']],
  ]
  for (const [what, faults, ...steps] of DOCTORED)
    test(`${what} is found, and still when the log has gone on`, async () => {
      await appendAll()
      for (const [sql, values] of steps) await doctor(sql, values)
      expect((await faultsOf()).toSorted()).toEqual(expect.arrayContaining(faults.toSorted()))
      const before = await verify()
      expect(before.faults.length).toBeLessThanOrEqual(faults.length + 1)
      expect(await faultsOf(1)).toEqual(expect.arrayContaining([...faults]))
      // Who goes on writing makes nothing right that is wrong.
      await restart()
      await append('e0\n')
      await append('f0\n')
      expect((await verify()).faults.length).toBeGreaterThan(0)
      expect((await verify(NAME, 1)).faults.length).toBeGreaterThan(0)
    })

  test('the head of another log and one of an earlier time are found', async () => {
    await appendAll()
    const early = await store.logs.chained(NAME)
    await append('e0\n')
    await appendAll(OTHER)
    await execute(url, 'UPDATE logs SET chain_head = (SELECT o.chain_head FROM logs o WHERE o.name = $1) WHERE name = $2', [
      OTHER,
      NAME,
    ])
    expect(await faultsOf()).toEqual(['head 0'])
    await execute(url, 'UPDATE logs SET chain_head = $1 WHERE name = $2', [early?.head ?? null, NAME])
    expect(await faultsOf()).toEqual(['head 21'])
    expect((await verify(OTHER)).faults).toEqual([])
  })

  test('nobody without the key can prove or forge it', async () => {
    await appendAll()
    const key = new Uint8Array(32).fill(6)
    expect((await verify(NAME, 1_000, key)).faults.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['head', 'changed']))
    await store.logs.append(NAME, [bytes('e0\n')], { chain: new CallChain(key) })
    const { faults } = await verify()
    expect(faults.map(({ kind }) => kind)).toContain('head')
  })

  test('lines from before there were chains are counted apart, also while they roll away', async () => {
    await store.logs.create(NAME, { maxBytes: 64 })
    await store.logs.append(NAME, [bytes('x0\nx1\n')])
    expect(await verify()).toEqual({ lines: 0, unchained: 2, since: null, faults: [] })
    now = 2_000
    await appendAll()
    expect(await verify(NAME, 1)).toEqual({ lines: 7, unchained: 2, since: 2_000, faults: [] })
    for (let index = 0; index < 30; index += 1) {
      await append(`${index}\n`)
      expect(await verify()).toMatchObject({ faults: [] })
    }
    expect(await verify()).toMatchObject({ unchained: 0 })
  })

  test('a log that rolls stays proved, and so does one of which all is too old', async () => {
    await store.logs.create(NAME, { maxBytes: 200 })
    for (let index = 0; index < 60; index += 1) {
      now += 1
      await append(`${index}: a\n${index}: b\n`)
      if (index % 20 === 7) await restart()
    }
    const { lines, faults, since } = await verify(NAME, 1)
    expect(faults).toEqual([])
    expect(lines).toBeGreaterThan(15)
    expect(lines).toBeLessThan(40)
    expect(since).toBeGreaterThan(OLDER + 40)
    const { seq, offset } = await store.logs.start(NAME)
    const trim = { before: now, chain: new CallChain(KEY) }
    expect(await store.logs.trim(NAME, trim)).toBeGreaterThan(0)
    expect(await verify()).toEqual({ lines: 2, unchained: 0, since: now, faults: [] })
    expect((await store.logs.start(NAME)).seq).toBeGreaterThan(seq)
    expect((await store.logs.start(NAME)).offset).toBeGreaterThan(offset)
    await store.logs.trim(NAME, { ...trim, before: now + 1 })
    expect(await verify()).toEqual({ lines: 0, unchained: 0, since: null, faults: [] })
    await append('on\n')
    expect(await verify()).toMatchObject({ lines: 1, faults: [] })
    await doctor('DELETE FROM log_entries')
    expect(await verify()).toMatchObject({ lines: 0, faults: [{ kind: 'cut_off' }] })
  })

  test('what is appended and rolls away meanwhile is no fault', async () => {
    await store.logs.create(NAME, { maxBytes: 400 })
    const chain = new CallChain(KEY)
    const writer = { isDone: false }
    const writing = (async () => {
      for (let index = 0; index < 300; index += 1) {
        await append(`${index}: something\n`, NAME, chain)
        await new Promise((resolve) => setImmediate(resolve))
      }
      writer.isDone = true
    })()
    while (!writer.isDone) expect((await verify(NAME, 50)).faults).toEqual([])
    await writing
  })
})
