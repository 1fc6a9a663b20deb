import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Scratch } from '../../fixture/parley.ts'
import { commandsHere, runHere } from '../../fixture/run-here.ts'

const run = (scratch: Scratch, ...args: string[]) =>
  scratch.run(['sandbox', 'run', ...args], { cwd: join(scratch.folder, 'work') })

function openWork(scratch: Scratch): string {
  const work = join(scratch.folder, 'work')
  mkdirSync(work)
  chmodSync(scratch.folder, 0o755)
  return work
}

test('sandbox check says what is enforced', async () => {
  await using scratch = new Scratch()
  expect(await scratch.json(['sandbox', 'check'])).toMatchObject({
    driver: 'cage',
    tier: expect.any(String),
    enforced: { memory: expect.any(String), network: expect.any(String) },
    missing: expect.any(Array),
  })
  expect((await commandsHere(scratch).run(['sandbox', 'check'])).out).toMatch(/^driver +cage$/m)
})

test('one program, as data', async () => {
  await using scratch = new Scratch()
  const work = openWork(scratch)
  writeFileSync(join(work, 'in.txt'), 'from the folder\n')
  const { code, out } = await run(scratch, '--stdin', 'in.txt', '--json', '--', 'cat', '-', 'in.txt')
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({
    status: 'ok',
    exit_code: 0,
    signal: null,
    cpu_ms: expect.any(Number),
    wall_ms: expect.any(Number),
    memory_kb: expect.any(Number),
    stdout: 'from the folder\nfrom the folder\n',
    stderr: '',
  })
})

test.each([
  [['--', 'sh', '-c', 'exit 7'], { status: 'nonzero', exit_code: 7 }, 7],
  [['--', 'sh', '-c', 'kill -SEGV $$'], { status: 'signal', signal: 'SIGSEGV' }, 139],
  [['--cpu-ms', '200', '--', 'sh', '-c', 'while :; do :; done'], { status: 'cpu-limit' }, 124],
  [['--wall-ms', '200', '--', 'sleep', '100'], { status: 'wall-limit' }, 124],
  [['--output-kb', '4', '--', 'sh', '-c', 'yes'], { status: 'output-limit' }, 124],
  [['--memory-mb', '32', '--', 'perl', '-e', 'my $x = "a" x (1 << 28); print length $x'], { status: 'memory-limit' }, 124],
])('%j gives %j and exit code %d', async (args, outcome, exit) => {
  await using scratch = new Scratch()
  const cwd = openWork(scratch)
  const { env } = scratch.launch([])
  const asData = await runHere(['sandbox', 'run', '--stdin', '/dev/null', '--json', ...args], { cwd, env })
  expect(JSON.parse(asData.out)).toMatchObject(outcome)
  expect(asData.code).toBe(0)
  const plain = await runHere(['sandbox', 'run', '--stdin', '/dev/null', ...args], { cwd, env })
  expect(plain).toMatchObject({ code: exit, err: expect.stringContaining(outcome.status) })
})

test('inside there is the folder and the program, and nothing else of the user', async () => {
  await using scratch = new Scratch()
  const work = openWork(scratch)
  const bin = join(scratch.folder, 'bin')
  mkdirSync(bin)
  writeFileSync(
    join(bin, 'tool'),
    '#!/bin/sh\necho tool; cat "$1" 2>/dev/null || echo hidden; echo x > made 2>/dev/null || echo read-only\nenv\n',
  )
  chmodSync(join(bin, 'tool'), 0o755)
  writeFileSync(join(scratch.folder, 'secret.txt'), 'the secret')
  const { out } = await scratch.run(['sandbox', 'run', '--json', '--', join(bin, 'tool'), join(scratch.folder, 'secret.txt')], {
    cwd: work,
    env: { MY_KEY: 'the key' },
  })
  const { stdout } = JSON.parse(out)
  expect(stdout).toMatch(/^tool\nhidden\nread-only\n/)
  expect(stdout).not.toContain('the key')
})

/** A version manager as pyenv is laid out: a shim that cannot work inside, and a version that can. */
function openShims(scratch: Scratch, versions: readonly string[]): { readonly PATH: string; readonly HOME: string } {
  const place = (path: string, text: string): void => {
    mkdirSync(join(scratch.folder, path, '..'), { recursive: true })
    writeFileSync(join(scratch.folder, path), `#!/bin/sh\n${text}\n`)
    chmodSync(join(scratch.folder, path), 0o755)
  }
  place('.manager/shims/tool', 'exec "$HOME/.manager/libexec/manager" exec tool "$@"')
  for (const version of versions) {
    place(`.manager/versions/${version}/bin/tool`, `cat "$(dirname "$0")/../lib/data"`)
    place(`.manager/versions/${version}/lib/data`, `version ${version}`)
  }
  return { PATH: `${join(scratch.folder, '.manager/shims')}:${process.env['PATH']}`, HOME: scratch.folder }
}

