import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { cpSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, openScratch } from '../testing/scratch.ts'

const root = dirname(dirname(import.meta.dirname))
const LIMIT = { timeout: 180_000 }

const GOOD = `import { test } from 'vitest'\ntest('holds', () => undefined)\ntest('leaves', (context) => context.skip('not here'))\n`
const BAD = `import { test } from 'vitest'\ntest('breaks', () => { throw new Error('no') })\n`
const part = (name: string) => ({
  name,
  what: `all of ${name}`,
  files: [`packages/${name}/src/*.verify.test.ts`],
  rooms: [name],
  minutes: 1,
})

/** A project with the real runner, two rooms and three parts; the last one has lost its files. */
function openProject(): Scratch {
  const room = (name: string) => ({ name, imports: [], does: name })
  const project = openScratch({
    'package.json': { name: 'tiny', type: 'module' },
    'rooms.json': {
      scope: '@tiny',
      rooms: ['good', 'bad', 'gone'].map(room),
      owners: { imports: {}, harmless: {}, globals: {} },
    },
    'packages/good/src/a.verify.test.ts': GOOD,
    'packages/good/src/b.test.ts': BAD,
    'packages/bad/src/a.verify.test.ts': BAD,
  })
  for (const path of ['vitest.config.ts', 'scripts/verify', 'scripts/run', 'scripts/test', 'scripts/check'])
    cpSync(join(root, path), join(project.root, path), { recursive: true })
  project.write('scripts/verify/parts.json', ['good', 'bad', 'gone'].map(part))
  symlinkSync(join(root, 'node_modules'), join(project.root, 'node_modules'))
  return project
}

function verify({ root: cwd }: Scratch, ...args: readonly string[]): SpawnSyncReturns<string> {
  const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_ENV$|TEST$|GIT_)/.test(name))
  const env = { ...Object.fromEntries(own), GIT_CEILING_DIRECTORIES: dirname(cwd) }
  return spawnSync(process.execPath, ['scripts/verify/main.ts', ...args], { cwd, env, encoding: 'utf8' })
}

const lastLines = (output: string, count: number): readonly string[] =>
  output
    .trimEnd()
    .split('\n')
    .slice(-count)
    .map((line) => line.replace(/ \(\d+ s\)$/, ''))

test('all parts are run, each is summed up, and the last line is that of npm test', LIMIT, () => {
  using project = openProject()
  const { status, stdout } = verify(project)
  expect({ status, last: lastLines(stdout, 4) }).toEqual({
    status: 1,
    last: [
      'good       1 passed, 0 failed, 1 skipped',
      'bad        0 passed, 1 failed',
      'gone       0 passed, 1 failed',
      '1 passed, 2 failed, 1 skipped',
    ],
  })
  expect(stdout).toContain('verify: gone: no file matches packages/gone/src/*.verify.test.ts')
})

test('one part is run by its name, also where it is not known what has changed, and that is said', LIMIT, () => {
  using project = openProject()
  const { status, stdout } = verify(project, '--changed', 'good')
  expect(stdout).toMatch(/^verify: \.ci\/landed does not hold the id of a commit: every part is run\nverify: good is run: /)
  expect({ status, last: lastLines(stdout, 2) }).toEqual({
    status: 0,
    last: ['good       1 passed, 0 failed, 1 skipped', '1 passed, 0 failed, 1 skipped'],
  })
})

test('parts are listed, and an unknown one is answered with those that there are', LIMIT, () => {
  using project = openProject()
  expect(verify(project, '--list').stdout.split('\n')[0]).toBe('good       all of good (good; 1 minutes)')
  const { status, stderr } = verify(project, 'good', 'better')
  expect({ status, stderr }).toEqual({ status: 2, stderr: 'no part is called better; there are good, bad, gone\n' })
})

test('an option that there is not is answered with those that there are, and help is no failure', LIMIT, () => {
  using project = openProject()
  const usage = 'npm run verify -- [PART…] [--changed] | --list\n'
  const wrong = verify(project, '--nonsense')
  expect({ status: wrong.status, stdout: wrong.stdout }).toEqual({ status: 2, stdout: '' })
  expect(wrong.stderr).toMatch(/^Unknown option '--nonsense'[^\n]*\n[^\n]*\n$/)
  expect(wrong.stderr.endsWith(usage)).toBe(true)
  expect(verify(project, '--help')).toMatchObject({ status: 0, stdout: '', stderr: usage })
})
