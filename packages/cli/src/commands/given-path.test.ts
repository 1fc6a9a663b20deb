import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { basename, join } from 'node:path'
import type { OptionSpec } from '@parley/command-line'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LocalGateway } from '../fixture/local-gateway.ts'
import { Scratch } from '../fixture/parley.ts'
import { commandsHere } from '../fixture/run-here.ts'
import { COMMANDS } from './table.ts'

const scratch = new Scratch()
const { run } = commandsHere(scratch)
const at = ['--data', scratch.data]
/** Stands for the folder in the names of tests: a test is called the same each time. */
const AT = '--data DIR'
const placed = (words: readonly string[]): string[] => words.flatMap((word) => (word === AT ? at : [word]))
const SUBMIT = ['job', 'submit', '--judge-only', '--code', 'good.cpp', ...at]
let gateway: LocalGateway

beforeAll(async () => {
  gateway = await LocalGateway.open(scratch.data)
  const place = (name: string) => join(scratch.folder, name)
  writeFileSync(place('good.cpp'), 'int main() {}\n')
  writeFileSync(place('pem'), 'text\n')
  mkdirSync(place('folder'))
  writeFileSync(place('empty'), '')
  writeFileSync(place('latin1'), Buffer.from([0x67, 0xfc, 0x0a]))
  writeFileSync(place('binary'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0]))
  writeFileSync(place('locked'), 'secret\n')
  chmodSync(place('locked'), 0)
  symlinkSync('itself', place('itself'))
  if (spawnSync('/bin/sh', ['-c', 'mkfifo "$0"', place('pipe')]).status !== 0) throw new Error('mkfifo is missing')
  await gateway.submit()
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await scratch[Symbol.asyncDispose]()
})

/** A command line for every option whose file is read as text, up to the path that it is given. */
const READ: Readonly<Record<string, readonly string[]>> = {
  '--statement': ['job', 'submit', ...at, '--statement'],
  '--code': ['job', 'submit', '--language', 'cpp', ...at, '--code'],
  '--interactor': [...SUBMIT, '--interactor'],
  '--token-file': ['job', 'list', '--url', 'http://127.0.0.1:9', '--token-file'],
  '--key-file': ['channel', 'set', 'main', ...at, '--key-file'],
  '--password-file': ['user', 'passwd', 'admin', ...at, '--password-file'],
  '--tls-cert': ['proxy', '--port', '0', '--tls-key', 'pem', 'http://127.0.0.1:9/mcp', '--tls-cert'],
  '--tls-key': ['proxy', '--port', '0', '--tls-cert', 'pem', 'http://127.0.0.1:9/mcp', '--tls-key'],
  '--upstream-token-file': ['proxy', '--port', '0', 'http://127.0.0.1:9/mcp', '--upstream-token-file'],
  '--executor-token-file': ['proxy', '--port', '0', '--executor', 'ws://127.0.0.1:9', '--executor-token-file'],
  '--instructions-file': ['agent', 'create', ...at, '--instructions-file'],
  '--file': ['policy', 'test', '--agent', 'x', '--tool', 't', ...at, '--file'],
  '--rule-file': ['approvals', 'approve', 'x', ...at, '--rule-file'],
  '--env-from': ['mount', 'attach', 'x', 'm', ...at, '--env-from'],
  FILE: ['contracts', 'explain', '--codex-version', '0.44.0'],
}
/** The same for those that may hold anything, or need not end in a newline. */
const READ_BYTES: Readonly<Record<string, readonly string[]>> = {
  '--tests': [...SUBMIT, '--tests'],
  '--stdin': ['sandbox', 'run', '--stdin'],
  '--config': ['config', 'check', '--config'],
  '--from': ['mcp', 'import', ...at, '--from'],
  'restore FILE': ['restore', '--data', join(scratch.folder, 'restored')],
}
/** Those that are written to, or looked for, and are tried one by one below; the last ones are not read by the command itself. */
const OTHERS = [
  '--checker',
  '--out',
  '--to',
  '--data',
  '--client-secret-file',
  '--codex',
  '--codex-home',
  '--job-dir',
  'backup FILE',
  'trust PATH',
  '--remove',
  '--root',
]

