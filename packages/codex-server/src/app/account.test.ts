import { stat, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Account, LoginEnd } from '../backend/backend.ts'
import { type MiniBackendWorld, openMiniBackendWorld } from '../backend/fixture/mini-backend-world.ts'
import { AppClient } from './fixture/app-client.ts'
import { portsOf } from './fixture/ports-of.ts'

const LOGIN = '11111111-1111-4111-8111-111111111111'
let world: MiniBackendWorld
let client: AppClient

beforeAll(async () => {
  world = await openMiniBackendWorld({ needsKey: true })
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(async () => {
  client = await AppClient.open({ backend: () => Promise.resolve(world.reopen()), folder: world.workspace })
  return () => client.end()
})

test('an API key is stored for its owner alone, told after the answer, and shown only when asked for', async () => {
  const from = client.received.length
  expect(await client.call('getAuthStatus', {})).toEqual({ requiresOpenaiAuth: true })
  expect(await client.call('loginApiKey', { apiKey: 'sk-secret' })).toEqual({})
  await client.until(({ method }) => method === 'authStatusChange', from)
  expect(client.received.slice(from + 1)).toEqual([
    { id: 3, result: {} },
    { method: 'authStatusChange', params: { authMethod: 'apikey' } },
  ])
  expect(await client.call('getAuthStatus', {})).toEqual({ authMethod: 'apikey', requiresOpenaiAuth: true })
  expect(await client.call('getAuthStatus', { includeToken: false, refreshToken: true })).not.toHaveProperty('authToken')
  expect(await client.call('getAuthStatus', { includeToken: true })).toEqual({
    authMethod: 'apikey',
    authToken: 'sk-secret',
    requiresOpenaiAuth: true,
  })
  expect((await stat(join(world.data, 'auth.json'))).mode & 0o777).toBe(0o600)
  const again = client.received.length
  expect(await client.call('logoutChatGpt')).toEqual({})
  await client.until(({ method }) => method === 'authStatusChange', again)
  expect(client.received.slice(again)).toEqual([
    { id: 7, result: {} },
    { method: 'authStatusChange', params: {} },
  ])
  expect(await client.call('getAuthStatus', { includeToken: true })).toEqual({ requiresOpenaiAuth: true })
  expect(client.notes.join('\n')).not.toContain('sk-secret')
})

test('two requests sent at once are done one after the other', async () => {
  client.post('loginApiKey', { apiKey: 'sk-first' })
  const status = client.post('getAuthStatus', { includeToken: true })
  expect(await client.answerTo(status)).toMatchObject({ result: { authToken: 'sk-first' } })
  expect(client.story().slice(-3)).toEqual(['answer', 'authStatusChange', 'answer'])
  await client.call('logoutChatGpt')
})

test('nobody signs in with ChatGPT where there is no Codex, and it is said why', async () => {
  expect(await client.ask('loginChatGpt')).toMatchObject({
    error: { code: -32600, message: expect.stringContaining('--engine codex'), data: { code: 'unsupported' } },
  })
  expect(await client.ask('cancelLoginChatGpt', { loginId: LOGIN })).toMatchObject({
    error: { code: -32600, message: `login id not found: ${LOGIN}` },
  })
  expect(await client.call('userInfo')).toEqual({ allegedUserEmail: null })
})

test('the end of a ChatGPT sign-in is told after the answers it belongs to', async () => {
  const ends: PromiseWithResolvers<LoginEnd>[] = []
  const account = signingIn(world.backend.account, ends)
  const backend = portsOf(world.backend, { account })
  await using other = await AppClient.open({ backend: () => Promise.resolve(backend), folder: world.workspace })
  const from = other.received.length
  const first = await other.call('loginChatGpt', {})
  expect(first).toEqual({ loginId: loginId(1), authUrl: 'https://auth.example/1' })
  await other.call('cancelLoginChatGpt', { loginId: loginId(1) })
  await other.until(({ method }) => method === 'loginChatGptComplete')
  expect(other.received.slice(from + 1)).toEqual([
    { id: 3, result: {} },
    { method: 'loginChatGptComplete', params: { loginId: loginId(1), success: false, error: 'Login was not completed' } },
  ])
  const second = other.received.length
  await other.call('loginChatGpt')
  ends[1]?.resolve({ success: true })
  await other.until(({ method }) => method === 'authStatusChange')
  expect(other.received.slice(second)).toEqual([
    { id: 4, result: { loginId: loginId(2), authUrl: 'https://auth.example/2' } },
    { method: 'loginChatGptComplete', params: { loginId: loginId(2), success: true } },
    { method: 'authStatusChange', params: { authMethod: 'chatgpt' } },
  ])
})

test('the saved configuration is read, and the default model is written into it and taken out', async () => {
  await client.call('setDefaultModel', { model: 'gpt-5-codex', reasoningEffort: 'high' })
  expect(await client.call('getUserSavedConfig')).toMatchObject({
    config: { model: 'gpt-5-codex', modelReasoningEffort: 'high', profiles: {} },
  })
  expect(await readFile(join(world.data, 'config.toml'), 'utf8')).toContain('model = "gpt-5-codex"')
  expect(await client.call('setDefaultModel', {})).toEqual({})
  expect(await client.call('getUserSavedConfig', {})).toEqual({ config: { profiles: {} } })
})

const loginId = (number: number): string => LOGIN.replace(/1$/, String(number))

/** What is not measured without an account: a sign-in that ends when the test says so. */
function signingIn(real: Account, ends: PromiseWithResolvers<LoginEnd>[]): Account {
  return {
    status: () => Promise.resolve({ method: 'chatgpt', token: null, requiresOpenaiAuth: true }),
    email: () => real.email(),
    loginApiKey: (key) => real.loginApiKey(key),
    logout: () => real.logout(),
    loginChatGpt: () => {
      const end = Promise.withResolvers<LoginEnd>()
      ends.push(end)
      const authUrl = `https://auth.example/${ends.length}`
      return Promise.resolve({ loginId: loginId(ends.length), authUrl, done: end.promise })
    },
    cancelLogin: () => {
      ends.at(-1)?.resolve({ success: false, error: 'Login was not completed' })
      return Promise.resolve()
    },
  }
}
