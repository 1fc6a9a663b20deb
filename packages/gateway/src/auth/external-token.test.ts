import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SignJWT, exportJWK, generateKeyPair } from 'jose'
import { startEngine } from '@parley/store/testing'
import { expect, test } from 'vitest'
import { callTool, openTestGateway, request } from '../fixture/test-gateway.ts'
import { TestSocket } from '../fixture/wires.ts'

const ISSUER = 'https://id.example'
const AUDIENCE = 'https://parley.example/mcp'

test("an identity provider's token lets an existing user in, and only what it really signed for us", async () => {
  await using provider = await openProvider()
  const jwks = { url: provider.url, issuer: ISSUER, audience: AUDIENCE, claim: 'preferred_username' }
  await using gw = await openTestGateway({ jwks })
  const { url } = gw.gateway
  await gw.admin('user.add', { username: 'ada' })
  const good = await provider.sign({ preferred_username: 'ada' })
  expect((await callTool(url, good, 'account.get')).structuredContent).toMatchObject({
    role: 'user',
    admin: false,
    name: 'ada',
    token_id: null,
  })

  const stranger = await generateKeyPair('ES256')
  const refused: [what: string, token: string, code: string][] = [
    ['nobody of ours', await provider.sign({ preferred_username: 'bob' }), 'unknown_token'],
    ['no name', await provider.sign({}), 'unknown_token'],
    [
      'for somebody else',
      await provider.sign({ preferred_username: 'ada' }, { audience: 'https://other.example' }),
      'unknown_token',
    ],
    ['expired', await provider.sign({ preferred_username: 'ada' }, { expires: '-2m' }), 'expired_token'],
    ['without an end', await provider.sign({ preferred_username: 'ada' }, { expires: undefined }), 'unknown_token'],
    ['signed by another key', await provider.sign({ preferred_username: 'ada' }, { key: stranger.privateKey }), 'unknown_token'],
    // The classic confusion: the public key used as a shared secret.
    [
      'symmetric',
      await provider.sign({ preferred_username: 'ada' }, { alg: 'HS256', key: new TextEncoder().encode(provider.publicText) }),
      'unknown_token',
    ],
  ]
  for (const [what, token, code] of refused)
    expect({ what, code: (await request(url, token, 'tools/list')).body.error?.code }).toEqual({ what, code })

  const socket = await TestSocket.open(gw.gateway.ws, good)
  await gw.admin('user.disable', { username: 'ada' })
  expect(await socket.closed).toMatchObject({ reason: 'revoked_token' })
  expect((await request(url, good, 'tools/list')).body.error?.code).toBe('revoked_token')
})

test('a name or subject that no database could keep is nobody’s, on PostgreSQL too', async () => {
  await using postgres = await startEngine('postgres')
  await using provider = await openProvider()
  const jwks = { url: provider.url, issuer: ISSUER, audience: AUDIENCE, claim: 'preferred_username' }
  await using gw = await openTestGateway({ jwks }, await postgres.migratedUrl())
  for (const odd of ['a\u0000', '\u0000', 'a\ud800'])
    for (const claims of [{ preferred_username: odd }, { sub: odd }])
      expect((await request(gw.gateway.url, await provider.sign(claims), 'tools/list')).body.error?.code).toBe('unknown_token')
  expect(gw.logged.filter((line) => line.includes('"stack"'))).toEqual([])
})

