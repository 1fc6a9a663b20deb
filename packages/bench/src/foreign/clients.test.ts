import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { peerFor } from '../../../../scripts/peers/peer-or-skip.ts'
import { outputOf } from '../measure/output-of.ts'
import { openOwnGateway, type OwnGateway } from '../own/open-gateway.ts'
import { callThroughCodex } from './codex.ts'

/** Clients that nobody here wrote, each against a real gateway with a real token. */
const ME = { clientInfo: { name: 'foreign', version: '1.0.0' } }
const ACCOUNT = { role: 'user', admin: true, name: 'admin' }

let gateway: OwnGateway
let folder: string
beforeAll(async () => {
  gateway = await openOwnGateway()
  folder = await mkdtemp(join(tmpdir(), 'parley-foreign-'))
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const authorization = (): { readonly headers: Record<string, string> } => ({
  headers: { Authorization: `Bearer ${gateway.token}` },
})

test('the official SDK 1.32 client', async () => {
  const transport: unknown = new StreamableHTTPClientTransport(new URL(gateway.mcp), { requestInit: authorization() })
  expect(await callWithSdk(transport)).toMatchObject(ACCOUNT)
})

test.each(['auto', 'legacy'] as const)('the official SDK 2.4 client, era %s', async (mode) => {
  const client = new ModernClient(ME.clientInfo, { versionNegotiation: { mode } })
  await client.connect(new ModernTransport(new URL(gateway.mcp), { requestInit: authorization() }))
  try {
    const { structuredContent } = await client.callTool({ name: 'account.get', arguments: {} })
    expect(structuredContent).toMatchObject(ACCOUNT)
  } finally {
    await client.close()
  }
})

test('mcp-remote', { timeout: 300_000 }, async (context) => {
  const peer = await peerFor(context, 'mcp-remote')
  const headerFile = join(folder, 'headers')
  await writeFile(headerFile, `Authorization: Bearer ${gateway.token}\n`)
  const transport: unknown = new StdioClientTransport({
    command: process.execPath,
    args: [peer.bin('mcp-remote'), gateway.mcp, '--header-file', headerFile, '--transport', 'http-only'],
    env: { MCP_REMOTE_CONFIG_DIR: join(folder, 'mcp-remote'), PATH: process.env['PATH'] ?? '', HOME: folder },
    stderr: 'ignore',
  })
  expect(await callWithSdk(transport)).toMatchObject(ACCOUNT)
})

test("the MCP Inspector's command line", { timeout: 300_000 }, async (context) => {
  const peer = await peerFor(context, 'inspector')
  const call = ['--method', 'tools/call', '--tool-name', 'account.get', '--header', `Authorization: Bearer ${gateway.token}`]
  const output = await outputOf(
    process.execPath,
    [peer.bin('mcp-inspector'), '--cli', gateway.mcp, '--transport', 'http', ...call],
    { HOME: folder },
  )
  expect(output).toContain('"structuredContent"')
  expect(output).toContain('"name": "admin"')
})

test('the real codex 0.166', { timeout: 300_000 }, async (context) => {
  const peer = await peerFor(context, 'codex-0.166')
  const result = await callThroughCodex({
    codex: peer.bin('codex'),
    home: join(folder, 'codex'),
    mcp: gateway.mcp,
    token: gateway.token,
    tool: 'account.get',
  })
  expect(result).toMatchObject({ structuredContent: ACCOUNT })
})

async function callWithSdk(transport: unknown): Promise<unknown> {
  if (!isTransport(transport)) throw new Error('not a transport')
  const client = new Client(ME.clientInfo)
  await client.connect(transport)
  try {
    const { structuredContent } = await client.callTool({ name: 'account.get', arguments: {} })
    return structuredContent
  } finally {
    await client.close()
  }
}

/** The SDK's own types disagree about optional callbacks under exact optional properties. */
function isTransport(value: unknown): value is Transport {
  return value instanceof StreamableHTTPClientTransport || value instanceof StdioClientTransport
}
