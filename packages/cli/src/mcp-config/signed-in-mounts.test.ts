import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type MountSpec, signedInMounts } from '@parley/agent'
import { discoverOauth, refreshTokens, signIn } from '@parley/oauth'
import { openOauthServer } from '@parley/oauth/testing'
import { expect, onTestFinished, test } from 'vitest'
import { tokenShelf } from './token-file.ts'

const HOUR_MS = 3_600_000
const mount = (url: string, headers = {}): MountSpec => ({ name: 'web', server: { kind: 'http', url, headers }, required: true })

async function signedIn(url: string) {
  const folder = mkdtempSync(join(tmpdir(), 'signed-in-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const server = await discoverOauth(url)
  if (server === undefined) throw new Error('nothing found')
  const browse = (address: string): void => void fetch(address).then((answer) => answer.text())
  const tokens = tokenShelf(join(folder, 'tokens.json'))
  const first = await signIn({ server, clientName: 'Test', open: browse, timeoutMs: 60_000, now: () => 0 })
  await tokens.put('web', url, first)
  let time = 0
  const [warnings, sent]: [string[], (string | undefined)[]] = [[], []]
  const connect = signedInMounts(
    ({ server: to }) => {
      sent.push(to.kind === 'http' ? to.headers['authorization'] : undefined)
      return Promise.reject(new Error('far enough'))
    },
    {
      tokens: () => Promise.resolve(tokens),
      refresh: (held, at) => refreshTokens(held, at, () => time),
      now: () => time,
      warn: (message) => void warnings.push(message),
    },
  )
  const sentTo = async (...mounts: readonly MountSpec[]): Promise<readonly (string | undefined)[]> => {
    const from = sent.length
    await Promise.all(mounts.map((one) => connect(one, AbortSignal.timeout(5_000)).catch(() => undefined)))
    return sent.slice(from)
  }
  return { first, tokens, warnings, sentTo, wait: (ms: number) => void (time += ms) }
}

test('a server that somebody signed in at is mounted with the token, no other is, and one of its own stays', async () => {
  await using server = await openOauthServer()
  const { first, sentTo, warnings } = await signedIn(server.url)
  expect(await sentTo(mount(server.url))).toEqual([`Bearer ${first.access_token}`])
  expect(await sentTo(mount('http://127.0.0.1:9/mcp'))).toEqual([undefined])
  expect(await sentTo(mount(server.url, { authorization: 'Bearer own' }))).toEqual(['Bearer own'])
  expect(warnings).toEqual([])
})

test('a token that is over is renewed once for all who ask, and kept', async () => {
  await using server = await openOauthServer()
  const { first, tokens, sentTo, wait } = await signedIn(server.url)
  wait(HOUR_MS)
  const asked = server.asked.length
  const [one, other] = await sentTo(mount(server.url), mount(server.url))
  expect(one).toBe(other)
  expect(one).not.toContain(first.access_token)
  expect(server.asked.slice(asked).filter((line) => line === 'POST /token')).toHaveLength(1)
  expect(`Bearer ${(await tokens.find(server.url))?.tokens.access_token}`).toBe(one)
})

test('where nobody renews it a warning says what to do', async () => {
  const server = await openOauthServer()
  const { sentTo, warnings, wait } = await signedIn(server.url)
  wait(HOUR_MS)
  await server[Symbol.asyncDispose]()
  expect(await sentTo(mount(server.url))).toEqual([undefined])
  expect(warnings).toEqual([expect.stringMatching(/its token cannot be had: .*parley mcp login web$/)])
})

test.each([
  ['the server names another one for signing in', (evil: string) => ({ resource: { authorization_servers: [evil] } })],
  ['the one for signing in names another place for tokens', (evil: string) => ({ server: { token_endpoint: `${evil}/token` } })],
])('when %s nothing is sent to it, and a warning says how to sign in anew', async (_, liesOf) => {
  await using evil = await openOauthServer()
  const lies: { resource?: object; server?: object } = {}
  await using server = await openOauthServer({ lies })
  const { tokens, sentTo, warnings, wait } = await signedIn(server.url)
  const before = await tokens.find(server.url)
  Object.assign(lies, liesOf(evil.origin))
  wait(HOUR_MS)
  const asked = server.asked.length
  expect(await sentTo(mount(server.url))).toEqual([undefined])
  expect(evil.asked).toEqual([])
  expect(server.asked.slice(asked)).not.toContain('POST /token')
  expect(warnings).toEqual([
    expect.stringMatching(/now, the token is of .*: nothing was sent; sign in anew: parley mcp login web$/),
  ])
  expect(await tokens.find(server.url)).toEqual(before)
})
