import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Scratch, openScratch } from './testing/scratch.ts'

const root = dirname(import.meta.dirname)
const POLL_MS = 20
const POLL_LIMIT_MS = 60_000

/** Makes this Node look like an old one to the launcher: with and without the call that replaces a process. */
const OLD = [
  `--import=data:text/javascript,${encodeURIComponent(`Object.defineProperty(process.versions,'node',{value:'20.0.0'});delete process.execve`)}`,
]
const OLD_WITH_EXECVE = [
  `--import=data:text/javascript,${encodeURIComponent(`Object.defineProperty(process.versions,'node',{value:'22.15.0'})`)}`,
]

/** A package with the real launcher and a small program in place of the command line. */
function openPackage(main: string): Scratch {
  const made = openScratch({ 'package.json': { name: 'tiny', type: 'module' }, 'packages/cli/src/main.ts': main })
  cpSync(join(root, 'bin'), join(made.root, 'bin'), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(made.root, 'node_modules'))
  return made
}

const TELLS = `export async function main(argv: readonly string[]): Promise<number> {
  process.stdout.write(JSON.stringify({ argv, major: Number(process.version.slice(1).split('.')[0]), lifeline: process.env['PARLEY_LIFELINE_FD'] ?? null }))
  return 3
}`

test.each([
  ['this Node', []],
  ['an old Node', OLD],
  ['an old Node with execve', OLD_WITH_EXECVE],
])('on %s it goes on with Node 26: arguments in, output and exit code out', (_, flags) => {
  using made = openPackage(TELLS)
  const { status, stdout } = spawnSync(process.execPath, [...flags, 'bin/parley.js', 'a b', '--c', ''], {
    cwd: made.root,
    encoding: 'utf8',
  })
  expect({ status, ...Object(JSON.parse(stdout)) }).toEqual({ status: 3, argv: ['a b', '--c', ''], major: 26, lifeline: null })
})

test.each([
  ['this Node', []],
  ['an old Node', OLD],
])('on %s, in a folder that was deleted, it says so in one line', (_, flags) => {
  using made = openPackage(TELLS)
  made.write('gone/file', '')
  const { status, stdout, stderr } = spawnSync(
    '/bin/sh',
    ['-c', 'rm -r ../gone && exec "$@"', 'sh', process.execPath, ...flags, join(made.root, 'bin/parley.js'), 'a'],
    { cwd: join(made.root, 'gone'), encoding: 'utf8' },
  )
  expect({ status, stdout, stderr }).toEqual({
    status: 2,
    stdout: '',
    stderr: 'parley: the folder that you are in is gone (cd to one that is there)\n',
  })
})

test('what was compiled is kept where nobody else can put something in its place, and nowhere else', () => {
  using made = openPackage(TELLS)
  const kept = (cache: string): number => {
    const env = { ...process.env, PARLEY_CACHE: join(made.root, cache), NODE_COMPILE_CACHE: '' }
    expect(spawnSync(process.execPath, ['bin/parley.js'], { cwd: made.root, env, encoding: 'utf8' }).status).toBe(3)
    return readdirSync(join(made.root, cache, 'compiled')).length
  }
  mkdirSync(join(made.root, 'own'))
  expect(kept('own')).toBeGreaterThan(0)
  mkdirSync(join(made.root, 'open/below'), { recursive: true })
  chmodSync(join(made.root, 'open'), 0o777)
  expect(kept('open/below')).toBe(0)
})

test.each([
  ['the Node of the package', '.:', true],
  ['one on PATH', ':', false],
])('in a folder with programs of its own, on a PATH that leads there, none of them is run: %s', (_, first, isCarried) => {
  using made = openPackage(TELLS)
  if (!isCarried) rmSync(join(made.root, 'node_modules'))
  mkdirSync(join(made.root, 'hostile'))
  for (const name of ['dirname', 'readlink', 'node', 'basename', 'ls', 'printf', 'env', 'command'])
    writeFileSync(join(made.root, 'hostile', name), `#!/bin/sh\necho ${name} >> ran\n`, { mode: 0o755 })
  symlinkSync('bin/parley', join(made.root, 'first'))
  symlinkSync(join(made.root, 'first'), join(made.root, 'second'))
  for (const called of ['../bin/parley', '../first', join(made.root, 'second')]) {
    const { status, stdout } = spawnSync(called, ['a b'], {
      cwd: join(made.root, 'hostile'),
      env: { PATH: `${first}hostile:../hostile:${dirname(process.execPath)}:/usr/bin:/bin:` },
      encoding: 'utf8',
    })
    expect({ status, ...Object(JSON.parse(stdout)) }).toMatchObject({ status: 3, argv: ['a b'] })
  }
  expect(existsSync(join(made.root, 'hostile/ran'))).toBe(false)
})