test('behind the shim of a version manager is the newest version, with what belongs to it', async () => {
  await using scratch = new Scratch()
  const cwd = openWork(scratch)
  const env = openShims(scratch, ['3.9.1', '3.10.2'])
  const { out } = await scratch.run(['sandbox', 'run', '--', 'tool'], { cwd, env })
  expect(out).toContain('version 3.10.2')
})

test('a shim with nothing behind it is told from a program', async () => {
  await using scratch = new Scratch()
  const cwd = openWork(scratch)
  const { code, err } = await scratch.run(['sandbox', 'run', '--', 'tool'], { cwd, env: openShims(scratch, []) })
  expect({ code, err }).toEqual({ code: 127, err: expect.stringContaining('shims/tool is a shim of a version manager') })
})

test('help says of the machine what is there inside, and no more', async () => {
  await using scratch = new Scratch()
  const cwd = openWork(scratch)
  const { out: help } = await commandsHere(scratch).run(['sandbox', 'run', '--help'])
  expect(help.replaceAll(/\s+/g, ' ')).toContain('a passwd that names root and the box’s user')
  expect(help).not.toContain('every user of this machine')
  const { out } = await scratch.run(
    ['sandbox', 'run', '--', 'sh', '-c', 'wc -l < /etc/passwd; cat /etc/hostname || echo hidden'],
    {
      cwd,
    },
  )
  expect(out).toBe('2\nhidden\n')
})

test('of a program that lies in the home itself, the home is not shown', async () => {
  await using scratch = new Scratch()
  const cwd = openWork(scratch)
  const tool = join(scratch.folder, 'tool')
  writeFileSync(tool, '#!/bin/sh\necho tool; cat "$1" 2>/dev/null || echo hidden\n')
  chmodSync(tool, 0o755)
  writeFileSync(join(scratch.folder, 'secret.txt'), 'the secret')
  const { out } = await scratch.run(['sandbox', 'run', '--', tool, join(scratch.folder, 'secret.txt')], { cwd })
  expect(out).toBe('tool\nhidden\n')
})

test('what is piped in reaches the program, byte for byte, and comes out again', async () => {
  await using scratch = new Scratch()
  const cwd = openWork(scratch)
  const piped = await scratch.run(['sandbox', 'run', '--', 'cat'], { cwd, input: 'hello\n' })
  expect(piped).toMatchObject({ code: 0, out: 'hello\n' })
  const bytes = await scratch.run(['sandbox', 'run', '--', 'od', '-An', '-tx1'], { cwd, input: Buffer.from([0xff, 0, 0xc3]) })
  expect(bytes.out.trim()).toBe('ff 00 c3')
  const { command, env } = scratch.launch(['sandbox', 'run', '--', 'printf', String.raw`\377\000`])
  expect(spawnSync(command[0], command.slice(1), { cwd, env }).stdout).toEqual(Buffer.from([0xff, 0]))
})

test('more input than there is room for is refused', async () => {
  await using scratch = new Scratch()
  const cwd = openWork(scratch)
  writeFileSync(join(cwd, 'big'), '')
  truncateSync(join(cwd, 'big'), 256 * 1024 * 1024 + 1)
  const { code, err } = await runHere(['sandbox', 'run', '--stdin', 'big', '--', 'cat'], { cwd, env: scratch.launch([]).env })
  expect({ code, err }).toEqual({
    code: 2,
    err: expect.stringContaining('--stdin big: has 268435457 bytes, 268435456 are allowed'),
  })
})

test.each([
  [['run'], 2, 'usage', '--'],
  [['run', '--cpu-ms', 'x', '--', 'true'], 2, 'usage', '--cpu-ms'],
  [['run', '--stdin', 'none', '--', 'true'], 2, 'usage', '--stdin'],
  [['run', '--', 'no-such-program'], 127, 'command_not_found', 'there is no program no-such-program'],
])('sandbox %j fails in one line', async (args, exit, code, names) => {
  await using scratch = new Scratch()
  const { code: ended, err } = await commandsHere(scratch).run(['sandbox', ...args.slice(0, 1), '--json', ...args.slice(1)])
  expect(JSON.parse(err)).toMatchObject({ error: { code } })
  expect(err).toContain(names)
  expect(ended).toBe(exit)
})
