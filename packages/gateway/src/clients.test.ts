import { expect, test } from 'vitest'
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { mint, openTestGateway } from './fixture/test-gateway.ts'

const INFO = { name: 'test', version: '1' }

test('the official client 1.32 lists, calls, is told of failures, reads and subscribes', async () => {
  await using gw = await openTestGateway()
  const client = new Client(INFO)
  await client.connect(transport(StreamableHTTPClientTransport, gw.gateway.mcp, gw.adminToken))
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('token.create')
  expect(await client.callTool({ name: 'account.get' })).toMatchObject({
    structuredContent: { role: 'user', admin: true, name: 'admin' },
  })
  expect(await client.callTool({ name: 'token.create', arguments: { role: 'judge' } })).toEqual({
    content: [{ type: 'text', text: 'invalid_argument: name is needed for role judge' }],
    isError: true,
    _meta: { 'parley/error': { code: 'invalid_argument', message: 'name is needed for role judge', field: 'name' } },
  })
  await expect(client.callTool({ name: 'no.such' })).rejects.toMatchObject({ code: -32602 })
  const { contents } = await client.readResource({ uri: 'resource://account' })
  expect(JSON.parse((contents[0] as { text: string }).text)).toMatchObject({ name: 'admin' })
  await client.subscribeResource({ uri: 'resource://users/list' })
  expect((await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain(
    'resource://jobs/{id}/state',
  )
  await client.close()
})

test.each(['legacy', 'auto', { pin: '2026-07-28' }] as const)('the official client 2.4 in mode %j', async (mode) => {
  await using gw = await openTestGateway()
  const { token } = await mint(gw, { role: 'judge', name: 'j1' })
  const client = new ModernClient(INFO, { versionNegotiation: { mode } })
  await client.connect(transport(ModernTransport, gw.gateway.mcp, token))
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('account.get')
  expect(await client.callTool({ name: 'account.get', arguments: {} })).toMatchObject({
    structuredContent: { role: 'judge', name: 'j1' },
  })
  const failed = await client.callTool({ name: 'account.get', arguments: { extra: 1 } })
  expect(failed).toMatchObject({ isError: true, _meta: { 'parley/error': { code: 'invalid_argument', field: 'extra' } } })
  expect(failed.structuredContent).toBeUndefined()
  await client.close()
})

test('an official client with a bad token is told so', async () => {
  await using gw = await openTestGateway()
  const client = new Client(INFO)
  await expect(client.connect(transport(StreamableHTTPClientTransport, gw.gateway.mcp, 'nonsense'))).rejects.toThrow(
    /unknown_token|401/i,
  )
})

function transport<T>(kind: new (url: URL, options: { requestInit: RequestInit }) => T, mcp: string, token: string): T {
  return new kind(new URL(mcp), { requestInit: { headers: { authorization: `Bearer ${token}` } } })
}
