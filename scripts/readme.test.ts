import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { copyProject } from './testing/copy.ts'
import { TEST_CACHE } from './testing/test-cache.ts'

const root = dirname(import.meta.dirname)
/** An instance with a judge, and a dozen commands one after the other. */
const WHOLE = { timeout: 300_000 }

/** What needs something that no test may reach, and where it is tested with what stands for it. */
const ELSEWHERE = [
  /^npm /, // this suite, packages/cli/src/demo, packages/cli/src/up
  /^PARLEY_MODEL_BASE_URL=/, // packages/cli/src/up/up-model.test.ts
  /--model NAME/, // packages/cli/src/commands/job/job.test.ts
  /^parley judge --url https/, // scripts/serving.test.ts
  /^parley agent (run|transcript) writer/, // packages/cli/src/e2e/turns.test.ts
  /^parley agent chat writer/, // packages/cli/src/commands/agent/chat.test.ts
  /^parley contracts check/, // packages/cli/src/commands/contracts/contracts.test.ts
]

/** Every line of every shell block, without its comment. */
function commandsOf(text: string): readonly string[] {
  return [...text.matchAll(/```sh\n(.*?)```/gs)]
    .flatMap(([, block = '']) => block.trim().split('\n'))
    .map((line) => line.replace(/\s+#\s.*$/, ''))
}

test('every command of the README works in a fresh copy of the clone, and parley in any other folder', WHOLE, async () => {
  using copy = copyProject(root)
  const elsewhere = join(copy.root, 'some folder')
  mkdirSync(elsewhere)
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: elsewhere,
    PARLEY_CACHE: TEST_CACHE,
    PARLEY_PORT: '0',
  }
  const [path = '', ...commands] = commandsOf(readFileSync(join(root, 'README.md'), 'utf8')).filter(
    (command) => !ELSEWHERE.some((pattern) => pattern.test(command)),
  )
  expect(path).toBe('export PATH="$PWD/bin:$PATH"')
  const up = spawn(join(copy.root, 'bin/parley'), ['up', '--json'], { cwd: copy.root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise((resolve) => up.once('exit', resolve))
  try {
    const url = await urlOf(up)
    // An instance is found from anywhere, because it belongs to the clone; files are those of the caller's folder.
    writeFileSync(join(elsewhere, 'solution.py'), 'print(int(input()) + 1)\n')
    mkdirSync(join(elsewhere, 'tests'))
    writeFileSync(join(elsewhere, 'tests/1.in'), '1\n')
    writeFileSync(join(elsewhere, 'tests/1.out'), '2\n')
    writeFileSync(join(elsewhere, 'secrets'), 'KEY=value\n')
    const failed: object[] = []
    for (const command of commands) {
      const line = command
        .replace('http://127.0.0.1:7400', url)
        .replace('solution.cpp', 'solution.py')
        .replace('tests.zip', 'tests')
        .replace('NAME -- CMD', 'some -- cat')
        // A local agent needs a model; what its policy says is the same for any.
        .replace('--agent writer', '--agent helper')
      const ran = await run(`cd ${JSON.stringify(copy.root)} && ${path} && cd "some folder" && ${line}`, { cwd: copy.root, env })
      if (!(ran.code === 0 || (command.includes('--codex-config') && ran.err.includes('config.toml'))))
        failed.push({ command, ...ran })
    }
    expect(failed).toEqual([])
    expect(commands).toEqual(expect.arrayContaining([expect.stringContaining('job submit --judge-only'), 'parley --help']))
  } finally {
    up.kill('SIGTERM')
    await ended
  }
})

test('without PATH it is called by its own path, and says so', WHOLE, async () => {
  using copy = copyProject(root)
  const env = { PATH: process.env['PATH'] ?? '', HOME: copy.root, PARLEY_CACHE: TEST_CACHE }
  const inside = await run('bin/parley jib', { cwd: copy.root, env })
  expect(inside).toEqual({ code: 2, out: '', err: 'parley: there is no command jib (did you mean bin/parley job?)\n' })
  const whole = join(copy.root, 'bin/parley')
  const outside = await run(`${whole} jib`, { cwd: join(copy.root, 'packages'), env })
  expect(outside.err).toBe(`parley: there is no command jib (did you mean ${whole} job?)\n`)
  const onPath = { ...env, PATH: [join(copy.root, 'bin'), env.PATH].join(delimiter) }
  expect((await run('parley jib', { cwd: tmpdir(), env: onPath })).err).toContain('(did you mean parley job?)')
})

async function urlOf(up: ChildProcess): Promise<string> {
  let err = ''
  up.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString()))
  if (up.stdout !== null)
    for await (const line of createInterface({ input: up.stdout })) return String(Reflect.get(Object(JSON.parse(line)), 'url'))
  throw new Error(`it ended without a word: ${err}`)
}

function run(
  command: string,
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<{ code: number | null; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = execFile('sh', ['-c', command], options, (_error, out, err) => resolve({ code: child.exitCode, out, err }))
    child.stdin?.end()
  })
}
