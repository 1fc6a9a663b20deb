import { expect, test } from 'vitest'
import { type TestGateway, logIn, openTestGateway, postJson } from '../fixture/test-gateway.ts'

const PASSWORD = 'correct horse battery'
const LINK_MS = 15 * 60_000

async function makeLink(gw: TestGateway, username: string): Promise<string> {
  const { structuredContent } = await gw.admin('user.link', { username })
  return String(structuredContent?.['url']).split('#link=')[1] ?? ''
}

async function check(gw: TestGateway, token: string): Promise<unknown> {
  const response = await postJson(`${gw.gateway.url}/api/auth/link/check`, { token })
  return { status: response.status, ...Object(await response.json()) }
}

const use = (gw: TestGateway, token: string) => postJson(`${gw.gateway.url}/api/auth/link`, { token })

test('a link can be looked at as often as one likes and still works; then it says that it was used', async () => {
  await using gw = await openTestGateway()
  await gw.admin('user.add', { username: 'ada' })
  const link = await makeLink(gw, 'ada')
  const good = { status: 200, state: 'good', username: 'ada', expires_at: expect.any(String) }
  expect([await check(gw, link), await check(gw, link)]).toEqual([good, good])
  expect((await use(gw, link)).status).toBe(200)
  expect(await check(gw, link)).toEqual({ status: 200, state: 'used' })
})

test('one that is too old says so, to who looks and to who clicks', async () => {
  let time = Date.now()
  await using gw = await openTestGateway({ now: () => time })
  time -= LINK_MS + 1_000
  const link = await makeLink(gw, 'admin')
  expect(await check(gw, link)).toEqual({ status: 200, state: 'expired' })
  expect(await (await use(gw, link)).json()).toMatchObject({
    error: { code: 'unknown_link', message: expect.stringContaining('too old') },
  })
})

test('what is no link, and one of an account that was disabled or got a password since, is unknown', async () => {
  await using gw = await openTestGateway()
  const links: string[] = []
  for (const username of ['ada', 'bob']) {
    await gw.admin('user.add', { username })
    links.push(await makeLink(gw, username))
  }
  await gw.admin('user.disable', { username: 'ada' })
  await gw.admin('user.passwd', { username: 'bob', password: PASSWORD })
  for (const text of [...links, '', 'lnk_short', `lnk_${'x'.repeat(43)}`])
    expect({ text, answer: await check(gw, text) }).toEqual({ text, answer: { status: 200, state: 'unknown' } })
  const answer = await use(gw, `lnk_${'x'.repeat(43)}`)
  expect({ status: answer.status, body: await answer.json() }).toMatchObject({
    status: 401,
    body: { error: { code: 'unknown_link' } },
  })
})

test('looking at links is slowed like guessing passwords; good ones cost nothing', async () => {
  const rates = { perAddress: { perSecond: 0.001, burst: 3 }, perAccount: { perSecond: 0.001, burst: 3 } }
  await using gw = await openTestGateway({ limits: { signIn: rates } })
  const link = await makeLink(gw, 'admin')
  for (let times = 0; times < 5; times += 1) expect(await check(gw, link)).toMatchObject({ state: 'good' })
  const guess = () => check(gw, `lnk_${'x'.repeat(43)}`)
  expect([await guess(), await guess(), await guess(), await guess()]).toMatchObject([
    { status: 200 },
    { status: 200 },
    { status: 200 },
    { status: 429, error: { code: 'rate_limited' } },
  ])
  const { structuredContent } = await gw.admin('audit.search', { action: 'sign-in', outcome: 'denied' })
  expect(structuredContent).toMatchObject({ items: Array.from({ length: 3 }, () => ({ code: 'unknown_link', target: null })) })
})

test('whether there is a password is told to its owner', async () => {
  await using gw = await openTestGateway()
  await gw.admin('user.add', { username: 'ada', password: PASSWORD })
  const me = async (token: string) =>
    (await fetch(`${gw.gateway.url}/api/auth/me`, { headers: { authorization: `Bearer ${token}` } })).json()
  expect(await me(gw.adminToken)).toMatchObject({ user: { username: 'admin', has_password: false } })
  const { access_token: token } = await logIn(gw.gateway.url, 'ada', PASSWORD)
  expect(await me(token)).toMatchObject({ user: { username: 'ada', has_password: true } })
})
