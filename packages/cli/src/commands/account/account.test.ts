import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connectClient, webSocketTransport } from '@parley/rpc'
import { expect, test } from 'vitest'
import { MANY_PROCESSES, Scratch } from '../../fixture/parley.ts'
import { commandsHere } from '../../fixture/run-here.ts'

test('accounts and tokens are managed while a gateway runs, and a revoked token is cut off', MANY_PROCESSES, async () => {
  await using scratch = new Scratch()
  const here = commandsHere(scratch)
  const at = ['--data', scratch.data]
  const up = await scratch.start(['up', '--no-judge', '--port', '0', ...at, '--json'])
  expect(await scratch.json(['user', 'add', 'bob', ...at])).toMatchObject({
    user: { username: 'bob', admin: false },
    sign_in: expect.stringContaining(up.ready.url),
  })
  const made = await here.json(['token', 'create', '--role', 'user', '--user', 'bob', '--ttl', '1h', ...at])
  expect(made).toEqual({
    token: expect.stringMatching(/^pat_/),
    id: expect.stringMatching(/^tok_/),
    role: 'user',
    expires_at: expect.any(String),
  })
  const judge = await here.json(['token', 'create', '--role', 'judge', '--name', 'j1', ...at])
  expect(judge).toMatchObject({ role: 'judge', expires_at: null, token: expect.stringMatching(/^jdg_/) })

  const client = await connectClient(webSocketTransport({ url: up.ready.ws, token: made.token }), {
    clientInfo: { name: 'test', version: '1' },
  })
  expect(await client.callTool('account.get', {})).toMatchObject({ role: 'user', name: 'bob' })
  const { items } = await here.json(['token', 'list', ...at])
  expect(JSON.stringify(items)).not.toContain(made.token)
  expect(items.map(({ id }: { id: string }) => id)).toEqual([judge.id, made.id])
  await here.json(['token', 'revoke', made.id, ...at])
  await client.closed

  // Over the wire, as an admin would from another machine.
  const admin = await here.json(['token', 'create', '--role', 'user', '--user', 'admin', ...at])
  const remote = { env: { PARLEY_URL: up.ready.url, PARLEY_TOKEN: admin.token } }
  expect(await here.json(['user', 'disable', 'bob'], remote)).toMatchObject({ user: { username: 'bob', disabled: true } })
  expect(await here.json(['user', 'enable', 'bob', '--url', up.ready.url, '--token', admin.token])).toMatchObject({
    user: { disabled: false },
  })
  const denied = await here.run(['user', 'list', '--json'], { env: { PARLEY_URL: up.ready.url, PARLEY_TOKEN: made.token } })
  expect(JSON.parse(denied.err)).toMatchObject({ error: { code: 'unauthorized' } })
})