test('an admin says who an identity provider means; a name that people can edit never lets an admin in', async () => {
  await using provider = await openProvider()
  const jwks = { url: provider.url, issuer: ISSUER, audience: AUDIENCE }
  await using gw = await openTestGateway({ jwks: { ...jwks, claim: 'preferred_username' } })
  for (const username of ['ada', 'bob']) await gw.admin('user.add', { username })
  const codeOf = async (claims: Record<string, string>) =>
    (await request(gw.gateway.url, await provider.sign(claims), 'tools/list')).body.error?.code
  const nameOf = async (token: string) => (await callTool(gw.gateway.url, token, 'account.get')).structuredContent?.['username']

  expect(await codeOf({ sub: 'x', preferred_username: 'admin' })).toBe('unknown_token')
  const identity = { issuer: ISSUER, subject: 'a-1' }
  expect((await gw.admin('user.set_identity', { username: 'ada', identity })).structuredContent).toMatchObject({
    user: { username: 'ada', identity },
  })
  const ada = await provider.sign({ sub: 'a-1', preferred_username: 'bob' })
  expect(await nameOf(ada)).toBe('ada')
  expect(await codeOf({ sub: 'x', preferred_username: 'ada' })).toBe('unknown_token')
  const taken = await gw.admin('user.set_identity', { username: 'bob', identity })
  expect(taken._meta).toMatchObject({ 'parley/error': { code: 'already_exists' } })

  const admin = await provider.sign({ sub: 'the-admin' })
  await gw.admin('user.set_identity', { username: 'admin', identity: { issuer: ISSUER, subject: 'the-admin' } })
  expect((await callTool(gw.gateway.url, admin, 'account.get')).structuredContent).toMatchObject({ admin: true })

  const [byIdentity, byName] = [ada, await provider.sign({ sub: 'b-1', preferred_username: 'bob' })]
  const sockets = [await TestSocket.open(gw.gateway.ws, byIdentity), await TestSocket.open(gw.gateway.ws, byName)]
  await gw.admin('user.set_identity', { username: 'ada', identity: null })
  await gw.admin('user.set_identity', { username: 'bob', identity: { issuer: ISSUER, subject: 'b-2' } })
  for (const socket of sockets) expect(await socket.closed).toMatchObject({ code: 1008 })
  expect((await request(gw.gateway.url, byName, 'tools/list')).body.error?.code).toBe('unknown_token')
})

test('without a claim in the settings no name lets anybody in', async () => {
  await using provider = await openProvider()
  await using gw = await openTestGateway({ jwks: { url: provider.url, issuer: ISSUER, audience: AUDIENCE } })
  await gw.admin('user.add', { username: 'ada' })
  const token = await provider.sign({ sub: 'a-1', preferred_username: 'ada', username: 'ada', name: 'ada', undefined: 'ada' })
  expect((await request(gw.gateway.url, token, 'tools/list')).body.error?.code).toBe('unknown_token')
})

test('keys that cannot be fetched are our trouble, not the token: 503, and our own tokens work on', async () => {
  const provider = await openProvider()
  const token = await provider.sign({ preferred_username: 'admin' })
  await provider[Symbol.asyncDispose]()
  await using gw = await openTestGateway({
    jwks: { url: provider.url, issuer: ISSUER, audience: AUDIENCE, claim: 'preferred_username' },
  })
  const { status, body } = await request(gw.gateway.url, token, 'tools/list')
  expect({ status, code: body.error?.code }).toEqual({ status: 503, code: 'keys_unavailable' })
  expect((await request(gw.gateway.url, gw.adminToken, 'tools/list')).status).toBe(200)
})

test('keys over plain HTTP from another machine are refused at the start', async () => {
  const jwks = { url: 'http://id.example/keys', issuer: ISSUER, audience: AUDIENCE, claim: 'sub' }
  await expect(openTestGateway({ jwks })).rejects.toMatchObject({ code: 'jwks_invalid' })
})

interface Signing {
  readonly audience?: string
  readonly expires?: string | undefined
  readonly alg?: string
  readonly key?: CryptoKey | Uint8Array
}

async function openProvider() {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' }
  const publicText = JSON.stringify({ keys: [jwk] })
  const server = createServer((_request, response) => response.setHeader('content-type', 'application/json').end(publicText))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`,
    publicText,
    sign(claims: Record<string, string>, how: Signing = {}): Promise<string> {
      const jwt = new SignJWT(claims).setProtectedHeader({ alg: how.alg ?? 'ES256', kid: 'k1' }).setIssuer(ISSUER)
      jwt.setAudience(how.audience ?? AUDIENCE).setIssuedAt()
      const expires = 'expires' in how ? how.expires : '1h'
      if (expires !== undefined) jwt.setExpirationTime(expires)
      return jwt.sign(how.key ?? privateKey)
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
