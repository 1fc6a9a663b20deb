import { chmodSync, copyFileSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MANY_PROCESSES, Scratch } from '../../fixture/parley.ts'
import { hasTerminals, onTerminal } from '../../fixture/pty.ts'
import { commandsHere } from '../../fixture/run-here.ts'

test('a backup of a running instance, restored elsewhere with its secret, has everything', MANY_PROCESSES, async () => {
  await using scratch = new Scratch()
  const here = commandsHere(scratch)
  const at = ['--data', scratch.data]
  const up = await scratch.start(['up', '--no-judge', '--port', '0', ...at, '--json'])
  await here.json(['user', 'add', 'ann', ...at])
  const made = await here.json(['token', 'create', '--role', 'user', '--user', 'ann', ...at])
  const { file } = await scratch.json(['backup', 'copy.db', ...at])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const again = await here.run(['backup', 'copy.db', ...at, '--json'])
  expect(JSON.parse(again.err)).toMatchObject({ error: { code: 'already_exists' } })
  await here.json(['user', 'add', 'later', ...at])
  up.kill('SIGTERM')
  await up.exited

  const other = join(scratch.folder, 'other')
  expect(await scratch.json(['restore', file, '--data', other])).toEqual({ data: other, has_secret: false })
  const early = await scratch.run(['up', '--no-judge', '--port', '0', '--data', other, '--json'])
  expect(JSON.parse(early.err)).toMatchObject({
    error: {
      code: 'secret_missing',
      message: `${join(other, 'secret')} is not there, and this database was made with one`,
      hint: expect.stringContaining('from DATA/secret of the instance'),
    },
  })
  expect(existsSync(join(other, 'secret'))).toBe(false)
  copyFileSync(join(scratch.data, 'secret'), join(other, 'secret'))
  const restored = await scratch.start(['up', '--no-judge', '--port', '0', '--data', other, '--json'])
  const { items } = await here.json(['user', 'list', '--data', other])
  expect(items).toMatchObject([{ username: 'admin' }, { username: 'ann' }])
  const walk = await here.json(['doctor', '--url', restored.ready.url], { env: { PARLEY_TOKEN: made.token } })
  expect(walk).toMatchObject({
    ok: true,
    checks: [{ name: 'header' }, { name: 'token' }, { name: 'role', detail: 'user' }, {}, {}, {}, {}, { name: 'models' }],
  })
  const refused = await here.run(['restore', file, '--data', scratch.data, '--json'])
  expect(JSON.parse(refused.err)).toMatchObject({ error: { code: 'not_empty' } })
})

test('what is no backup is said to be none, and leaves no folder behind', async () => {
  await using scratch = new Scratch()
  const { run } = commandsHere(scratch)
  const [text, empty] = ['text', 'empty'].map((name) => join(scratch.folder, name))
  writeFileSync(text ?? '', 'dear diary')
  writeFileSync(empty ?? '', '')
  for (const file of [text, empty]) {
    const { code, err } = await run(['restore', file ?? '', '--data', scratch.data])
    expect({ code, err }).toEqual({ code: 1, err: `parley: ${file} is no backup\n` })
    expect(existsSync(scratch.data)).toBe(false)
  }
  // One that was there before stays.
  mkdirSync(scratch.data)
  await run(['restore', text ?? '', '--data', scratch.data])
  expect(existsSync(scratch.data)).toBe(true)
})