test('accounts are managed while no gateway runs, and a gateway that starts later knows them', MANY_PROCESSES, async () => {
  await using scratch = new Scratch()
  const here = commandsHere(scratch)
  const at = ['--data', scratch.data]
  const password = 'correct horse battery'
  writeFileSync(join(scratch.folder, 'pw'), `${password}\n`)
  expect(await scratch.json(['user', 'add', 'eve', '--admin', '--password-file', 'pw', ...at])).toMatchObject({
    user: { admin: true },
    sign_in: null,
  })
  expect(await here.json(['user', 'add', 'bob', ...at])).toMatchObject({
    sign_in: expect.stringContaining('http://127.0.0.1:7400/#'),
  })
  expect(await scratch.json(['user', 'passwd', 'bob', ...at], { input: `${password} too\n` })).toMatchObject({
    user: { username: 'bob' },
  })
  const up = await scratch.start(['up', '--no-judge', '--port', '0', ...at, '--json'])
  const signIn = async (username: string, secret: string) => {
    const reply = await fetch(`${up.ready.url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username, password: secret }),
    })
    return reply.status
  }
  expect([await signIn('eve', password), await signIn('bob', `${password} too`), await signIn('bob', password)]).toEqual([
    200, 200, 401,
  ])
})

test.each([
  [['user', 'add', 'Not A Name'], 1, 'invalid_argument', 'the name of a user must be'],
  [['user', 'disable', 'nobody'], 1, 'not_found', 'nobody'],
  [['token', 'create', '--role', 'user'], 2, 'usage', '--user'],
  [['token', 'create'], 2, 'usage', '--role'],
  [['token', 'create', '--role', 'judge', '--name', 'j', '--ttl', '1 hour'], 2, 'usage', '--ttl'],
  [['token', 'revoke', 'pat_x'], 2, 'usage', 'ID'],
  [['user', 'list', '--token', 'x'], 2, 'usage', '--url'],
  [['user', 'list', '--url', 'http://127.0.0.1:1', '--token', 'x'], 1, 'unreachable', '127.0.0.1:1'],
])('%j fails in one line of JSON without a stack', async (args, exit, code, names) => {
  await using scratch = new Scratch()
  const { code: ended, err, out } = await commandsHere(scratch).run([...args, '--data', scratch.data, '--json'])
  expect(out).toBe('')
  expect(err.trim().split('\n')).toHaveLength(1)
  expect(JSON.parse(err)).toMatchObject({ error: { code } })
  expect(err).toContain(names)
  expect(ended).toBe(exit)
})

test('only the token goes to stdout, and what is said about it to stderr', async () => {
  await using scratch = new Scratch()
  const { run } = commandsHere(scratch)
  const at = ['--data', scratch.data]
  await run(['user', 'add', 'bob', ...at])
  const about = (text: string) => expect.stringMatching(new RegExp(`^tok_\\w+ is ${text}\\. It is not shown again\\.\\n$`))
  expect(await run(['token', 'create', '--role', 'user', '--user', 'bob', '--ttl', '1h', ...at])).toEqual({
    code: 0,
    out: expect.stringMatching(/^pat_[\w-]+\n$/),
    err: about("a user's token for bob, good until .+"),
  })
  expect(await run(['token', 'create', '--role', 'judge', '--name', 'tower', ...at])).toEqual({
    code: 0,
    out: expect.stringMatching(/^jdg_[\w-]+\n$/),
    err: about("a judge's token for tower, good until revoked"),
  })
  expect(await run(['token', 'create', '--role', 'executor', '--name', 'box', ...at])).toMatchObject({
    err: about("an executor's token for box, good until revoked"),
  })
})

test('what is wrong with a name is said without the name of a field that nobody typed', async () => {
  await using scratch = new Scratch()
  const { run } = commandsHere(scratch)
  const at = ['--data', scratch.data]
  expect((await run(['user', 'disable', 'nobody', ...at])).err).toMatch(/^parley: there is no user nobody\b/)
  expect((await run(['user', 'add', 'a b', ...at])).err).toMatch(/^parley: the name of a user must be 1 to 64 /)
})

test('a token goes into a new file that only its owner can read, and one that others can read is told of', async () => {
  await using scratch = new Scratch()
  const { run, json } = commandsHere(scratch)
  const at = ['--data', scratch.data]
  const create = ['token', 'create', '--role', 'judge', '--name', 'tower', ...at]
  expect(await run([...create, '--out', 'token'])).toEqual({
    code: 0,
    out: '',
    err: expect.stringMatching(/^tok_\w+ is a judge's token for tower, .*It is in token, which only you can read\.\n$/),
  })
  const path = join(scratch.folder, 'token')
  expect(readFileSync(path, 'utf8')).toMatch(/^jdg_[\w-]+\n$/)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const before = (await json(['token', 'list', ...at])).items.length
  expect(await run([...create, '--out', 'token'])).toEqual({
    code: 2,
    out: '',
    err: expect.stringContaining('--out token: there is a file of that name already'),
  })
  // Nothing is made that has no place, and nothing is left of what was not made.
  expect((await json(['token', 'list', ...at])).items).toHaveLength(before)
  expect((await run(['token', 'create', '--role', 'user', '--user', 'nobody', '--out', 'none', ...at])).code).toBe(1)
  expect(statSync(join(scratch.folder, 'none'), { throwIfNoEntry: false })).toBeUndefined()
  expect(await json([...create, '--out', 'other'])).toEqual({
    ...{ file: join(scratch.folder, 'other'), id: expect.stringMatching(/^tok_/), role: 'judge', expires_at: null },
  })
  const reading = ['job', 'list', '--url', 'http://127.0.0.1:1', '--token-file', 'token']
  expect((await run(reading)).err).not.toContain('others')
  chmodSync(path, 0o644)
  expect((await run(reading)).err).toMatch(/^warning: --token-file token: others .* can read this token; chmod 600 token\n/)
})

test.each([
  ['key', '--key-file', ['channel', 'set', 'main']],
  ['password', '--password-file', ['user', 'passwd', 'admin']],
])('a %s in a file that others can read is warned of as a token is', async (secret, flag, command) => {
  await using scratch = new Scratch()
  const { run } = commandsHere(scratch)
  const path = join(scratch.folder, 'held')
  writeFileSync(path, 'one-word-of-mine\n', { mode: 0o600 })
  const reading = [...command, '--url', 'http://127.0.0.1:1', '--token', 'pat_x', flag, 'held']
  expect((await run(reading)).err).not.toContain('others')
  chmodSync(path, 0o640)
  expect((await run(reading)).err).toContain(
    `warning: ${flag} held: others on this machine can read this ${secret}; chmod 600 held\n`,
  )
})

test('a token with characters that no token has is told as such, wherever it comes from', async () => {
  await using scratch = new Scratch()
  const { run } = commandsHere(scratch)
  writeFileSync(join(scratch.folder, 'token'), 'pat_x and more\n')
  const at = ['job', 'list', '--url', 'http://127.0.0.1:1']
  const told = (where: string) => ({
    code: 2,
    out: '',
    err: `parley: ${where}: the token has characters that no token has, such as spaces or line breaks (a token is one word, as parley token create prints it)\n`,
  })
  expect(await run(at, { env: { PARLEY_TOKEN: 'pat_x\ntok_y, for a user' } })).toEqual(told('PARLEY_TOKEN'))
  const judge = ['judge', '--url', 'http://127.0.0.1:1']
  expect(await run(judge, { env: { PARLEY_JUDGE_TOKEN: `jdg_${'x '.repeat(20)}y` } })).toEqual(told('PARLEY_JUDGE_TOKEN'))
  expect(await run([...at, '--token', 'pat_\u00e9'])).toEqual(told('--token'))
  expect(await run([...at, '--token-file', 'token'])).toEqual(told('--token-file token'))
})

test('a password that is not on standard input fails in one line of JSON as well', async () => {
  await using scratch = new Scratch()
  const { code, err, out } = await scratch.run(['user', 'passwd', 'nobody', '--data', scratch.data, '--json'])
  expect({ code, out, lines: err.trim().split('\n').length }).toEqual({ code: 2, out: '', lines: 1 })
  expect(JSON.parse(err)).toMatchObject({ error: { code: 'usage' } })
  expect(err).toContain('stdin')
})

test('a password is never taken from the command line', async () => {
  await using scratch = new Scratch()
  const { code, err } = await commandsHere(scratch).run([
    'user',
    'add',
    'bob',
    '--password',
    'secret-in-ps',
    '--data',
    scratch.data,
  ])
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('no option --password') })
})
