import { type JsonObject, TOOLS } from '@parley/protocol'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { type TestServer, openTestServer } from '../../fixture/open-server.ts'
import type { HeaderParam, Service } from '../../service.ts'
import { connectClient } from '../client.ts'
import { httpTransport } from '../link/http-transport.ts'
import { readMirroring } from './mirrored-headers.ts'

const REGION: HeaderParam = { path: ['region'], header: 'Region' }
const WANTS_REGION: JsonObject = {
  name: 'account.get',
  inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
}

function serviceWith(tool: JsonObject, wanted: readonly HeaderParam[]): Service {
  return {
    info: { name: 'test', version: '1' },
    capabilities: { tools: {} },
    headerParams: () => wanted,
    call: (method) => (method === 'tools/list' ? { tools: [tool] } : { content: [] }),
  }
}

/** A server that writes down which requests it served. */
async function openCounting(service: Service): Promise<TestServer & { readonly served: readonly string[] }> {
  const served: string[] = []
  return { ...(await openTestServer(service, { observer: { served: ({ method }) => served.push(method) } })), served }
}

async function firstCall({ mcp }: TestServer, tool: string, args: JsonObject): Promise<JsonObject> {
  const client = await connectClient(httpTransport({ url: mcp, token: 'ada' }), { clientInfo: { name: 'test', version: '1' } })
  try {
    return await client.callToolRaw(tool, args)
  } finally {
    await client.close()
  }
}

test('no tool that protocol declares wants an argument repeated in a header', () => {
  const wishes = Object.values(TOOLS).map(({ name, input }) => {
    // Only where an argument stands matters here, not whether JSON Schema can say all about it.
    const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' })
    return { name, mirroring: readMirroring(JSON.parse(JSON.stringify(schema))) }
  })
  const none = { kind: 'valid', arguments: [] }
  expect(wishes.filter(({ mirroring }) => JSON.stringify(mirroring) !== JSON.stringify(none))).toEqual([])
  expect(wishes.length).toBeGreaterThan(0)
})

test('a tool that protocol declares is called without listing the tools first', async () => {
  await using open = await openCounting(serviceWith({ name: 'account.get', inputSchema: { type: 'object' } }, []))
  await firstCall(open, 'account.get', {})
  expect(open.served).toEqual(['server/discover', 'tools/call'])
})

test('of any other tool it must be known first what it wants in headers', async () => {
  await using open = await openCounting(serviceWith({ ...WANTS_REGION, name: 'foreign' }, [REGION]))
  expect(await firstCall(open, 'foreign', { region: 'eu' })).toMatchObject({ content: [] })
  expect(open.served).toEqual(['server/discover', 'tools/list', 'tools/call'])
})

test('a server whose tool of such a name wants headers all the same gets them, and runs the call once', async () => {
  await using open = await openCounting(serviceWith(WANTS_REGION, [REGION]))
  expect(await firstCall(open, 'account.get', { region: 'eu' })).toMatchObject({ content: [] })
  expect(open.served).toEqual(['server/discover', 'tools/list', 'tools/call'])
})
