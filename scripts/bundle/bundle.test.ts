import { cpSync, readdirSync, renameSync, symlinkSync, utimesSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { currentBundle } from '../../bin/bundle.js'
import { type Scratch, openScratch } from '../testing/scratch.ts'
import { buildBundle } from './build-bundle.ts'

const root = dirname(dirname(import.meta.dirname))
const MAIN = 'packages/cli/src/main.ts'
const STARTED = 'packages/cli/src/below/started-main.ts'

/** Tells where it believes to be, and what it would start. */
const TELLS = `import { word } from '@tiny/leaf'
export async function main(): Promise<number> {
  const started = new URL('./below/started-main.ts', import.meta.url)
  const { said } = await import('./later.ts')
  process.stdout.write(JSON.stringify({ word, said, url: import.meta.url, folder: import.meta.dirname, started: String(started) }))
  return 3
}
`

/** A clone with a program of two rooms in place of ours. */
function openClone(): Scratch {
  const clone = openScratch({
    'package.json': { name: 'tiny', type: 'module' },
    'package-lock.json': {},
    'packages/cli/package.json': { name: '@tiny/cli', type: 'module' },
    'packages/leaf/package.json': { name: '@tiny/leaf', type: 'module', exports: './src/index.ts' },
    'packages/leaf/src/index.ts': `export * from './word.ts'\n`,
    'packages/leaf/src/word.ts': `export const word: string = 'first'\n`,
    [MAIN]: TELLS,
    'packages/cli/src/later.ts': `export const said: string = 'later'\n`,
    [STARTED]: `export {}\n`,
    'node_modules/.package-lock.json': {},
    'node_modules/@tiny/none': '',
  })
  symlinkSync('../../packages/leaf', join(clone.root, 'node_modules/@tiny/leaf'))
  cpSync(join(root, 'bin'), join(clone.root, 'bin'), { recursive: true })
  return clone
}

function launch(folder: string): { readonly status: number | null; readonly told: unknown } {
  const { status, stdout } = spawnSync(process.execPath, [join(folder, 'bin/parley.js')], { encoding: 'utf8' })
  return { status, told: JSON.parse(stdout) }
}

/** What the program tells when it runs from its sources; from the bundle only what it starts lies elsewhere. */
function toldIn(folder: string, word = 'first'): object {
  const place = join(folder, dirname(MAIN))
  const url = (path: string): string => pathToFileURL(join(folder, path)).href
  return { word, said: 'later', url: url(MAIN), folder: place, started: url(STARTED) }
}

test('the launcher runs the bundle, which finds its files where the sources lie and starts programs of the bundle', async () => {
  using clone = openClone()
  expect(launch(clone.root)).toEqual({ status: 3, told: toldIn(clone.root) })
  await buildBundle(clone.root, [MAIN, STARTED])
  const main = currentBundle(clone.root) ?? ''
  const started = pathToFileURL(join(dirname(main), 'started-main.js')).href
  expect(launch(clone.root)).toEqual({ status: 3, told: { ...toldIn(clone.root), started } })
})

const OTHER = `export const word: string = 'other'\n`

test.each([
  ['the word of a room', { 'packages/leaf/src/word.ts': OTHER }],
  ['what a room shows', { 'packages/leaf/src/index.ts': OTHER }],
  [
    'where a room begins',
    {
      'packages/leaf/package.json': { name: '@tiny/leaf', type: 'module', exports: './src/other.ts' },
      'packages/leaf/src/other.ts': OTHER,
    },
  ],
])('the sources run as soon as they are not what the bundle was built from: %s', async (_, files) => {
  using clone = openClone()
  await buildBundle(clone.root, [MAIN, STARTED])
  for (const [path, text] of Object.entries(files)) clone.write(path, text)
  expect(currentBundle(clone.root)).toBeUndefined()
  expect(launch(clone.root)).toEqual({ status: 3, told: toldIn(clone.root, 'other') })
})

test.each(['package-lock.json', 'node_modules/.package-lock.json', MAIN])(
  'what has another time is another: %s',
  async (path) => {
    using clone = openClone()
    await buildBundle(clone.root, [MAIN, STARTED])
    utimesSync(join(clone.root, path), 1, 1)
    expect(currentBundle(clone.root)).toBeUndefined()
  },
)

test('a clone that was moved runs from its sources', async () => {
  using clone = openClone()
  using elsewhere = openScratch()
  await buildBundle(clone.root, [MAIN, STARTED])
  const moved = join(elsewhere.root, 'moved')
  renameSync(clone.root, moved)
  expect(launch(moved)).toEqual({ status: 3, told: toldIn(moved) })
})

test('whoever runs the bundle before still finds its parts; older ones go', async () => {
  using clone = openClone()
  const mains: string[] = []
  for (const word of ['a', 'b', 'c', 'd', 'e']) {
    clone.write('packages/leaf/src/word.ts', `export const word: string = '${word.repeat(mains.length + 1)}'\n`)
    await buildBundle(clone.root, [MAIN, STARTED])
    mains.push(currentBundle(clone.root) ?? '')
  }
  const left = readdirSync(join(clone.root, 'packages/cli/dist')).filter((name) => name !== 'sources.json')
  expect(left.toSorted()).toEqual(
    mains
      .slice(-3)
      .map((path) => dirname(path).slice(-16))
      .toSorted(),
  )
  expect(launch(clone.root)).toMatchObject({ told: { word: 'eeeee' } })
})

test('a program that is started and was forgotten among the entries stops the build', async () => {
  using clone = openClone()
  await expect(buildBundle(clone.root, [MAIN])).rejects.toThrow('started-main.ts, which is no entry of the bundle')
})
