import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CommandError, parseLine } from '@parley/command-line'
import { expect, test } from 'vitest'
import { peerFor } from '../../../../../scripts/peers/peer-or-skip.ts'
import { codexBinary } from '@parley/contracts/testing'
import { asRecorded } from '../../contracts/fixture/as-recorded.ts'
import { Scratch } from '../../fixture/parley.ts'
import { CONTRACTS_COMMANDS } from './contracts-table.ts'

const DOCTORED = fileURLToPath(new URL('../../contracts/fixture/doctored-codex.ts', import.meta.url))
const RECORDINGS = fileURLToPath(new URL('../../../../contracts/contracts/recordings', import.meta.url))
const SLOW = { timeout: 240_000 }

/** A command in this process: dozens of small ones would take longer to start than to run. */
async function here(folder: string, argv: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const said = { out: '', err: '' }
  const parsed = parseLine(argv, CONTRACTS_COMMANDS)
  if (parsed.kind !== 'run') throw new Error(`${argv.join(' ')} is no command`)
  const io = {
    env: process.env,
    cwd: folder,
    stdin: process.stdin,
    out: (text: string | Uint8Array) => (said.out += String(text)),
    err: (text: string | Uint8Array) => (said.err += String(text)),
    now: Date.now,
    random: (size: number) => new Uint8Array(size),
    onSignal: () => () => {},
    isTerminal: false,
    screen: () => undefined,
    typed: (text: string) => text,
  }
  try {
    return { code: await parsed.command.run({ ...parsed, io }), ...said }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return { code: error.exitCode, out: said.out, err: `${said.err}${error.message}\n` }
  }
}

asRecorded('codex-0.166', '0.166.0')

test('a server that answers one method differently is told by that method', SLOW, async (context) => {
  const peer = await peerFor(context, 'codex-0.166')
  await using scratch = new Scratch()
  const command = `'${process.execPath}' '${DOCTORED}' gitDiffToRemote sha '${codexBinary(peer).command}' app-server`
  const { code, out } = await scratch.run(['contracts', 'check', '--command', command, '--dialect', '0.166'])
  expect(code).toBe(1)
  const lines = out.split('\n').filter((line) => / drift {2}/.test(line))
  expect(lines).toEqual([expect.stringMatching(/^gitDiffToRemote +yes +ok +drift +drift +result\.sha is missing$/)])
  expect(out.trimEnd().split('\n').at(-1)).toBe('Codex 0.166: drift from 0.166.0')
})

test('a recording that is made again is the one that is kept', SLOW, async (context) => {
  const peer = await peerFor(context, 'codex-0.44')
  await using scratch = new Scratch()
  const names = ['handshake', 'workspace', 'turn-exec']
  const chosen = names.flatMap((name) => ['--scenario', name])
  const { files } = await scratch.json(['contracts', 'record', '--codex', peer.bin('codex'), '--out', 'made', ...chosen])
  expect(readdirSync(join(scratch.folder, 'made', '0.44.0'))).toEqual(names.map((name) => `${name}.jsonl`).toSorted())
  for (const file of files) {
    const kept = join(RECORDINGS, '0.44.0', file.split('/').at(-1))
    expect(readFileSync(file, 'utf8')).toBe(readFileSync(kept, 'utf8'))
  }
})

test('the contracts are listed, shown and compared', async () => {
  const run = (...args: string[]) => here('/', ['contracts', ...args])
  const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).out)
  const list = await run('list')
  expect(list.out.split('\n')[0]).toMatch(/^method +kind +0\.42\.0 +0\.44\.0 +0\.153\.4 +0\.166\.0 +differs +what$/)
  expect(list.out).toMatch(/^newConversation +request +yes +yes +no +no /m)
  expect((await json('list')).methods).toHaveLength(28)
  const shown = await run('show', 'sendUserTurn', '--codex-version', '0.44.0')
  expect(shown.out).toMatch(/^summary +"auto" \| "concise" \| "detailed" \| "none", required$/m)
  expect(shown.out).toMatch(/^the params cannot be read +error -32600 like \^Invalid request\$$/m)
  expect(await json('show', 'codex/event')).toMatchObject({ method: 'codex/event', basis: null, observed: null })
  expect((await json('diff', '0.42.0', '0.44.0')).changes).toContainEqual({
    method: 'fuzzyFileSearch',
    where: 'method',
    field: '',
    change: 'added',
    before: 'silence',
    after: 'codex app-server',
  })
  const diff = await run('diff', '0.42', '0.44')
  expect(diff.out).toMatch(/^- +execCommandApproval +request +call_id +string, required$/m)
  expect(diff.out).toMatch(/^\+ +execCommandApproval +request +callId +string, required$/m)
  expect((await run('diff', '0.44', '0.44.0')).out).toBe('no difference\n')
  expect((await run('diff', '0.43.0', '0.44.0')).err).toBe('0.43.0 was not recorded; 0.44.0 stands for it\n')
})

