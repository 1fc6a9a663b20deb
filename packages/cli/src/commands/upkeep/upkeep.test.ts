import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ONE_CASE_ZIP } from '@parley/store/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LocalGateway } from '../../fixture/local-gateway.ts'
import { Scratch } from '../../fixture/parley.ts'
import { hasTerminals, onTerminal } from '../../fixture/pty.ts'
import { commandsHere } from '../../fixture/run-here.ts'

const scratch = new Scratch()
const { run, json } = commandsHere(scratch)
const at = ['--data', scratch.data]
let gateway: LocalGateway
beforeAll(async () => {
  gateway = await LocalGateway.open(scratch.data)
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await scratch[Symbol.asyncDispose]()
})

const tokenOf = async (username: string) => (await gateway.call('token.create', { role: 'user', username })).token
const as = async (username: string) => ({ env: { PARLEY_URL: gateway.url, PARLEY_TOKEN: await tokenOf(username) } })

test('the audit log is searched and exported from the shell', async () => {
  await gateway.call('user.add', { username: 'audited' })
  await run(['user', 'disable', 'nobody-here', ...at])
  const shown = await run(['audit', 'search', '--action', 'user.add', '--since', '5m', ...at], { env: { TZ: 'Asia/Tokyo' } })
  expect(shown).toMatchObject({ code: 0 })
  expect(shown.out).toMatch(
    /^when +who +did +to +outcome +code +from\n(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +local +user\.add [^\n]*\n)+$/,
  )
  const { items } = await json(['audit', 'search', '--action', 'user.add', '--limit', '1', ...at])
  const tokyo = new Date(Date.parse(items[0].at) + 9 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ')
  expect(shown.out).toContain(tokyo)
  const failed = await json(['audit', 'search', '--outcome', 'failed', '--actor', 'local', ...at])
  expect(failed.items).toContainEqual(expect.objectContaining({ action: 'user.disable', code: 'not_found' }))
  expect(await json(['audit', 'search', '--until', '2001-01-01', ...at])).toMatchObject({ items: [] })
  for (const time of ['yesterday', '2026-13-01', '2026-02-30 25:00', '-1d'])
    expect(await run(['audit', 'search', `--since=${time}`, ...at])).toMatchObject({ code: 2, out: '' })

  const told = await json(['audit', 'export', '--out', 'audit.jsonl', ...at])
  const entries = readFileSync(join(scratch.folder, 'audit.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(told).toEqual({ file: join(scratch.folder, 'audit.jsonl'), entries: entries.length, last_seq: entries.at(-1).seq })
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
  const rest = await run(['audit', 'export', '--after', String(told.last_seq - 1), ...at])
  expect(JSON.parse(rest.out.split('\n')[0] ?? '')).toEqual(entries.at(-1))
  await gateway.call('user.add', { username: 'plain' })
  expect(await run(['audit', 'search'], await as('plain'))).toMatchObject({
    code: 1,
    err: expect.stringContaining("needs an admin's"),
  })
})

test('audit search --changes leaves out what only reads, and the beginning of what has ended', async () => {
  await gateway.call('user.add', { username: 'changed' })
  await run(['user', 'list', ...at])
  await run(['user', 'disable', 'nobody-there', ...at])
  const { items } = await json(['audit', 'search', '--changes', '--limit', '2', ...at])
  expect(items).toMatchObject([
    { action: 'user.disable', target: 'nobody-there', outcome: 'failed', code: 'not_found' },
    { action: 'user.add', outcome: 'ok', code: null },
  ])
  const all = await json(['audit', 'search', ...at])
  expect(all.items.map(({ action }: { action: string }) => action)).toContain('user.list')
  expect((await json(['audit', 'search', '--changes', '--action', 'user.list', ...at])).items).toEqual([])
})

test('a quota is shown and set, and people see their own', async () => {
  await gateway.call('user.add', { username: 'ann' })
  const set = await json(['quota', 'set', 'ann', '--jobs', '2', '--usd', '1.5', ...at])
  expect(set).toMatchObject({
    username: 'ann',
    quota: { jobs_at_once: { limit: 2 }, tokens_per_day: { limit: null }, microusd_per_day: { limit: 1_500_000 } },
  })
  expect(await json(['quota', 'set', 'ann', '--jobs', 'default', ...at])).toMatchObject({
    quota: { jobs_at_once: { limit: null }, microusd_per_day: { limit: 1_500_000 } },
  })
  expect((await json(['quota', 'show', 'ann', ...at])).quota).toMatchObject({ microusd_per_day: { used: 0, limit: 1_500_000 } })
  expect(await json(['quota', 'set', 'ann', '--kept-bytes', '4GiB', '--kept-jobs', '7', ...at])).toMatchObject({
    quota: { kept_bytes: { used: 0, limit: 4 * 1024 ** 3 }, kept_jobs: { used: 0, limit: 7 } },
  })
  const ann = await as('ann')
  expect((await run(['quota', 'show'], ann)).out).toMatch(
    /^Quota of ann:\n +used +of\n(?:.*\n)*cost today +\$0\.00 +\$1\.50\nkept jobs +0 +7\nkept bytes +0 +[^\n]+\nA new day begins at \d{4}-\d\d-\d\d \d\d:\d\d\.\n$/,
  )
  expect(await run(['quota', 'show', 'admin'], ann)).toMatchObject({ code: 1, err: expect.stringContaining("needs an admin's") })
  expect(await run(['quota', 'show', 'no-such', ...at])).toMatchObject({
    code: 1,
    err: expect.stringContaining('there is no user no-such'),
  })
  for (const wrong of [[], ['--jobs', 'x'], ['--jobs', '-1'], ['--usd', '1,5'], ['--tokens', '1.5'], ['--kept-bytes', '4GB']])
    expect(await run(['quota', 'set', 'ann', ...wrong, ...at])).toMatchObject({ code: 2, out: '' })
})

test('a job without artifacts says so beside the list, which is empty', async () => {
  const who = await as('admin')
  writeFileSync(join(scratch.folder, 'bare.cpp'), 'int main() {}\n')
  writeFileSync(join(scratch.folder, 'bare.zip'), Buffer.from(ONE_CASE_ZIP, 'base64'))
  await run(['job', 'submit', '--code', 'bare.cpp', '--tests', 'bare.zip', '--detach'], who)
  expect(await run(['job', 'artifacts', '@last'], who)).toEqual({
    code: 0,
    out: '',
    err: expect.stringMatching(/^job_\w+ has no artifacts\n$/),
  })
})

test('accounts are listed with their role, and with their state beside it', async () => {
  await gateway.call('user.add', { username: 'off', admin: true })
  await gateway.call('user.disable', { username: 'off' })
  await gateway.call('user.add', { username: 'on' })
  const { out } = await run(['user', 'list', ...at])
  expect(out).toMatch(/^name +role +state +last sign-in +id\n/)
  expect(out).toMatch(/^off +admin +disabled +never /m)
  expect(out).toMatch(/^on +user +enabled +never /m)
})

test('accounts are promoted, demoted and deleted, with a word before what cannot be undone', async () => {
  await gateway.call('user.add', { username: 'dot' })
  const dot = await as('dot')
  writeFileSync(join(scratch.folder, 'dot.cpp'), 'int main() {}\n')
  writeFileSync(join(scratch.folder, 'tests.zip'), Buffer.from(ONE_CASE_ZIP, 'base64'))
  await run(['job', 'submit', '--code', 'dot.cpp', '--tests', 'tests.zip', '--detach'], dot)
  expect(await json(['user', 'promote', 'dot', ...at])).toMatchObject({ user: { admin: true } })
  expect(await run(['user', 'delete', 'dot', '--yes'], dot)).toEqual({
    code: 1,
    out: '',
    err: expect.stringMatching(/^parley: .*dot is your own account \(another admin can do it[^\n]*\)\n$/),
  })
  expect(await run(['user', 'demote', 'dot', ...at])).toMatchObject({ code: 0, out: 'dot is no admin any more.\n' })
  for (const [command, more] of [
    ['demote', []],
    ['delete', ['--yes']],
    ['disable', []],
  ] as const)
    expect(await run(['user', command, 'admin', ...more, ...at])).toMatchObject({
      code: 1,
      err: expect.stringContaining('admin is the last admin who can sign in'),
    })
  expect(await run(['user', 'delete', 'dot', ...at])).toEqual({
    code: 2,
    out: '',
    err: 'parley: user delete dot cannot be undone (--yes does it without asking)\n',
  })
  expect(await run(['user', 'delete', 'dot', '--yes', ...at])).toMatchObject({
    code: 0,
    out: 'dot is deleted. 1 job was cancelled.\n',
  })
  expect(await run(['job', 'list'], dot)).toMatchObject({ code: 1, err: expect.stringContaining('401') })
})

test.skipIf(!hasTerminals())('on a terminal deleting is asked for, and Return alone means no', async () => {
  await gateway.call('user.add', { username: 'kim' })
  const args = ['user', 'delete', 'kim', ...at]
  const no = await onTerminal(scratch, args, { columns: 80, rows: 24, typed: '\n' })
  expect(no).toMatchObject({ code: 130, out: expect.stringContaining('Delete kim for good') })
  const yes = await onTerminal(scratch, args, { columns: 80, rows: 24, typed: 'y\n' })
  expect(yes).toMatchObject({ code: 0, out: expect.stringContaining('kim is deleted.') })
})
