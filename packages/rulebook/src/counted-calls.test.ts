import { afterEach, beforeEach, expect, test } from 'vitest'
import { type LayerPolicy, compilePolicy } from '@parley/policy'
import { AgentId, iso } from '@parley/protocol'
import { type Store, callsLog, openStore } from '@parley/store'
import { type TestEngine, startEngine } from '@parley/store/testing'
import { countedCalls } from './counted-calls.ts'
import { policyIn } from './policy-view.ts'

const ID = AgentId.parse('agt_00000000000000000000000001')
const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const EXAMPLE = '\n[[example]]\ncall = { tool = "x" }\ndecision = "ask"\n'

let host: TestEngine
let store: Store
let now: number
beforeEach(async () => {
  now = 20_000 * DAY_MS
  host = await startEngine('sqlite')
  store = await openStore({ url: await host.migratedUrl(), now: () => now })
})
afterEach(async () => {
  await store.close()
  await host.stop()
})

const layers = async (rule: string): Promise<readonly LayerPolicy[]> => [
  { layer: 'agent', policy: compilePolicy(await policyIn(`[[rule]]\nname = "few"\ndecision = "allow"\n${rule}\n${EXAMPLE}`)) },
]
const TRANSFERS = await layers('tool = "transfer"\ncounts = { day = 2 }')
const RESOURCES = await layers('resource = "*"\ncounts = { hour = 2 }')

const line = (kind: string, name: string, more: object = {}): string =>
  `${JSON.stringify({ at: iso(now), id: 1, step: 'decided', by: 't', kind, mount: 'm', name, decision: { kind: 'allow' }, ...more })}\n`
const write = (text: string, rolls?: { maxBytes: number }) =>
  store.logs.append(callsLog(ID), [Buffer.from(text)], rolls === undefined ? {} : { rolls })
const transfers = (calls: number) => ({
  counted: [{ kind: 'tool', mount: 'm', name: 'transfer', minute: now / MINUTE_MS, calls }],
  counted_from: 0,
})

test('only what a rule counts is told, however much else was done before and after it', async () => {
  const reads = (from: number) => Array.from({ length: 2_100 }, (_, at) => line('resource', `file:///${from + at}`)).join('')
  await write(reads(0))
  await write(line('tool', 'transfer') + line('tool', 'transfer', { decision: { kind: 'deny' } }) + line('tool', 'transfer'))
  await write(reads(5_000))
  expect(await countedCalls(store, ID, TRANSFERS)).toEqual(transfers(2))
  expect(await countedCalls(store, ID, await layers('tool = "transfer"'))).toEqual({ counted: [], counted_from: 0 })
})

test('calls of which not all was written down count as well', async () => {
  await write(line('tool', 'transfer', { cut: true, chars: 20_000, begins: '{' }))
  expect(await countedCalls(store, ID, TRANSFERS)).toEqual(transfers(1))
  await write(line('resource', `sha256:${'0'.repeat(64)}`, { cut: true, chars: 20_000, begins: '{' }))
  expect((await countedCalls(store, ID, TRANSFERS)).counted).toHaveLength(2)
})

test('it is looked for in the whole day, however much was written since', async () => {
  await write(line('tool', 'transfer'))
  now += DAY_MS
  await write(line('tool', 'transfer'))
  for (let at = 0; at < 20; at += 1) await write(line('tool', 'other', { arguments: { text: 'x'.repeat(500_000) } }))
  now += MINUTE_MS * 30
  const { counted, counted_from: from } = await countedCalls(store, ID, TRANSFERS)
  expect({ counted, from }).toEqual({
    counted: [{ kind: 'tool', mount: 'm', name: 'transfer', minute: now / MINUTE_MS - 30, calls: 1 }],
    from: 0,
  })
})

test('where a log that rolls does not reach back for a day, it is said from when on everything is known', async () => {
  await write(line('tool', 'transfer'), { maxBytes: 100_000 })
  for (let at = 0; at < 40; at += 1) await write(line('tool', 'other', { arguments: 'x'.repeat(10_000) }), { maxBytes: 100_000 })
  expect((await store.logs.start(callsLog(ID))).offset).toBeGreaterThan(0)
  expect(await countedCalls(store, ID, TRANSFERS)).toEqual({ counted: [], counted_from: now / MINUTE_MS + 1 })
  now += DAY_MS + 2 * MINUTE_MS
  expect(await countedCalls(store, ID, TRANSFERS)).toEqual({ counted: [], counted_from: 0 })
})

test('of more things than a host has room for those are told that were done last; of far too many nothing is known', async () => {
  const reads = (count: number) => Array.from({ length: count }, (_, at) => line('resource', `file:///${at}`)).join('')
  await write(reads(2_100))
  now += MINUTE_MS
  await write(line('resource', 'file:///0'))
  const { counted, counted_from: from } = await countedCalls(store, ID, RESOURCES)
  expect(from).toBe(0)
  expect(new Set(counted.map(({ name }) => name)).size).toBe(2_000)
  expect(counted.filter(({ name }) => name === 'file:///0').map(({ calls }) => calls)).toEqual([1, 1])
  await write(reads(20_001))
  expect(await countedCalls(store, ID, RESOURCES)).toEqual({ counted: [], counted_from: now / MINUTE_MS + 1 })
})

test('calls in too many minutes are told as of the last of them, which is stricter', async () => {
  for (let at = 0; at < 11; at += 1) {
    await write(Array.from({ length: 1_900 }, (_, name) => line('resource', `file:///${name}`)).join(''))
    now += MINUTE_MS
  }
  const { counted } = await countedCalls(store, ID, RESOURCES)
  expect(counted).toHaveLength(1_900)
  expect(new Set(counted.map(({ minute, calls }) => `${minute - now / MINUTE_MS} ${calls}`))).toEqual(new Set(['-1 11']))
})