test('a request is explained from a file and from stdin', async () => {
  await using scratch = new Scratch()
  writeFileSync(join(scratch.folder, 'request.json'), '{"method":"newConversation","params":{"model":"gpt-5"}}')
  const explain = (...args: string[]) => ['contracts', 'explain', '--codex-version', ...args]
  const text = await here(scratch.folder, explain('0.166.0', 'request.json'))
  expect(text).toMatchObject({ code: 0, err: '' })
  expect(text.out).toContain('translated: newConversation on Codex 0.166.0\n')
  expect(text.out).toContain('  sent     {"method":"thread/start","params":{"model":"gpt-5"}}\n')
  writeFileSync(join(scratch.folder, 'params.json'), '{"model":5}')
  const refused = await here(scratch.folder, explain('0.44.0', '--method', 'newConversation', '--json', 'params.json'))
  expect(refused.code).toBe(1)
  expect(JSON.parse(refused.out)).toMatchObject({ verdict: 'refused', refusals: [{ code: 'bad_params', field: 'params.model' }] })
  const garbage = await scratch.run(explain('0.44.0', '--json'), { input: '{"method":5}' })
  expect(garbage).toMatchObject({ code: 2, out: '' })
  expect(JSON.parse(garbage.err)).toMatchObject({
    error: { code: 'bad_request_text', message: 'method must be a string, not a number' },
  })
})

test('a new contract is two files', async () => {
  await using scratch = new Scratch()
  const made = await here(scratch.folder, ['contracts', 'new', 'thread/fork', '--out', 'mine', '--json'])
  const [schema, file] = ['schema.json', 'contract.test.ts'].map((end) => join(scratch.folder, 'mine', `thread-fork.${end}`))
  expect(JSON.parse(made.out)).toEqual({ schema, test: file })
  expect(await here(scratch.folder, ['contracts', 'new', 'thread/fork', '--out', 'mine'])).toMatchObject({ code: 1, out: '' })
  expect(await here(scratch.folder, ['contracts', 'new', '../x'])).toMatchObject({ code: 2 })
})

test.each([
  [['check'], 'needs either --codex or --command'],
  [['check', '--codex', 'x', '--command', 'y'], 'needs either --codex or --command'],
  [['check', '--command', 'x'], '--command needs --dialect'],
  [['check', '--command', "x 'y", '--dialect', '0.44'], "has a ' that is not closed"],
  [['check', '--codex', './no-such-codex'], './no-such-codex is no file'],
  [['check', '--codex', '/bin/true', '--codex-version', '0.41.0'], 'supported: 0.42.0 and newer'],
  [['check', '--codex', '/bin/true'], '/bin/true does not say its version'],
  [['show', 'noSuch'], 'there is no contract of "noSuch"'],
  [['diff', '0.1', '0.44'], 'Codex 0.1.0 is not supported'],
  [['explain'], 'needs --codex-version'],
  [['record', '--codex', 'codex'], 'needs --out'],
])('contracts %j is answered with one line', async (args, message) => {
  const { code, out, err } = await here('/', ['contracts', ...args])
  expect({ code: code === 1 || code === 2, out, lines: err.trimEnd().split('\n').length }).toEqual({
    code: true,
    out: '',
    lines: 1,
  })
  expect(err).toContain(message)
})