/** One line, in words, about this option and this path. */
const about = (what: string, path: string, said: string) =>
  expect.stringMatching(
    new RegExp(`^(?:parley|error): (?:${what.split(' ').at(-1)}|\\S+) (?:\\S*/)?${path}\\b[^\\n]*${said}[^\\n]*\\n`),
  )
const RAW = /\bE(?:NOENT|ISDIR|ACCES|PERM|LOOP|NOTDIR|XIO|EXIST|AGAIN)\b|node:|undefined/

test('every option and argument that names a file is tried here', () => {
  const named = new Set(
    COMMANDS.flatMap(({ options, positionals = [] }) => [
      ...Object.entries<OptionSpec>(options).flatMap(([name, { isFile }]) => (isFile === true ? [`--${name}`] : [])),
      ...positionals.flatMap(({ isFile, name }) => (isFile === true ? [name] : [])),
    ]),
  )
  const tried = [...Object.keys(READ), ...Object.keys(READ_BYTES), ...OTHERS].map((what) => what.split(' ').at(-1))
  expect([...named].filter((what) => !tried.includes(what))).toEqual([])
})

test.each(Object.keys({ ...READ, ...READ_BYTES }))('%s says in words what is wrong with a file', async (what) => {
  const line = READ[what] ?? READ_BYTES[what] ?? []
  const end = ['--stdin', '--executor-token-file', '--env-from'].includes(what) ? ['--', 'true'] : []
  const tell = async (path: string) => {
    const { code, out, err } = await run([...line, path, ...end])
    expect({ path, out: line.includes('check') ? '' : out, raw: RAW.exec(err) }).toEqual({ path, out: '', raw: null })
    expect(code).toBeGreaterThan(0)
    return err
  }
  expect(await tell('nowhere')).toEqual(about(what, 'nowhere', 'there is no such file'))
  expect(await tell('good.cpp/x')).toEqual(about(what, 'good.cpp/x', 'is a file and no folder'))
  expect(await tell('itself')).toEqual(about(what, 'itself', 'leads to itself'))
  expect(await tell('pipe')).toEqual(about(what, 'pipe', 'is a named pipe'))
  expect(await tell('/dev/zero')).toEqual(about(what, '/dev/zero', 'is a device'))
  if (what !== '--tests') expect(await tell('folder')).toEqual(about(what, 'folder', 'is a folder, and a file is needed'))
  // Root may read everything; who is not root is told that they may not.
  if (process.getuid?.() !== 0) expect(await tell('locked')).toEqual(about(what, 'locked', 'you have no right to it'))
  if (what in READ) {
    expect(await tell('empty')).toEqual(about(what, 'empty', 'is empty'))
    expect(await tell('latin1')).toEqual(about(what, 'latin1', 'is not UTF-8 text'))
    expect(await tell('binary')).toEqual(about(what, 'binary', 'is a binary file'))
  }
})

