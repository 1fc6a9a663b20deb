import { join } from 'node:path'
import { openStore } from '@parley/store'
import { expect, test } from 'vitest'
import { logIn, openTestGateway, optionsOf, postJson, request } from '../fixture/test-gateway.ts'
import { TestSocket } from '../fixture/wires.ts'
import { openGateway } from '../gateway.ts'
import type { Gateway } from '../options.ts'

const PASSWORD = 'correct horse battery'

const linkIn = (gateway: Gateway): string => String(gateway.firstAdmin?.signIn).split('#link=')[1] ?? ''

test('while the first admin has no password every start makes a link; each works once and says so', async () => {
  await using gw = await openTestGateway()
  expect(gw.gateway.firstAdmin).toEqual({
    username: 'admin',
    signIn: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/#link=lnk_[A-Za-z0-9_-]{43}$/),
  })
  const again = await postJson(`${gw.gateway.url}/api/auth/link`, { token: linkIn(gw.gateway) })
  expect({ status: again.status, body: await again.json() }).toMatchObject({
    status: 401,
    body: { error: { code: 'unknown_link', message: expect.stringContaining('used already') } },
  })
  const [second, third] = [await gw.restart(), await gw.restart()]
  const links = [second, third].map(linkIn)
  expect(new Set(links).size).toBe(2)
  // Another gateway on the same database may have shown the earlier one a moment ago: it stays good until its time is over.
  for (const token of links) expect((await postJson(`${third.url}/api/auth/link`, { token })).status).toBe(200)
  const { structuredContent } = await gw.admin('audit.search', { action: 'user.link' })
  expect(structuredContent).toMatchObject({
    items: Array.from({ length: 3 }, () => ({ actor: 'local', target: 'admin', outcome: 'ok' })),
  })
  await gw.admin('user.passwd', { username: 'admin', password: PASSWORD })
  const restarted = await gw.restart()
  expect(restarted.firstAdmin).toEqual({ username: 'admin' })
})

test('the one who signs in at a start is the oldest admin who can', async () => {
  await using gw = await openTestGateway({ firstAdmin: { username: 'zoe' } })
  await gw.admin('user.add', { username: 'ann', admin: true })
  // The setting names the account that an empty database gets, and nothing later.
  expect((await gw.restart({ firstAdmin: { username: 'bob' } })).firstAdmin).toMatchObject({ username: 'zoe' })
  await gw.admin('user.disable', { username: 'zoe' })
  expect((await gw.restart()).firstAdmin).toMatchObject({ username: 'ann', signIn: expect.any(String) })
})

test('a first admin with a password of the settings gets no link', async () => {
  await using gw = await openTestGateway()
  const store = await openStore({ url: `sqlite:${join(gw.folder, 'other.db')}` })
  const gateway = await openGateway(optionsOf(store, [], { firstAdmin: { username: 'ann', password: PASSWORD } }))
  expect(gateway.firstAdmin).toEqual({ username: 'ann' })
  await gateway.close(0)
  await store.close()
})

test('a sign-in survives a restart', async () => {
  await using gw = await openTestGateway()
  const restarted = await gw.restart()
  // The sign-in survives the restart: it is in the store, and the key comes from the secret.
  expect((await request(restarted.url, gw.adminToken, 'tools/list')).status).toBe(200)
})

test('a link is good for fifteen minutes', async () => {
  let time = Date.now()
  await using gw = await openTestGateway({ now: () => time })
  await gw.admin('user.add', { username: 'ada' })
  const make = async () => {
    const { structuredContent } = await gw.admin('user.link', { username: 'ada' })
    return String(structuredContent?.['url']).split('=')[1]
  }
  const link = await make()
  expect((await postJson(`${gw.gateway.url}/api/auth/link`, { token: link })).status).toBe(200)
  // A record that the gateway's clock made in the past is too old by the store's.
  time = Date.now() - 16 * 60_000
  const old = await make()
  expect((await postJson(`${gw.gateway.url}/api/auth/link`, { token: old })).status).toBe(401)
})

test('signing in by password gives a token that says who one is', async () => {
  await using gw = await openTestGateway()
  await gw.admin('user.add', { username: 'ada', password: PASSWORD })
  const { access_token: token, expires_at } = await logIn(gw.gateway.url, 'ada', PASSWORD)
  const me = await fetch(`${gw.gateway.url}/api/auth/me`, { headers: { authorization: `Bearer ${token}` } })
  expect(await me.json()).toMatchObject({ user: { username: 'ada' }, role: 'user', admin: false, expires_at })
  expect(Date.parse(expires_at) - Date.now()).toBeGreaterThan(11.9 * 3_600_000)

  const nobody = await postJson(`${gw.gateway.url}/api/auth/login`, { username: 'nobody', password: PASSWORD })
  const wrong = await postJson(`${gw.gateway.url}/api/auth/login`, { username: 'ada', password: 'wrong password' })
  expect([nobody.status, wrong.status]).toEqual([401, 401])
  expect(await nobody.json()).toEqual(await wrong.json())
  await gw.admin('user.disable', { username: 'ada' })
  const disabled = await postJson(`${gw.gateway.url}/api/auth/login`, { username: 'ada', password: PASSWORD })
  expect({ status: disabled.status, body: await disabled.json() }).toMatchObject({
    status: 403,
    body: { error: { code: 'account_disabled' } },
  })
})

