import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStore, restoreStore } from '../index.ts'
import { startedJob } from '../fixture/sample-job.ts'
import { ENGINES, type TestEngine, startEngine } from '../testing/engines.ts'
import { execute } from '../testing/execute.ts'

const DAY_MS = 24 * 60 * 60_000
/** What somebody says of the time of gateways that run, as if it were just now. */
const TOLD: readonly (readonly [what: string, value: () => string])[] = [
  ['nothing that can be read', () => '{'],
  ['no object', () => 'null'],
  ['words', () => '{"aheadMs":"x","at":[]}'],
  ['a time long ago', () => JSON.stringify({ aheadMs: 1e15, at: Date.now() })],
  ['a time to come', () => JSON.stringify({ aheadMs: -3.15e12, at: Date.now() })],
]
const TELL = `INSERT INTO settings (key, value) VALUES ('clock', $1) ON CONFLICT (key) DO UPDATE SET value = excluded.value`

describe.each(ENGINES)('the time of a store on %s', (engine) => {
  let host: TestEngine
  let folder = ''
  beforeAll(async () => {
    host = await startEngine(engine)
    folder = await mkdtemp(join(tmpdir(), 'parley-restored-clock-'))
  })
  afterAll(async () => {
    await host.stop()
    await rm(folder, { recursive: true })
  })

  test('what gateways told each other of it is not restored', async () => {
    const file = join(folder, 'told.backup')
    const source = await openStore({ url: `sqlite:${join(folder, 'source.db')}` })
    await source.settings.setOnce('other', 'kept')
    await source.backup(file)
    await source.close()
    const database = new DatabaseSync(file)
    database.prepare(`INSERT INTO settings (key, value) VALUES ('clock', ?)`).run('{"aheadMs":60000,"at":0}')
    database.close()
    const url = await host.freshUrl()
    await restoreStore(file, url)
    const store = await openStore({ url })
    expect([await store.settings.get('clock'), await store.settings.get('other')]).toEqual([undefined, 'kept'])
    await store.close()
  })

  test.each(TOLD)('it is the present one, whatever stands there: %s', async (_what, value) => {
    const url = await host.freshUrl()
    await (await openStore({ url })).close()
    await execute(url, TELL, [value()])
    const store = await openStore({ url })
    const { createdAt } = await startedJob(store)
    expect(Math.abs(createdAt - Date.now())).toBeLessThan(DAY_MS)
    await store.close()
  })
})