test('a checker by a name that is none is told which there are, and that a path will do', async () => {
  expect(await run([...SUBMIT, '--checker', 'tokns'])).toEqual({
    code: 2,
    out: '',
    err: 'parley: --checker tokns is none of: tokens, trim_ws, exact, lines, unordered_lines, floats (did you mean tokens? A checker of your own is given by the path of its source, as in ./checker.cpp.)\n',
  })
  expect(await run([...SUBMIT, '--checker', 'check.cpp'])).toMatchObject({
    code: 2,
    err: about('--checker', 'check.cpp', 'no such file'),
  })
  expect(await run([...SUBMIT, '--checker', 'folder'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('--checker folder'),
  })
})

test.each([
  [['job', 'input', '@last', '--out', 'good.cpp/x', AT], '--out good.cpp/x: something on the way there is a file and no folder'],
  [['audit', 'export', '--out', 'good.cpp/x', AT], '--out good.cpp/x: something on the way there is a file and no folder'],
  [['audit', 'export', '--out', 'nowhere/x', AT], '--out nowhere/x: there is no such file or folder'],
  [['audit', 'export', '--out', 'good.cpp', AT], '--out good.cpp: there is a file of that name already'],
  [['contracts', 'new', 'thread/nothing', '--out', 'good.cpp/x'], '--out good.cpp/x: something on the way there is a file'],
  [['backup', 'nowhere/x', AT], 'FILE nowhere/x: there is no such file or folder'],
  [['mcp', 'export', '--to', 'folder', AT], '/folder: is a folder, and a file is needed'],
  [['user', 'list', '--data', 'good.cpp'], '/good.cpp cannot be made: there is a file of that name already'],
  [['job', 'list', '--data', 'good.cpp'], 'no gateway runs on '],
  [['mcp-server', '--codex', './nowhere'], '--codex: ./nowhere is no program'],
  [['contracts', 'check', '--codex', './nowhere'], './nowhere is no file'],
  [['exec-server', '--root', 'nowhere'], '--root nowhere: there is no such file'],
  [['exec-server', '--root', 'good.cpp'], '--root good.cpp is not a folder'],
  [['exec-server', '--root', 'itself'], '--root itself: '],
  [['trust', 'nowhere'], '/nowhere is no folder (name one that is there)'],
  [['trust', 'good.cpp'], '/good.cpp is no folder (name one that is there)'],
  [['trust', 'good.cpp/x'], '/good.cpp/x is no folder (name one that is there)'],
  [['trust', '--remove', 'nowhere'], '/nowhere is not trusted ('],
])('%j is told in words', async (line, said) => {
  const { code, out, err } = await run(placed(line))
  expect({ code: code > 0, out, raw: RAW.exec(err), lines: err.split('\n').length }).toEqual({
    code: true,
    out: '',
    raw: null,
    lines: 2,
  })
  expect(err).toContain(said)
})

test.each([
  ['a link to a file', 'ln -s ../../good.cpp "$0"', 'is a link, and a file is needed'],
  ['a link to a folder', 'ln -s ../../folder "$0"', 'is a link, and a file is needed'],
  ['a link to nowhere', 'ln -s nowhere "$0"', 'is a link, and a file is needed'],
  ['a named pipe', 'mkfifo "$0"', 'is a named pipe, and a file is needed'],
])('%s among the cases of a folder is refused by its name, and nothing is handed in', async (_, make, said) => {
  const folder = mkdtempSync(join(scratch.folder, 'cases-'))
  mkdirSync(join(folder, 'sub'))
  for (const name of ['1.in', '1.out', 'sub/2.out']) writeFileSync(join(folder, name), '1\n')
  expect(spawnSync('/bin/sh', ['-c', make, join(folder, 'sub/2.in')]).status).toBe(0)
  const jobs = () => run(['job', 'list', '--json', ...at])
  const before = await jobs()
  expect(await run([...SUBMIT, '--tests', basename(folder)])).toEqual({
    code: 2,
    out: '',
    err: `parley: --tests ${basename(folder)}, in it sub/2.in: ${said} (put a plain file in its place, or take it out)\n`,
  })
  expect(await jobs()).toEqual(before)
})

test('a socket among the cases of a folder is refused by its name', async () => {
  const folder = mkdtempSync(join(scratch.folder, 's-'))
  const server = createServer().listen(join(folder, '1.in'))
  await once(server, 'listening')
  expect(await run([...SUBMIT, '--tests', basename(folder)])).toMatchObject({
    code: 2,
    err: expect.stringContaining('in it 1.in: is a socket, and a file is needed'),
  })
  server.close()
  await once(server, 'close')
})

test('what a shell makes of <(command) is read like a file', () => {
  const { command, env } = scratch.launch(['contracts', 'explain', '/dev/fd/9', '--codex-version', '0.44.0', '--json'])
  const words = command.map((word) => `'${word}'`).join(' ')
  const script = `${words} 9< <(echo '{"method":"newConversation","params":{}}')`
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { env, cwd: scratch.folder, encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(JSON.parse(stdout)).toMatchObject({ method: 'newConversation' })
})
