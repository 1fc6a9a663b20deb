import { createLogger } from '@parley/access'
import { randomBytes } from 'node:crypto'
import { type Store, openStore } from '@parley/store'
import { type TestEngine, startEngine, startPostgres } from '@parley/store/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callTool, listIn, optionsOf, postJson, request, signInByLink } from './fixture/test-gateway.ts'
import { TestSession, TestSocket } from './fixture/wires.ts'
import { openGateway } from './gateway.ts'
import { openLocalAdmin } from './local-admin.ts'
import type { Gateway } from './options.ts'

let postgres: TestEngine
beforeAll(async () => {
  postgres = await startEngine('postgres')
})
afterAll(() => postgres.stop())

test('of two gateways that start at once on an empty database one makes the admin, and each lets in whom the other signed in', async () => {
  await using pair = await openPair(await postgres.migratedUrl())
  expect([pair.a, pair.b].map(({ firstAdmin }) => firstAdmin?.username)).toEqual(['admin', 'admin'])
  const token = await pair.adminToken()
  expect((await callTool(pair.a.url, token, 'user.list')).structuredContent).toMatchObject({ items: [{ username: 'admin' }] })
  for (const { url } of [pair.a, pair.b])
    expect((await callTool(url, token, 'account.get')).structuredContent).toMatchObject({ name: 'admin' })
  const session = await TestSession.open(pair.a.url, token)
  const elsewhere = await TestSession.at(pair.b.url, session.id).send(token, {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/list',
    params: {},
  })
  expect(elsewhere.status).toBe(404)
})

test('what one gateway revokes, the other cuts: token, what a token made, sign-in, account', async () => {
  await using pair = await openPair(await postgres.migratedUrl())
  const { a, b } = pair
  const admin = await pair.adminToken()
  const tool = async (name: string, args: object) => (await callTool(a.url, admin, name, args)).structuredContent ?? {}
  await tool('user.add', { username: 'ada' })
  const judge = await tool('token.create', { role: 'judge', name: 'j1' })
  const personal = await tool('token.create', { role: 'user', username: 'ada' })
  const scoped = { role: 'user', username: 'admin', scopes: ['jobs'] }
  const maker = await tool('token.create', { ...scoped, scopes: ['jobs', 'admin'] })
  const made = (await callTool(a.url, String(maker['token']), 'token.create', scoped)).structuredContent
  const link = await tool('user.link', { username: 'ada' })
  const signedIn = await postJson(`${b.url}/api/auth/link`, { token: String(link['url']).split('=')[1] })
  const { access_token: jwt } = (await signedIn.json()) as { access_token: string }

  const cases: [token: string, end: () => Promise<unknown>][] = [
    [String(judge['token']), () => tool('token.revoke', { id: judge['id'] })],
    [String(made?.['token']), () => tool('token.revoke', { id: maker['id'] })],
    [jwt, () => postJson(`${a.url}/api/auth/logout`, {}, { authorization: `Bearer ${jwt}` })],
    [String(personal['token']), () => tool('user.disable', { username: 'ada' })],
  ]
  for (const [token, end] of cases) {
    const socket = await TestSocket.open(b.ws, token)
    const session = await TestSession.open(b.url, token)
    const stream = await session.stream(token)
    expect((await socket.call('tools/list')).result).toBeDefined()
    await end()
    expect(await socket.closed).toMatchObject({ code: 1008, reason: 'revoked_token' })
    await stream.text().catch(() => '')
    expect((await request(b.url, token, 'tools/list')).body.error?.code).toBe('revoked_token')
  }
})

test('a change made beside the gateways, straight on the database, reaches both', async () => {
  const url = await postgres.migratedUrl()
  await using pair = await openPair(url)
  const store = await openStore({ url })
  const log = createLogger({ level: 'silent', destination: { write: () => undefined } })
  const local = openLocalAdmin({ store, baseUrl: pair.a.url, log, now: Date.now, random: randomBytes })
  const { token, id } = await local.call('token.create', { role: 'judge', name: 'j1' })
  const sockets = [await TestSocket.open(pair.a.ws, token), await TestSocket.open(pair.b.ws, token)]
  await local.call('token.revoke', { id })
  for (const socket of sockets) expect(await socket.closed).toMatchObject({ reason: 'revoked_token' })
  await local.close()
  await store.close()
})

test('what both write down at once is one log without a gap', async () => {
  await using pair = await openPair(await postgres.migratedUrl())
  const admin = await pair.adminToken()
  const calls = Array.from({ length: 40 }, (_, index) =>
    callTool((index % 2 === 0 ? pair.a : pair.b).url, admin, 'user.add', { username: `u${index}` }),
  )
  await Promise.all(calls)
  const { structuredContent } = await callTool(pair.a.url, admin, 'audit.search', { limit: 1_000 })
  const seqs = listIn<{ seq: number }>(structuredContent, 'items').map(({ seq }) => seq)
  expect(seqs).toEqual(seqs.map((_, index) => seqs.length - index))
  const added = listIn<{ action: string; code: string | null }>(structuredContent, 'items').filter(
    ({ action }) => action === 'user.add',
  )
  expect([added.filter(({ code }) => code === 'begun').length, added.filter(({ code }) => code === null).length]).toEqual([
    40, 40,
  ])
})

interface Pair extends AsyncDisposable {
  readonly a: Gateway
  readonly b: Gateway
  adminToken(): Promise<string>
}

async function openPair(url: string): Promise<Pair> {
  const stores: Store[] = [await openStore({ url }), await openStore({ url })]
  const opened = await Promise.all(stores.map((store) => openGateway(optionsOf(store, []))))
  const [a, b] = opened
  if (a === undefined || b === undefined) throw new Error('two gateways were asked for')
  return {
    a,
    b,
    adminToken: () => signInByLink(a),
    async [Symbol.asyncDispose]() {
      for (const gateway of opened) await gateway.close(200)
      for (const store of stores) await store.close()
    },
  }
}

test('a database that goes away: not ready, nothing is changed, whoever is known may still read', async () => {
  const own = await startPostgres()
  const store = await openStore({ url: own.url })
  const gateway = await openGateway(optionsOf(store, []))
  const admin = await signInByLink(gateway)
  const socket = await TestSocket.open(gateway.ws, admin)
  await own.stop()
  const { url } = gateway
  expect((await fetch(`${url}/readyz`)).status).toBe(503)
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  expect((await socket.call('tools/call', { name: 'account.get' })).result).toMatchObject({
    structuredContent: { name: 'admin' },
  })
  const refused = await socket.call('tools/call', { name: 'user.add', arguments: { username: 'ada' } })
  expect(refused.result).toMatchObject({ isError: true, _meta: { 'parley/error': { code: 'unavailable' } } })
  const stranger = await request(url, `jdg_${randomBytes(32).toString('base64url')}`, 'tools/list')
  expect({ status: stranger.status, code: stranger.body.error?.code }).toEqual({ status: 503, code: 'unavailable' })
  expect((await postJson(`${url}/api/auth/login`, { username: 'admin', password: 'x' })).status).toBe(503)
  socket.socket.close()
  await gateway.close(200)
  await store.close()
})
