import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { presetsIn } from '@parley/gateway'
import { parse } from 'smol-toml'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LocalGateway } from '../../fixture/local-gateway.ts'
import { Scratch } from '../../fixture/parley.ts'
import { commandsHere } from '../../fixture/run-here.ts'

const scratch = new Scratch()
const { run, json } = commandsHere(scratch)
const at = ['--data', scratch.data]
/** Stands for the folder in the names of tests: a test is called the same each time. */
const AT = '--data DIR'
const placed = (words: readonly string[]): string[] => words.flatMap((word) => (word === AT ? at : [word]))
let gateway: LocalGateway

beforeAll(async () => {
  const presets = join(scratch.folder, 'presets')
  mkdirSync(join(presets, 'broken.toml'), { recursive: true })
  writeFileSync(join(presets, 'odd.toml'), 'kind = "local"\nkey secret\n')
  gateway = await LocalGateway.open(scratch.data, { presets: presetsIn(presets, parse) })
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await scratch[Symbol.asyncDispose]()
})

test('an agent is made, changed, shown, given a token and deleted, by its name, its id or a beginning of it', async () => {
  await using other = await LocalGateway.open(join(scratch.folder, 'other'))
  const here = ['--data', join(scratch.folder, 'other')]
  writeFileSync(join(scratch.folder, 'told'), 'Be brief.\nAnd kind.\n')
  const made = await run(['agent', 'create', 'mine', '--instructions-file', 'told', '--model', 'm', '--engine', 'mini', ...here])
  const [, id = ''] = /^mine is made: (agt_\w+)\n/.exec(made.out) ?? []
  expect(made.out).toContain('parley mount attach mine NAME -- CMD')
  for (const word of ['mine', id, id.slice(0, 12), id.slice(4, 12).toUpperCase()])
    expect(await json(['agent', 'show', word, ...here])).toMatchObject({
      agent_id: id,
      name: 'mine',
      status: 'asleep',
      host: null,
    })
  const shown = await run(['agent', 'show', 'mine', ...here])
  expect(shown.out).toMatch(/^told +Be brief\.$/m)
  expect(shown.out).toMatch(/^model +m$/m)
  expect(await json(['agent', 'update', 'mine', '--name', 'yours', ...here])).toMatchObject({ name: 'yours', model: 'm' })
  expect(await json(['agent', 'create', ...here])).toMatchObject({ name: 'default' })
  expect((await run(['agent', 'list', ...here])).out).toMatch(/^default +external +asleep .*\nyours +local +asleep .* agt_/m)
  const token = await run(['agent', 'token', 'yours', ...here])
  expect(token).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^agt_\S+\n$/),
    err: expect.stringContaining('not shown again'),
  })
  const rotated = await json(['agent', 'token', 'yours', '--ttl', '1h', '--rotate', '--out', 'tok', ...here])
  expect(rotated).toEqual({
    file: join(scratch.folder, 'tok'),
    id: expect.any(String),
    agent_id: id,
    expires_at: expect.any(String),
    revoked: 1,
  })
  expect(readFileSync(join(scratch.folder, 'tok'), 'utf8')).toMatch(/^agt_\S+\n$/)
  expect(statSync(join(scratch.folder, 'tok')).mode & 0o777).toBe(0o600)
  expect(await run(['agent', 'delete', 'yours', ...here])).toMatchObject({ code: 0, out: 'yours is deleted.\n' })
  expect((await json(['agent', 'list', ...here])).items).toHaveLength(1)
  expect(other.url).toMatch(/^http:/)
})

test('names are each person’s own: an admin finds others’ agents by their ids', async () => {
  await gateway.call('user.add', { username: 'ann' })
  const { token } = await gateway.call('token.create', { role: 'user', username: 'ann' })
  const ann = { env: { PARLEY_TOKEN: token, PARLEY_URL: gateway.url } }
  const { agent_id } = await json(['agent', 'create', 'hers'], ann)
  expect(await json(['agent', 'show', 'hers'], ann)).toMatchObject({ owner: 'ann' })
  expect(await run(['agent', 'show', 'hers', ...at])).toMatchObject({
    code: 1,
    err: 'parley: you have no agent called hers, and none whose id begins so (parley agent list shows yours)\n',
  })
  expect(await json(['agent', 'show', agent_id.slice(0, 14), ...at])).toMatchObject({ owner: 'ann' })
  for (const command of [
    ['grant', 'list'],
    ['host', 'list'],
    ['host', 'drain', 'x'],
  ])
    expect(await run(command, ann)).toMatchObject({ code: 1, err: expect.stringContaining("needs an admin's") })
})

