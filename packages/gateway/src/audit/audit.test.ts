import { expect, test } from 'vitest'
import type { AuditEntry } from '@parley/protocol'
import type { Store } from '@parley/store'
import { mint, openTestGateway, postJson, request } from '../fixture/test-gateway.ts'
import { TestSocket } from '../fixture/wires.ts'

test('who did what is written down, in order, and can be searched and exported', async () => {
  await using gw = await openTestGateway()
  const { id, token } = await mint(gw, { role: 'judge', name: 'j1' })
  await request(gw.gateway.url, token, 'tools/call', { name: 'account.get' })
  await gw.admin('token.revoke', { id })
  await request(gw.gateway.url, token, 'tools/list')
  await gw.admin('user.disable', { username: 'nobody' })
  await postJson(`${gw.gateway.url}/api/auth/link`, { token: 'lnk_x' })

  const { structuredContent } = await gw.admin('audit.export')
  const lines = String(structuredContent?.['jsonl'])
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as AuditEntry)
  expect(lines.map(({ actor, role, action, target, outcome, code }) => [actor, role, action, target, outcome, code])).toEqual([
    ['admin', 'user', 'first-admin', expect.stringMatching(/^usr_/), 'ok', null],
    ['local', 'admin', 'user.link', 'admin', 'ok', null],
    ['admin', 'user', 'sign-in.link', null, 'ok', null],
    ['admin', 'admin', 'token.create', null, 'ok', 'begun'],
    ['admin', 'admin', 'token.create', id, 'ok', null],
    ['j1', 'judge', 'account.get', null, 'ok', null],
    ['admin', 'admin', 'token.revoke', null, 'ok', 'begun'],
    ['admin', 'admin', 'token.revoke', id, 'ok', null],
    ['anonymous', 'none', 'connect', null, 'denied', 'revoked_token'],
    ['admin', 'admin', 'user.disable', null, 'ok', 'begun'],
    ['admin', 'admin', 'user.disable', 'nobody', 'failed', 'not_found'],
    ['anonymous', 'none', 'sign-in', null, 'denied', 'unknown_link'],
  ])
  expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index + (lines[0]?.seq ?? 0)))
  expect(new Set(lines.map(({ remote }) => remote))).toEqual(new Set(['local', '127.0.0.1']))

  const found: AuditEntry[] = []
  let before: number | undefined
  do {
    const page: Record<string, unknown> =
      (
        await gw.admin('audit.search', {
          actor: 'admin',
          outcome: 'ok',
          limit: 2,
          ...(before === undefined ? {} : { before_seq: before }),
        })
      ).structuredContent ?? {}
    found.push(...(page['items'] as AuditEntry[]))
    before = (page['next_before_seq'] as number | null) ?? undefined
  } while (before !== undefined && found.length < 100)
  const actions = found.map(({ action }) => action).filter((action) => !action.startsWith('audit.'))
  expect(actions).toEqual([
    'user.disable',
    'token.revoke',
    'token.revoke',
    'token.create',
    'token.create',
    'sign-in.link',
    'first-admin',
  ])
})

test('an export goes on piece by piece until it is whole', async () => {
  await using gw = await openTestGateway()
  for (let index = 0; index < 12; index += 1) await gw.admin('account.get')
  let text = ''
  let after = 0
  let pieces = 0
  for (;;) {
    const { structuredContent } = await gw.admin('audit.export', { after_seq: after, max_bytes: 1024 })
    text += String(structuredContent?.['jsonl'])
    pieces += 1
    if (structuredContent?.['next_seq'] === null) break
    after = Number(structuredContent?.['next_seq'])
  }
  const seqs = text
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as AuditEntry).seq)
  expect(seqs).toEqual(seqs.map((_, index) => index + (seqs[0] ?? 0)))
  expect(pieces).toBeGreaterThan(2)
})

test('every call of a busy socket is in the log once, and what waits is written at shutdown', async () => {
  await using gw = await openTestGateway()
  const { token } = await mint(gw, { role: 'judge', name: 'busy' })
  const socket = await TestSocket.open(gw.gateway.ws, token)
  const calls = Array.from({ length: 900 }, () => socket.call('tools/call', { name: 'account.get' }))
  await Promise.all(calls)
  socket.socket.close()
  await gw.gateway.close(500)
  const seen = await gw.store.audit.search({ actor: 'busy', limit: 1_000 })
  expect(seen).toHaveLength(900)
})

test('a token that only reads writes its share of lines, and the rest is told as a number; changes are all there', async () => {
  // A clock that stands gives nothing back meanwhile.
  const at = Date.now()
  await using gw = await openTestGateway({ now: () => at })
  const { token } = await mint(gw, { role: 'judge', name: 'flood' })
  const socket = await TestSocket.open(gw.gateway.ws, token)
  for (let round = 0; round < 3; round += 1)
    await Promise.all(Array.from({ length: 800 }, () => socket.call('tools/call', { name: 'account.get' })))
  socket.socket.close()
  await gw.admin('user.add', { username: 'ada' })
  await gw.gateway.close(500)
  const lines = await gw.store.audit.search({ actor: 'flood', limit: 1_000 })
  expect(lines[0]).toMatchObject({ action: 'account.get', outcome: 'ok', target: '1400 times more' })
  const before = lines.at(-1)?.seq ?? 0
  expect(await gw.store.audit.search({ actor: 'flood', limit: 1_000, beforeSeq: before })).toHaveLength(1)
  expect(await gw.store.audit.search({ action: 'user.add', limit: 10 })).toHaveLength(2)
})

test('while the audit log cannot be written, nothing is changed and nobody signs in, but reading goes on', async () => {
  await using gw = await openTestGateway()
  const broken = { value: false }
  const store: Store = {
    ...gw.store,
    audit: {
      append: (entries) => (broken.value ? Promise.reject(new Error('disk full')) : gw.store.audit.append(entries)),
      search: (filter) => gw.store.audit.search(filter),
      after: (seq, limit) => gw.store.audit.after(seq, limit),
      prune: (before) => gw.store.audit.prune(before),
    },
  }
  await gw.restart({ store })
  await gw.admin('user.add', { username: 'before' })
  const { structuredContent: link } = await gw.admin('user.link', { username: 'before' })
  broken.value = true
  expect(await gw.admin('user.add', { username: 'ada' })).toMatchObject({
    isError: true,
    _meta: { 'parley/error': { code: 'unavailable' } },
  })
  expect(await gw.store.users.byName('ada')).toBeUndefined()
  expect((await postJson(`${gw.gateway.url}/api/auth/link`, { token: String(link?.['url']).split('=')[1] })).status).toBe(503)
  expect((await gw.admin('account.get')).isError).toBeUndefined()
  broken.value = false
  await gw.admin('user.add', { username: 'ada' })
  expect(await gw.store.users.byName('ada')).toBeDefined()
})
