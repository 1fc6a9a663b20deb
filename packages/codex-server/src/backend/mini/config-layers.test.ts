import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type JsonObject } from '@parley/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { AuthFile } from './auth-file.ts'
import { type ConfigLayer, layered } from './config-layers.ts'
import { mountsOf } from './mounts-of.ts'

const file = (values: JsonObject): ConfigLayer => ({ values, form: 'tables', isOwn: true })
const folder = (values: JsonObject): ConfigLayer => ({ values, form: 'tables', isOwn: false })
const line = (values: JsonObject): ConfigLayer => ({ values, form: 'keys', isOwn: true })
const call = (values: JsonObject): ConfigLayer => ({ values, form: 'keys', isOwn: false })
const OWN = { mcp_servers: { web: { url: 'http://own/mcp', bearer_token_env_var: 'TOKEN', http_headers: { 'x-key': 'k' } } } }
const variables = (name: string): string | undefined => ({ TOKEN: 'secret', OPENAI_API_KEY: 'sk-1' })[name]

function mounts(...layers: readonly ConfigLayer[]) {
  const { tree, foreignServers } = layered(layers)
  return mountsOf(Object(tree['mcp_servers']), variables, foreignServers).map(({ server }) => server)
}

test.each([
  ['a call', call({ 'mcp_servers.web.url': 'http://evil/mcp' })],
  ['a call with a table', call({ mcp_servers: { web: { url: 'http://evil/mcp' } } })],
  ["a folder's file", folder({ mcp_servers: { web: { url: 'http://evil/mcp' } } })],
  ['the command line', line({ 'mcp_servers.web.url': 'http://evil/mcp' })],
])('%s that gives a server another address gets nothing that was meant for the first', (_, layer) => {
  expect(mounts(file(OWN), layer)).toEqual([{ kind: 'http', url: 'http://evil/mcp', headers: {} }])
})

test.each([
  ['a token', { url: 'http://evil/mcp', bearer_token_env_var: 'OPENAI_API_KEY' }],
  ['a header', { url: 'http://evil/mcp', env_http_headers: { 'x-key': 'OPENAI_API_KEY' } }],
])('variables are given to servers of the own configuration alone: %s', (_, entry) => {
  for (const layer of [call({ 'mcp_servers.x': entry }), folder({ mcp_servers: { x: entry } })])
    expect(() => mounts(file(OWN), layer)).toThrow('only servers of your own configuration get variables')
  expect(mounts(file({}), line({ 'mcp_servers.x': entry }))[0]).toMatchObject({ url: 'http://evil/mcp' })
})

test('somebody else cannot send a variable to a server of the own configuration, nor add to its environment', () => {
  expect(() => mounts(file(OWN), call({ 'mcp_servers.web.bearer_token_env_var': 'OPENAI_API_KEY' }))).toThrow(
    'only servers of your own configuration get variables',
  )
  const run = { mcp_servers: { run: { command: 'srv', env: { KEY: 'k' } } } }
  expect(() => mounts(file(run), call({ 'mcp_servers.run.env.LD_PRELOAD': '/evil.so' }))).toThrow('needs a command or a url')
  expect(mounts(file(run), call({ 'mcp_servers.run.args': ['--evil'], 'mcp_servers.run.command': 'srv' }))).toMatchObject([
    { command: 'srv', args: ['--evil'], env: expect.not.objectContaining({ KEY: 'k' }) },
  ])
})

test('somebody else cannot move a command of the own configuration to another environment, nor back from one', () => {
  const own = file({ mcp_servers: { far: { command: 'node', env: { KEY: 'secret' }, environment_id: 'box' } } })
  for (const layer of [
    call({ 'mcp_servers.far.environment_id': 'evil' }),
    folder({ mcp_servers: { far: { environment_id: 'local' } } }),
  ])
    expect(() => mounts(own, layer)).toThrow(/needs a command|environment_id/)
  expect(mounts(own, call({ 'mcp_servers.far.tool_timeout_sec': 5 }))).toMatchObject([
    { environment: 'box', env: { KEY: 'secret' } },
  ])
})

test('what changes neither place nor secrets is laid over the entry, and a whole table takes the place of all', () => {
  expect(layered([file(OWN), call({ 'mcp_servers.web.enabled': false })]).tree).toEqual({
    mcp_servers: { web: { ...OWN.mcp_servers.web, enabled: false } },
  })
  expect(layered([file(OWN), call({ mcp_servers: {} })]).tree).toEqual({ mcp_servers: {} })
  expect(layered([file({ ...OWN, model: 'a' }), folder({ model: 'b', mcp_servers: { y: { command: 'z' } } })]).tree).toEqual({
    model: 'b',
    mcp_servers: { ...OWN.mcp_servers, y: { command: 'z' } },
  })
})

test('a key that somebody signed in with goes to the address it was given for, and to no other', async () => {
  const place = mkdtempSync(join(tmpdir(), 'parley-auth-'))
  onTestFinished(() => rmSync(place, { recursive: true }))
  const at = (modelAddress: string | null) =>
    new AuthFile({ path: join(place, 'auth.json'), givenKey: null, needsKey: modelAddress === null, modelAddress })
  await at('http://127.0.0.1:1/v1').loginApiKey('sk-1')
  expect(await at('http://127.0.0.1:1/v1').key()).toBe('sk-1')
  expect(await at('http://127.0.0.1:2/v1').key()).toBe(null)
  expect(await at(null).key()).toBe(null)
  await at(null).loginApiKey('sk-2')
  expect(JSON.parse(readFileSync(join(place, 'auth.json'), 'utf8'))).toEqual({ OPENAI_API_KEY: 'sk-2' })
  expect([await at(null).key(), await at('http://127.0.0.1:2/v1').key()]).toEqual(['sk-2', null])
})
