import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ModelScript } from '@parley/protocol'
import { afterAll, expect, test } from 'vitest'
import { dataDirAt } from './data-dir.ts'
import { scriptsOf } from './scripts.ts'

const folder = mkdtempSync(join(tmpdir(), 'parley-scripts-'))
afterAll(() => rmSync(folder, { recursive: true }))
const data = dataDirAt('/', join(folder, 'data'))

test('the scripts of the examples are found by name, each of them a script', async () => {
  const scripts = scriptsOf(dataDirAt('/', join(folder, 'empty')))
  expect(await scripts.names()).toEqual(['goldbach', 'knapsack', 'stairs'])
  for (const name of await scripts.names()) {
    const script = ModelScript.parse(JSON.parse((await scripts.read(name)) ?? 'null'))
    expect(script.model).toBe(`script-${name}`)
  }
})

test('an instance may have scripts of its own, and they go first', async () => {
  mkdirSync(data.scripts, { recursive: true })
  writeFileSync(join(data.scripts, 'own.json'), 'mine')
  writeFileSync(join(data.scripts, 'knapsack.json'), 'mine too')
  writeFileSync(join(data.scripts, 'notes.txt'), 'not a script')
  const scripts = scriptsOf(data)
  expect(await scripts.names()).toEqual(['goldbach', 'knapsack', 'own', 'stairs'])
  expect([await scripts.read('own'), await scripts.read('knapsack'), await scripts.read('none')]).toEqual([
    'mine',
    'mine too',
    undefined,
  ])
})

test.each(['../secret', '/etc/passwd', 'a/b', '.', '', 'Knapsack', 'knapsack.json', 'knapsack/script'])(
  'there is no script %j, whatever lies there',
  async (name) => {
    mkdirSync(data.path, { recursive: true })
    writeFileSync(join(data.path, 'secret.json'), 'secret')
    expect(await scriptsOf(data).read(name)).toBe(undefined)
  },
)
