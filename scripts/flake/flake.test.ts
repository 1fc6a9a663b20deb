import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { type Scratch, openScratch } from '../testing/scratch.ts'

const root = dirname(dirname(import.meta.dirname))
const LIMIT = { timeout: 180_000 }

const GOOD = `import { test } from 'vitest'\ntest('holds', () => undefined)\n`
/** Fails the second time that it is run. */
const FLIPS = `import { appendFileSync, readFileSync } from 'node:fs'
import { test } from 'vitest'
test('flips', () => {
  appendFileSync('flips', 'x')
  if (readFileSync('flips', 'utf8') === 'xx') throw new Error('this once')
})
`
const BREAKS = `import { test } from 'vitest'\ntest('breaks', () => { throw new Error('every time\\nand more') })\n`
const STRAYS = `import { test } from 'vitest'\ntest('strays', () => { setImmediate(() => { throw new Error('late') }) })\n`
/** Tells its number and that of a child, and never ends while it may not. */
const HANGS = `import { spawn } from 'node:child_process'
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
test('waits', { timeout: 600_000 }, async () => {
  if (existsSync('may-end')) return
  const child = spawn('sleep', ['600'], { stdio: 'ignore' })
  writeFileSync('pids.new', JSON.stringify([process.pid, child.pid]))
  renameSync('pids.new', 'pids')
  await new Promise(() => {})
})
`

/** A project with these tests and the real command. */
function openProject(tests: Readonly<Record<string, string>>): Scratch {
  const project = openScratch({ 'package.json': { name: 'tiny', type: 'module' } })
  for (const [path, source] of Object.entries(tests)) project.write(path, source)
  for (const path of ['vitest.config.ts', 'scripts/flake', 'scripts/run', 'scripts/test', 'scripts/cache'])
    cpSync(join(root, path), join(project.root, path), { recursive: true, filter: (from) => !from.endsWith('.test.ts') })
  symlinkSync(join(root, 'node_modules'), join(project.root, 'node_modules'))
  mkdirSync(join(project.root, 'tmp'))
  return project
}

function start({ root: cwd }: Scratch, ...args: readonly string[]): ChildProcess {
  const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_ENV$|TEST$|TEST_RUN_ID$)/.test(name))
  const env = { ...Object.fromEntries(own), PARLEY_CACHE: join(cwd, 'cache'), TMPDIR: join(cwd, 'tmp') }
  return spawn(process.execPath, ['scripts/flake/main.ts', ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
}

async function ended(child: ChildProcess): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  const said = (stream: ChildProcess['stdout']) => (stream === null ? '' : text(stream))
  const [[code], out, err] = await Promise.all([once(child, 'exit'), said(child.stdout), said(child.stderr)])
  return { code: typeof code === 'number' ? code : null, out, err }
}

const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
const pidsOf = ({ root: folder }: Scratch): number[] =>
  existsSync(join(folder, 'pids')) ? JSON.parse(readFileSync(join(folder, 'pids'), 'utf8')) : []
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)

test('what is not the same each time is listed, with its seed; what fails each time and what strays, apart', LIMIT, async () => {
  using project = openProject({
    'packages/a/src/good.test.ts': GOOD,
    'packages/a/src/flips.test.ts': FLIPS,
    'packages/a/src/breaks.test.ts': BREAKS,
    'packages/a/src/strays.test.ts': STRAYS,
  })
  const { code, out } = await ended(start(project, '--seed', '40', '--times', '2'))
  const lines = out.replaceAll(project.root, 'ROOT').split('\n')
  const listed = lines.slice(lines.indexOf('not the same each time:')).map((line) => line.replace(/ROOT\S*\/logs/, 'LOGS'))
  expect(listed).toEqual([
    'not the same each time:',
    '  packages/a/src/flips.test.ts > flips',
    '    in 1 of 2 runs of a',
    '    run 2, seed 41: Error: this once, log LOGS/a-2.log',
    '    again: npm run flake -- --part a --seed 41 --times 1',
    '',
    'failed each time:',
    '  packages/a/src/breaks.test.ts > breaks',
    '    in 2 of 2 runs of a',
    ...[1, 2].map((run) => `    run ${run}, seed ${39 + run}: Error: every time, log LOGS/a-${run}.log`),
    '    again: npm run flake -- --part a --seed 40 --times 1',
    '',
    'outside of any test:',
    '  Error: late',
    '    in 2 of 2 runs of a',
    ...[1, 2].map((run) => `    run ${run}, seed ${39 + run}, log LOGS/a-${run}.log`),
    '    again: npm run flake -- --part a --seed 40 --times 1',
    '',
    '',
  ])
  expect(code).toBe(1)
  expect(readdirSync(join(project.root, 'tmp'))).toEqual([])
})

test('Ctrl-C leaves nothing behind, and the run goes on after the last finished part', LIMIT, async () => {
  using project = openProject({ 'packages/a/src/good.test.ts': GOOD, 'packages/b/src/hangs.test.ts': HANGS })
  const child = start(project, '--times', '1', '--load')
  const ending = ended(child)
  await expect.poll(() => pidsOf(project), { timeout: 60_000 }).toHaveLength(2)
  const all = [...pidsOf(project), ...childrenOf(child.pid ?? 0)]
  expect(all.length).toBeGreaterThan(3)
  child.kill('SIGINT')
  expect(await ending).toMatchObject({ code: 130, err: 'stopped. To go on: npm run flake -- --resume\n' })
  expect(all.filter(isAlive)).toEqual([])
  expect(readdirSync(join(project.root, 'tmp'))).toEqual([])
  project.write('may-end', '')
  const { code, out } = await ended(start(project, '--resume'))
  expect({
    code,
    lines: out
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/(seed) \d+/, '$1 N').replace(/ \(\d+ s\).*/, '')),
  }).toEqual({
    code: 0,
    lines: [
      'seed N, 1 times, every core busy; 1 parts were done before',
      'b 1/1 seed N: 1 tests, 0 failed',
      'nothing to list: 2 tests in 2 parts, the same 1 times',
    ],
  })
})

test('kill -9 leaves no process behind', LIMIT, async () => {
  using project = openProject({ 'packages/b/src/hangs.test.ts': HANGS })
  const child = start(project, '--load')
  await expect.poll(() => pidsOf(project), { timeout: 60_000 }).toHaveLength(2)
  const all = [...pidsOf(project), ...childrenOf(child.pid ?? 0)]
  child.kill('SIGKILL')
  await once(child, 'exit')
  await expect.poll(() => all.filter(isAlive)).toEqual([])
})

test('what cannot be run is answered in words', LIMIT, async () => {
  using project = openProject({ 'packages/a/src/good.test.ts': GOOD })
  expect(await ended(start(project, '--resume'))).toMatchObject({
    code: 2,
    err: expect.stringContaining('there is no run to go on with'),
  })
  expect(await ended(start(project, 'nowhere'))).toMatchObject({ code: 2, err: 'no test has a path with nowhere\n' })
  expect(await ended(start(project, '--part', 'z'))).toMatchObject({ code: 2, err: 'no part is called z; there are a\n' })
})
