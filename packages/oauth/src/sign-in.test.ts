import { type Socket, connect } from 'node:net'
import { expect, test } from 'vitest'
import { openOauthServer } from './testing/oauth-server.ts'
import { type SignInOptions, discoverOauth, refreshTokens, signIn } from './index.ts'

/** A person with a browser, who follows where it leads. */
const browse = (url: string): void => void fetch(url, { redirect: 'follow' }).then((answer) => answer.text())

async function options(url: string, more: Partial<SignInOptions> = {}): Promise<SignInOptions> {
  const server = await discoverOauth(url)
  if (server === undefined) throw new Error('nothing found')
  return { server, clientName: 'Test', open: browse, timeoutMs: 60_000, now: () => 1_000, ...more }
}

test('a person signs in: found by the challenge, registered, with PKCE and for this server alone', async () => {
  await using server = await openOauthServer()
  const tokens = await signIn(await options(server.url))
  expect(tokens).toMatchObject({
    client_id: 'client-1',
    scope: 'tools',
    issuer: server.origin,
    resource: server.url,
    expires_at: 3_601_000,
  })
  expect(server.granted.has(tokens.access_token)).toBe(true)
  expect(server.asked).toEqual([
    'GET /mcp',
    'GET /.well-known/oauth-protected-resource/mcp',
    'GET /.well-known/oauth-authorization-server',
    'POST /register',
    'GET /authorize',
    'POST /token',
  ])
  const renewed = await refreshTokens(tokens, server.url, () => 2_000)
  expect(renewed.access_token).not.toBe(tokens.access_token)
})

test('a server without a token to ask for has no sign-in', async () => {
  await using server = await openOauthServer({ protected: false })
  expect(await discoverOauth(server.url)).toBe(undefined)
})

test.for([
  ['somebody who says no', { consent: 'no' }, {}, 'refused'],
  ['a server that registers nobody', { registers: false }, {}, 'unsupported'],
  ['nobody who comes back', {}, { open: () => undefined, timeoutMs: 50 }, 'timed_out'],
] as const)('%s ends it with a reason', async ([, setup, more, code]) => {
  await using server = await openOauthServer(setup)
  await expect(signIn(await options(server.url, more))).rejects.toMatchObject({ code })
  expect(server.granted.size).toBe(0)
})

test('connections that say nothing are few, and in the way of nobody who comes back', async () => {
  await using server = await openOauthServer()
  const silent: Socket[] = []
  const flooded = async (url: string): Promise<void> => {
    const { port } = new URL(new URL(url).searchParams.get('redirect_uri') ?? '')
    for (let at = 0; at < 200; at += 1)
      silent.push(
        connect(Number(port), '127.0.0.1')
          .on('error', () => undefined)
          .resume(),
      )
    await expect.poll(() => silent.filter((socket) => socket.destroyed).length).toBeGreaterThanOrEqual(200 - 32)
    browse(url)
  }
  let flood = Promise.resolve()
  await signIn(await options(server.url, { open: (url) => void (flood = flooded(url)) }))
  await flood
  for (const socket of silent) socket.destroy()
})

test('an answer with another state is not believed', async () => {
  await using server = await openOauthServer()
  const forged = (url: string): void => {
    const back = new URL(new URL(url).searchParams.get('redirect_uri') ?? '')
    back.search = '?code=stolen&state=guessed'
    void fetch(back)
  }
  await expect(signIn(await options(server.url, { open: forged }))).rejects.toMatchObject({ code: 'refused' })
})

test.for([
  ['a page that is a file', { server: { authorization_endpoint: 'file:///etc/passwd' } }, /not https/],
  ['a page that is a script', { server: { authorization_endpoint: 'javascript:alert(1)' } }, /not https/],
  ['a page that anybody can listen to', { server: { authorization_endpoint: 'http://pages.example/authorize' } }, /not https/],
  ['another issuer', { server: { issuer: 'https://other.example' } }, /cannot be used/],
  ['a registration elsewhere in the clear', { server: { registration_endpoint: 'http://other.example/r' } }, /not https/],
  ['metadata without an end', { server: { more: 'x'.repeat(300_000) } }, /cannot be asked/],
  ['an authorization server that is no address', { resource: { authorization_servers: ['nowhere'] } }, /no https address/],
  ['an authorization server that is a file', { resource: { authorization_servers: ['file:///etc/passwd'] } }, /no https address/],
] as const)('a server that lies is not followed: %s', async ([, lies, words]) => {
  await using server = await openOauthServer({ lies })
  const opened: string[] = []
  const tried = (async () => signIn(await options(server.url, { open: (url) => void opened.push(url) })))()
  await expect(tried).rejects.toMatchObject({ name: 'OauthError', message: expect.stringMatching(words) })
  expect(opened).toEqual([])
})

test('nobody there, and plain http that leaves the machine, are said as they are', async () => {
  await expect(discoverOauth('http://127.0.0.1:9/mcp')).rejects.toMatchObject({ code: 'unreachable' })
  await expect(discoverOauth('http://models.example/mcp')).rejects.toMatchObject({
    code: expect.any(String),
    message: expect.stringContaining('not https'),
  })
})