test('doctor walks a connection and names the step that fails', MANY_PROCESSES, async () => {
  await using scratch = new Scratch()
  const here = commandsHere(scratch)
  const at = ['--data', scratch.data]
  const up = await scratch.start(['up', '--no-judge', '--port', '0', ...at, '--json'])
  const { token } = await here.json(['token', 'create', '--role', 'user', '--user', 'admin', ...at])
  const names = ({ checks }: { checks: { name: string; status: string }[] }) =>
    checks.map(({ name, status }) => `${name} ${status}`)
  const walked = await scratch.json(['doctor', '--url', up.ready.url, '--token', token])
  const steps = ['header ok', 'token ok', 'role ok', 'server ok', 'subscribe ok', 'update ok', 're-read ok', 'models missing']
  expect(names(walked)).toEqual(steps)
  expect(walked.checks).toContainEqual({ name: 'role', status: 'ok', detail: 'user (an admin)' })
  expect(JSON.stringify(walked)).not.toContain(token)
  const walkWith = async (url: string, ...more: string[]) => {
    const { code, out } = await here.run(['doctor', '--url', url, ...more, '--json'])
    return { code, steps: names(JSON.parse(out)) }
  }
  // What a token with scopes leaves out is said, and is no fault of the connection.
  for (const [scope, models] of [
    ['approvals', 'models skipped'],
    ['read', 'models missing'],
    ['admin', 'models skipped'],
  ]) {
    const narrow = await here.json(['token', 'create', '--role', 'user', '--user', 'admin', '--scope', String(scope), ...at])
    expect(await walkWith(up.ready.url, '--token', narrow.token)).toEqual({
      code: 0,
      steps: [...steps.slice(0, 5), 'update skipped', 're-read ok', models],
    })
  }
  expect(await walkWith(up.ready.url)).toEqual({ code: 1, steps: ['header failed'] })
  expect(await walkWith(up.ready.url, '--token', 'pat_wrong')).toEqual({ code: 1, steps: ['header ok', 'token failed'] })
  // Where the wire knows what helps, that is the only hint.
  const tls = await here.run(['doctor', '--url', up.ready.url.replace('http:', 'https:'), '--token', token, '--json'])
  expect(JSON.parse(tls.out).checks).toContainEqual({
    name: 'server',
    status: 'failed',
    detail: expect.stringMatching(/does not speak TLS$/),
    hint: expect.stringMatching(/^try http:\/\/127\.0\.0\.1:\d+$/),
  })
  expect(await walkWith('http://127.0.0.1:1', '--token', token)).toEqual({ code: 1, steps: ['header ok', 'server failed'] })
  const local = await scratch.json(['doctor', ...at])
  expect(local.checks).toContainEqual(expect.objectContaining({ name: 'database', status: 'ok' }))
  expect(local.checks).toContainEqual(
    expect.objectContaining({ name: 'sandbox', status: 'ok', detail: expect.stringContaining('cage') }),
  )
})

test('doctor on a machine without anything says what is missing and makes nothing', async () => {
  await using scratch = new Scratch()
  const empty = join(scratch.folder, 'bin')
  mkdirSync(empty)
  const { out } = await scratch.run(['doctor', '--port', '0', '--data', scratch.data, '--json'], { env: { PATH: empty } })
  const { ok, checks } = JSON.parse(out)
  expect(ok).toBe(true)
  expect(checks).toContainEqual({
    name: 'codex',
    status: 'missing',
    detail: expect.stringContaining('not on PATH'),
    hint: expect.any(String),
  })
  expect(existsSync(scratch.data)).toBe(false)
})

test('config check shows every setting, masks secrets and names every problem', async () => {
  await using scratch = new Scratch()
  scratch.settings('port = 99999\nhots = "x"\n')
  const env = { PARLEY_SECRET: 'a-secret-that-must-not-be-seen-by-anybody' }
  const bad = await commandsHere(scratch).run(['config', 'check', '--json'], { env })
  expect(bad.code).toBe(1)
  expect(JSON.parse(bad.out)).toMatchObject({
    ok: false,
    problems: [{ key: 'port' }, { key: 'hots', message: expect.stringContaining('did you mean host') }],
  })
  scratch.settings('port = 7411\n')
  const good = await scratch.run(['config', 'check'], { env })
  expect(good.code).toBe(0)
  expect(good.out).toMatch(/port +7411 +file /)
  expect(good.out + good.err).not.toContain(env.PARLEY_SECRET)
})

test('version, help and a wrong word, as a person would try them', MANY_PROCESSES, async () => {
  await using scratch = new Scratch()
  expect(await scratch.json(['version'])).toMatchObject({ name: 'parley', version: expect.stringMatching(/^\d+\.\d+\.\d+/) })
  const bare = await scratch.run([])
  expect(bare).toMatchObject({ code: 0, out: expect.stringContaining('parley COMMAND --help'), err: '' })
  expect((await scratch.run(['help', 'token', 'create'])).out).toContain('--ttl TIME')
  expect(await scratch.run(['usr'])).toEqual({
    code: 2,
    out: '',
    err: 'parley: there is no command usr (did you mean parley user?)\n',
  })
})

test.skipIf(!hasTerminals())('at a terminal the log of a gateway looks as that of its workers', MANY_PROCESSES, async () => {
  await using scratch = new Scratch()
  mkdirSync(scratch.data, { recursive: true })
  chmodSync(scratch.data, 0o755)
  for (const start of [['gateway'], ['up', '--no-judge', '--no-host']]) {
    const { out } = await onTerminal(scratch, [...start, '--port', '0', '--data', scratch.data], {
      columns: 400,
      rows: 40,
      answers: [{ to: 'every start prints a new link', typed: '\u0003' }],
    })
    expect(out).toMatch(/^\d{4}-\S+Z gateway warn: the data folder is open to other users: chmod 700 it \(path=\S+\)\r?$/m)
    expect(out).not.toMatch(/^\{/m)
  }
})
