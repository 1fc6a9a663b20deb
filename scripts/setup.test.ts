import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, openScratch } from './testing/scratch.ts'

const root = dirname(import.meta.dirname)
const STAMP = 'node_modules/.parley-setup'
const LOCK = '.cache/setup.lock'

/** Several installs, which take their time where everything else runs too. */
const RUNS_NPM = { timeout: 180_000 }

const MANIFEST = { name: 'tiny', version: '1.0.0', type: 'module', workspaces: ['leaf'] }

/** A project whose only dependency is a folder of its own, so that a real `npm ci` takes a moment and no network. */
function openProject(): Scratch {
  const leaf = { name: 'leaf', version: '1.0.0' }
  const project = openScratch({ 'package.json': MANIFEST, 'package-lock.json': lockFile(), 'leaf/package.json': leaf })
  for (const folder of ['bin', 'scripts/setup']) cpSync(join(root, folder), join(project.root, folder), { recursive: true })
  cpSync(join(root, 'scripts/setup.js'), join(project.root, 'scripts/setup.js'))
  return project
}

function lockFile(more: object = {}): object {
  const { type: _, ...top } = MANIFEST
  const packages = { '': top, leaf: { version: '1.0.0' }, 'node_modules/leaf': { resolved: 'leaf', link: true } }
  return { name: 'tiny', version: '1.0.0', lockfileVersion: 3, requires: true, packages, ...more }
}

function setUp({ root: cwd }: Scratch, ...args: readonly string[]): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, ['scripts/setup.js', ...args], { cwd, encoding: 'utf8' })
}

test('installs once, then has nothing to say', RUNS_NPM, () => {
  using project = openProject()
  expect(setUp(project, '--for', 'check')).toMatchObject({
    status: 0,
    stderr: expect.stringContaining('installing dependencies'),
  })
  expect(setUp(project, '--for', 'check')).toMatchObject({ status: 0, stdout: '', stderr: '' })
})

test('installs again when the lock file has changed or node_modules is gone', RUNS_NPM, () => {
  using project = openProject()
  setUp(project)
  project.write('package-lock.json', lockFile({ note: 'changed' }))
  rmSync(join(project.root, 'node_modules/.package-lock.json'), { force: true })
  expect(setUp(project).stderr).toContain('installing dependencies')
  rmSync(join(project.root, 'node_modules'), { recursive: true })
  expect(setUp(project).stderr).toContain('installing dependencies')
})

test('takes what somebody installed by hand, if it is what the lock file says', RUNS_NPM, () => {
  using project = openProject()
  const installed = { lockfileVersion: 3, packages: { 'node_modules/a': { version: '1.0.0' } } }
  project.write('package-lock.json', lockFile({ packages: { '': { name: 'tiny' }, 'node_modules/a': { version: '1.0.0' } } }))
  project.write('node_modules/.package-lock.json', installed)
  project.write('node_modules/a/package.json', { name: 'a', version: '1.0.0' })
  expect(setUp(project)).toMatchObject({ status: 0, stderr: '' })
  expect(existsSync(join(project.root, STAMP))).toBe(true)
})

test('two at once install once', RUNS_NPM, async () => {
  using project = openProject()
  const ended = await Promise.all([1, 2, 3].map(() => setUpBeside(project)))
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0])
  expect(ended.filter(({ stderr }) => stderr.includes('installing dependencies'))).toHaveLength(1)
  expect(existsSync(join(project.root, LOCK))).toBe(false)
})

test('the lock of a process that died is taken over', RUNS_NPM, () => {
  using project = openProject()
  const dead = spawnSync(process.execPath, ['-e', ''])
  project.write(LOCK, String(dead.pid))
  expect(setUp(project)).toMatchObject({ status: 0, stderr: expect.stringContaining('installing dependencies') })
  expect(readFileSync(join(project.root, STAMP), 'utf8')).toMatch(/^[0-9a-f]{64} /)
})

test('an install that fails leaves no stamp and says what failed', RUNS_NPM, () => {
  using project = openProject()
  project.write('package.json', { ...MANIFEST, dependencies: { 'not-in-the-lock': '1.0.0' } })
  const { status, stderr } = setUp(project)
  expect({ status, last: stderr.trimEnd().split('\n').at(-1) }).toMatchObject({
    status: 1,
    last: expect.stringMatching(/^setup: .*npm.* ci .*ended with code/),
  })
  expect(existsSync(join(project.root, STAMP))).toBe(false)
})

test('an unknown purpose is a usage error', RUNS_NPM, () => {
  using project = openProject()
  expect(setUp(project, '--for', 'fun')).toMatchObject({
    status: 1,
    stderr: 'setup: usage: node scripts/setup.js [--for start|test|verify|check|soak|bench]\n',
  })
})

/** As on a machine with nothing on it, where nothing can be installed either. */
function setUpBare(
  { root: cwd }: Scratch,
  purpose: string,
  more: Readonly<Record<string, string>> = {},
): SpawnSyncReturns<string> {
  const env = { PATH: '/nowhere', HOME: cwd, ...more }
  return spawnSync(process.execPath, ['scripts/setup.js', '--for', purpose], { cwd, encoding: 'utf8', env })
}

test('what is missing is named with the way to get it, and ends what would fail later', RUNS_NPM, () => {
  using project = openProject()
  setUp(project)
  for (const purpose of ['test', 'verify', 'soak', 'bench'])
    expect({ purpose, ...setUpBare(project, purpose) }).toMatchObject({
      purpose,
      status: 1,
      stderr: expect.stringMatching(
        /^setup: missing: .*g\+\+.*\. To install: .*(apt-get|brew) install .*\nsetup: PARLEY_SETUP=skip /,
      ),
    })
  expect(setUpBare(project, 'bench').stderr).toContain('wrk')
})

test('a start goes on without, and so does whoever wants to', RUNS_NPM, () => {
  using project = openProject()
  setUp(project)
  const told = { status: 0, stderr: expect.stringMatching(/^setup: missing: .*To install: .*\n$/) }
  expect(setUpBare(project, 'start')).toMatchObject(told)
  expect(setUpBare(project, 'test', { PARLEY_SETUP: 'skip' })).toMatchObject(told)
  expect(setUpBare(project, 'check')).toMatchObject({ status: 0, stderr: '' })
  expect(setUpBare(project, 'test', { PARLEY_SETUP: 'maybe' })).toMatchObject({
    status: 1,
    stderr: 'setup: PARLEY_SETUP is maybe; it may be install or skip\n',
  })
})

async function setUpBeside({ root: cwd }: Scratch): Promise<{ readonly code: number | null; readonly stderr: string }> {
  const child = spawn(process.execPath, ['scripts/setup.js'], { cwd, stdio: ['ignore', 'ignore', 'pipe'] })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const code = await new Promise<number | null>((resolve, reject) => child.on('close', resolve).on('error', reject))
  return { code, stderr }
}