test('without a usable Node it says what to install', () => {
  using made = openScratch({ 'package.json': { name: 'tiny', type: 'module' } })
  cpSync(join(root, 'bin'), join(made.root, 'bin'), { recursive: true })
  const { status, stderr } = spawnSync(process.execPath, [...OLD, 'bin/parley.js'], { cwd: made.root, encoding: 'utf8' })
  expect(status).toBe(1)
  expect(stderr).toMatch(/^parley needs Node 26 or newer and .*: (run npm run setup in \/.*|install Node 26 yourself)\n$/)
})

test('in a clone that nothing was installed in it says what to run, and where', () => {
  using made = openScratch({
    'package.json': { name: 'tiny', type: 'module' },
    'packages/cli/src/main.ts': `import { parseLine } from '@parley/command-line'\nexport const main = parseLine\n`,
  })
  cpSync(join(root, 'bin'), join(made.root, 'bin'), { recursive: true })
  const { status, stderr } = spawnSync(process.execPath, [join(made.root, 'bin/parley.js')], { cwd: '/', encoding: 'utf8' })
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: `parley: its packages are not installed yet (run npm run setup in ${made.root})\n`,
  })
})

/** Writes its pid, then counts the signals it gets; ends 200 ms after the first one. */
const WAITS = `import { appendFileSync, writeFileSync } from 'node:fs'
export function main(): Promise<number> {
  return new Promise((resolve) => {
    const alive = setInterval(() => undefined, 1000)
    process.on('SIGTERM', () => {
      appendFileSync('signals', 'SIGTERM ')
      setTimeout(() => { clearInterval(alive); resolve(5) }, 200)
    })
    writeFileSync('pid', String(process.pid))
  })
}`

test('a signal to the launcher reaches the program once', async () => {
  using made = openPackage(WAITS)
  const launcher = spawn(process.execPath, [...OLD, 'bin/parley.js'], { cwd: made.root, stdio: 'ignore' })
  const ended = endOf(launcher)
  await until(() => readPid(made) !== undefined)
  launcher.kill('SIGTERM')
  expect(await ended).toBe(5)
  expect(readFileSync(join(made.root, 'signals'), 'utf8')).toBe('SIGTERM ')
})

test('kill -9 of the launcher leaves no process behind', async () => {
  using made = openPackage(WAITS)
  const launcher = spawn(process.execPath, [...OLD, 'bin/parley.js'], { cwd: made.root, stdio: 'ignore' })
  const ended = endOf(launcher)
  await until(() => readPid(made) !== undefined)
  const pid = readPid(made)
  if (pid === undefined) throw new Error('the program did not start')
  launcher.kill('SIGKILL')
  await ended
  await until(() => !isAlive(pid))
  expect(readFileSync(join(made.root, 'signals'), 'utf8')).toBe('SIGTERM ')
})

test('under npm it ends when the shell that npm started is gone', async () => {
  using made = openPackage(WAITS)
  const env = { ...process.env, npm_lifecycle_event: 'start' }
  const shell = spawn('sh', ['-c', `"${process.execPath}" bin/parley.js; exit 0`], { cwd: made.root, stdio: 'ignore', env })
  const ended = endOf(shell)
  await until(() => readPid(made) !== undefined)
  const pid = readPid(made)
  if (pid === undefined) throw new Error('the program did not start')
  shell.kill('SIGKILL')
  await ended
  await until(() => !isAlive(pid))
  expect(readFileSync(join(made.root, 'signals'), 'utf8')).toBe('SIGTERM ')
})

function endOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => child.on('exit', resolve).on('error', reject))
}

function readPid({ root: folder }: Scratch): number | undefined {
  const path = join(folder, 'pid')
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  return text === '' ? undefined : Number(text)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + POLL_LIMIT_MS
  while (!holds()) {
    if (Date.now() > deadline) throw new Error('waited in vain')
    await sleep(POLL_MS)
  }
}