test('what is mounted is listed without what is secret in it', async () => {
  await json(['agent', 'create', 'mounted', ...at])
  writeFileSync(join(scratch.folder, 'vars'), '# ours\n\nB=from the file\nA=of the file\n')
  const attach = (...more: string[]) => run(['mount', 'attach', 'mounted', ...more])
  const env = ['--env', 'A=of-the-line', '--env-from', 'vars', '--allow', 'x', '--deny', 'y', '--plain', '--eager']
  expect(await attach('files', ...env, ...at, '--', 'server', '--flag')).toMatchObject({ code: 0, err: '' })
  expect(await attach('npm', ...at, '--', 'npx', 'server')).toMatchObject({
    code: 0,
    out: 'npm is mounted for mounted.\n',
    err: expect.stringContaining('a box has no network'),
  })
  expect(await run(['mount', 'detach', 'mounted', 'npm', ...at])).toMatchObject({ out: 'npm is taken off mounted.\n' })
  expect(await attach('web', 'https://example.com/mcp?key=k3y', '--header', 'Authorization: Bearer t0ken', ...at)).toMatchObject({
    code: 0,
  })
  const { items } = await json(['mount', 'list', 'mounted', ...at])
  expect(items).toMatchObject([
    {
      name: 'files',
      server: {
        kind: 'stdio',
        command: 'server',
        args: ['--flag'],
        env: [
          { name: 'A', value: '••••' },
          { name: 'B', value: '••••' },
        ],
        place: { kind: 'boxed' },
        network: false,
      },
      options: { plain: true, eager: true, allow: ['x'], deny: ['y'] },
      state: null,
    },
    { name: 'web', server: { kind: 'http', headers: [{ name: 'Authorization', value: '••••' }] } },
  ])
  const table = await run(['mount', 'list', 'mounted', ...at])
  expect(table.out).toMatch(/^files +asleep +boxed +server --flag/m)
  for (const secret of ['of-the-line', 'from the file', 'k3y', 't0ken'])
    expect(table.out + JSON.stringify(items)).not.toContain(secret)
  expect(await run(['mount', 'detach', 'mounted', 'web', ...at])).toMatchObject({
    out: expect.stringMatching(/^web is taken off mounted\.$/m),
  })
  expect(await run(['mount', 'detach', 'mounted', 'web', ...at])).toMatchObject({
    out: expect.stringMatching(/^web was not mounted for mounted\.$/m),
  })
})

test('what must be granted is told of by the option that was typed, with what an admin types', async () => {
  await gateway.call('user.add', { username: 'eve' })
  const { token } = await gateway.call('token.create', { role: 'user', username: 'eve' })
  const eve = { env: { PARLEY_TOKEN: token, PARLEY_URL: gateway.url } }
  await json(['agent', 'create', 'hers'], eve)
  const attach = async (...more: string[]) => (await run(['mount', 'attach', 'hers', 'm', ...more], eve)).err
  expect(await attach('--place', 'host', '--', 'x')).toMatch(/^parley: --place: .* \(parley grant set USER --unboxed on\)\n$/)
  expect(await attach('--place', 'executor:box', '--', 'x')).toMatch(/^parley: --place: .* --executor box\)\n$/)
  expect(await attach('--folder', '/srv/x', '--', 'x')).toMatch(/^parley: --folder: .* --folder \/srv\/x\)\n$/)
  expect(await attach('http://localhost:9/')).toMatch(/^parley: SERVER: localhost is not .* --private-http on\)\n$/)
})