test('sign-up is off unless it is switched on, and never makes an admin', async () => {
  await using gw = await openTestGateway()
  const body = { username: 'ada', password: PASSWORD }
  const off = await postJson(`${gw.gateway.url}/api/auth/signup`, body)
  expect({ status: off.status, body: await off.json() }).toMatchObject({
    status: 403,
    body: { error: { code: 'signup_disabled' } },
  })
  const { url } = await gw.restart({ signup: true })
  const made = await postJson(`${url}/api/auth/signup`, body)
  expect({ status: made.status, body: await made.json() }).toMatchObject({
    status: 201,
    body: { token_type: 'Bearer', user: { username: 'ada', admin: false } },
  })
  const taken = await postJson(`${url}/api/auth/signup`, body)
  expect({ status: taken.status, body: await taken.json() }).toMatchObject({
    status: 409,
    body: { error: { code: 'already_exists', field: 'username' } },
  })
  const sneaky = await postJson(`${url}/api/auth/signup`, { ...body, username: 'eve', admin: true })
  expect({ status: sneaky.status, body: await sneaky.json() }).toMatchObject({ status: 422, body: { error: { field: 'admin' } } })
})

test('bad requests are told what is wrong', async () => {
  await using gw = await openTestGateway()
  const url = `${gw.gateway.url}/api/auth/login`
  const cases: [request: RequestInit, status: number, code: string][] = [
    [{ method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{}' }, 415, 'unsupported_media_type'],
    [{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '' }, 400, 'parse_error'],
    [{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":' }, 400, 'parse_error'],
    [{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '[]' }, 422, 'invalid_argument'],
    [{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"username":"a"}' }, 422, 'invalid_argument'],
    [
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ username: 'a', password: 'x'.repeat(70_000) }),
      },
      413,
      'too_large',
    ],
    [{ method: 'GET' }, 404, 'not_found'],
    [
      { method: 'POST', headers: { 'content-type': 'application/json', origin: 'https://evil.example' }, body: '{}' },
      403,
      'forbidden_origin',
    ],
  ]
  for (const [init, status, code] of cases) {
    const response = await fetch(url, init)
    expect({ init, status: response.status, body: await response.json() }).toMatchObject({ status, body: { error: { code } } })
  }
})

test('guessing is slowed by address and by account, and the account itself is still there by another way', async () => {
  const rates = { perAddress: { perSecond: 0.001, burst: 6 }, perAccount: { perSecond: 0.001, burst: 3 } }
  await using gw = await openTestGateway({ limits: { signIn: rates } })
  await gw.admin('user.add', { username: 'ada', password: PASSWORD })
  const guess = (username: string) => postJson(`${gw.gateway.url}/api/auth/login`, { username, password: 'wrong password' })
  const answers = await Promise.all(Array.from({ length: 12 }, () => guess('ada')))
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
  expect(statuses).toEqual([401, 401, 401, 429, 429, 429, 429, 429, 429, 429, 429, 429])
  const limited = answers.find(({ status }) => status === 429)
  expect(Number(limited?.headers.get('retry-after'))).toBeGreaterThan(1)
  expect((await postJson(`${gw.gateway.url}/api/auth/login`, { username: 'ada', password: PASSWORD })).status).toBe(429)
  const others = await Promise.all(['b', 'c', 'd', 'e'].map(guess))
  expect(others.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([401, 401, 401, 429])
  expect((await request(gw.gateway.url, gw.adminToken, 'tools/list')).status).toBe(200)
})

test('a flood of sign-ins waits in a short queue and is turned away beyond it, while calls go on', async () => {
  const rates = { perAddress: { perSecond: 1000, burst: 1000 }, perAccount: { perSecond: 1000, burst: 1000 } }
  await using gw = await openTestGateway({ limits: { signIn: rates } })
  const socket = await TestSocket.open(gw.gateway.ws, gw.adminToken)
  const flood = Array.from({ length: 40 }, (_, index) =>
    postJson(`${gw.gateway.url}/api/auth/login`, { username: `u${index}`, password: 'x' }),
  )
  const statuses = Promise.all(flood.map(async (answer) => (await answer).status))
  expect((await socket.call('tools/list')).result).toBeDefined()
  const counted = Object.groupBy(await statuses, String)
  expect(Object.keys(counted).toSorted()).toEqual(['401', '429'])
  expect(counted['429']?.length).toBeGreaterThan(0)
  socket.socket.close()
})

test('another secret is refused, and so is one that is too short', async () => {
  await using gw = await openTestGateway()
  await expect(gw.restart({ secret: new Uint8Array(32).fill(8) })).rejects.toMatchObject({ code: 'secret_mismatch' })
  await expect(gw.restart({ secret: new Uint8Array(31) })).rejects.toMatchObject({ code: 'secret_too_short' })
})

test('a new password that is set while the old one is compared lets nobody in by the old one', async () => {
  await using gw = await openTestGateway()
  await gw.admin('user.add', { username: 'ada', password: PASSWORD })
  const { users } = gw.store
  const byName = users.byName.bind(users)
  // The other password is there before the comparison ends: it is set in the moment in which the account was read.
  users.byName = async (username) => {
    const user = await byName(username)
    if (user !== undefined) await users.setPassword(user.id, 'another hash')
    return user
  }
  const reply = await postJson(`${gw.gateway.url}/api/auth/login`, { username: 'ada', password: PASSWORD })
  expect({ status: reply.status, body: await reply.json() }).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
  users.byName = byName
  const { structuredContent } = await gw.admin('audit.search', { action: 'sign-in' })
  expect(structuredContent).toMatchObject({ items: [{ target: 'ada', outcome: 'denied', code: 'conflict' }] })
})