test('what was granted is set piece by piece and shown', async () => {
  await gateway.call('user.add', { username: 'bob' })
  const set = (...more: string[]) => json(['grant', 'set', 'bob', ...more, ...at])
  expect(await set('--unboxed', 'on', '--folder', '/srv/a', '--folder', '/srv/b')).toMatchObject({
    unboxed: true,
    folders: ['/srv/a', '/srv/b'],
  })
  expect(await set('--executor', '*', '--private-http', 'on')).toMatchObject({
    unboxed: true,
    executors: ['*'],
    private_http: true,
  })
  expect(await set('--no-folders', '--unboxed', 'off')).toMatchObject({ unboxed: false, folders: [], executors: ['*'] })
  expect((await run(['grant', 'list', ...at])).out).toMatch(/^bob +off +on +\* /m)
})

test.each([
  [['agent', 'update', 'x'], 2, 'agent update needs something to change'],
  [['agent', 'create', 'a b'], 2, 'NAME must have 1 to 63 letters'],
  [['agent', 'create', '--preset', 'none', AT], 1, 'there is no preset none'],
  [['agent', 'create', '--preset', 'broken', AT], 1, 'presets/broken.toml: is not a file'],
  [['agent', 'create', '--preset', 'odd', AT], 1, 'presets/odd.toml: line 2, column 5: this is no TOML'],
  [['agent', 'show', 'a/b', AT], 2, 'AGENT "a/b" is no id of an agent'],
  [['agent', 'token', 'x', '--ttl', 'soon'], 2, '--ttl must be a number'],
  [['mount', 'attach', 'x', 'tools', '--', 'cmd'], 2, 'NAME "tools" is a name that agents’ own tools have; choose another'],
  [['mount', 'attach', 'x', 'm'], 2, 'mount attach needs either a URL or a command'],
  [['mount', 'attach', 'x', 'm', 'https://a', '--', 'cmd'], 2, 'mount attach needs either a URL or a command'],
  [['mount', 'attach', 'x', 'm', 'ftp://a'], 2, 'SERVER must be an http:// or https:// URL'],
  [['mount', 'attach', 'x', 'm', 'https://a', '--network'], 2, '--network goes with a command'],
  [['mount', 'attach', 'x', 'm', '--header', 'A: b', '--', 'cmd'], 2, '--header goes with a URL'],
  [['mount', 'attach', 'x', 'm', 'https://a', '--header', 'secret'], 2, "--header must be 'Name: value'"],
  [['mount', 'attach', 'x', 'm', '--env', 'secret', '--', 'cmd'], 2, '--env must be KEY=VALUE'],
  [['mount', 'attach', 'x', 'm', '--place', 'moon', '--', 'cmd'], 2, '--place must be boxed, host or executor:NAME'],
  [['grant', 'set', 'x'], 2, 'grant set needs something to set'],
  [['grant', 'set', 'x', '--folder', 'srv'], 2, '--folder'],
  [['grant', 'set', 'x', '--folder', '/srv', '--no-folders'], 2, '--folder and --no-folders exclude each other'],
  [['host'], 2, 'host needs --url'],
  [['host', '--url', 'http://127.0.0.1:1'], 2, 'host needs a token'],
  [['host', '--url', 'http://127.0.0.1:1', '--token', 'x', '--slots', '0'], 2, '--slots'],
  [['host', '--url', 'http://127.0.0.1:1', '--token', 'x', '--root', 'nowhere'], 2, '--root nowhere'],
  [['host', '--url', 'http://127.0.0.1:1', '--token', 'x', '--label', 'gpu'], 2, '--label must be KEY=VALUE'],
  [['host', 'drain', 'no one', AT], 2, 'NAME must have 1 to 63 letters'],
  [['host', 'drain', 'nobody', AT], 1, 'there is no host nobody'],
])('%j is told in one line', async (args, code, words) => {
  const told = await run(placed(args))
  expect({ code: told.code, out: told.out }).toEqual({ code, out: '' })
  expect(told.err).toContain(words)
  expect(told.err).not.toContain('secret')
  expect(told.err.trim().split('\n')).toHaveLength(1)
})
