import type { IncomingMessage, ServerResponse } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { openOauthServer } from '@parley/oauth/testing'
import type { AgentId } from '@parley/protocol'
import { expect, test } from 'vitest'
import { AgentBench, ON_HOST, said, stdio, toolsOf } from '../fixture/agent-bench.ts'
import { MANY_PROCESSES } from '../fixture/parley.ts'

const SLOW = { timeout: 60_000 }

/** An MCP server on the official SDK, for whoever got past the door. */
async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const server = new McpServer({ name: 'far', version: '1.0.0' })
  server.registerTool('hello', { description: 'Greets.' }, () => ({ content: [{ type: 'text', text: 'hello' }] }))
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(
    Object.assign(transport, { onclose: () => undefined, onerror: () => undefined, onmessage: () => undefined }),
  )
  await transport.handleRequest(request, response)
}

/** Signs in as a person with a browser would. */
async function signIn(bench: AgentBench, mount: string): Promise<string> {
  const login = bench.scratch.begin(['mount', 'login', 'mine', mount, '--no-browser', '--data', bench.scratch.data])
  const addressIn = (): string | undefined => /Sign in at:\n {2}(\S+)/.exec(login.err())?.[1]
  await expect.poll(addressIn, SLOW).toBeDefined()
  await (await fetch(addressIn() ?? '')).text()
  expect(await login.exited).toEqual({ code: 0, signal: null })
  return login.err()
}

test(
  'a mount is used by its owner’s sign-in, on every host that holds its agent, until that is over',
  MANY_PROCESSES,
  async () => {
    await using oauth = await openOauthServer({ serve })
    await using bench = await AgentBench.open()
    const first = await bench.host('first')
    const id = await bench.agent('mine', { far: { kind: 'http', url: oauth.url }, here: stdio(ON_HOST) })
    const token = await bench.token(id)
    const client = await bench.connect(token)
    await client.request('tools/list', {})
    const stateOf = async (agent_id: AgentId) =>
      (await bench.gateway.call('mount.list', { agent_id })).items.find(({ name }) => name === 'far')
    await expect
      .poll(() => stateOf(id), SLOW)
      .toMatchObject({
        signed_in: false,
        state: { state: 'failed', error: expect.stringContaining('parley mount login mine far') },
      })

    const shown = [await signIn(bench, 'far')]
    await expect.poll(() => toolsOf(client, 'far'), SLOW).toEqual(['far_hello'])
    const hello = (): Promise<string> => said(client, 'far_hello').catch(String)
    expect(await hello()).toBe('hello')
    // What a host says of its mounts comes a moment later.
    await expect.poll(() => stateOf(id), SLOW).toMatchObject({ signed_in: true, state: { state: 'active' } })

    // Its server does not take the token any more: it is renewed, and what renews it is new as well.
    oauth.granted.clear()
    await expect.poll(hello, SLOW).toBe('hello')
    const [renewal] = oauth.renewals
    expect(oauth.renewals.size).toBe(1)

    // The next host goes on with what the first one was given last.
    process.kill(first.pid, 'SIGKILL')
    await first.exited
    oauth.granted.clear()
    const second = await bench.host('second')
    await expect.poll(hello, { timeout: 120_000 }).toBe('hello')
    expect(oauth.renewals.has(renewal ?? '')).toBe(false)

    // Nobody renews it: whoever looks finds what to do, and signing in again mends it.
    oauth.granted.clear()
    oauth.renewals.clear()
    await expect.poll(hello, SLOW).not.toBe('hello')
    await expect
      .poll(() => stateOf(id), SLOW)
      .toMatchObject({
        state: { state: 'failed', error: expect.stringMatching(/its sign-in is over.*parley mount login mine far/) },
      })
    shown.push(await signIn(bench, 'far'))
    await expect.poll(hello, SLOW).toBe('hello')

    // None of what was given out is anywhere that people, models or other programs look.
    const listed = await bench.scratch.run(['mount', 'list', 'mine', '--json', '--data', bench.scratch.data])
    const audit = await bench.gateway.call('audit.search', {})
    const { entries } = await bench.gateway.store.logs.read(`agent/${id}/calls`, { from: { offset: 0 }, maxBytes: 1024 * 1024 })
    const log = entries.map(({ bytes }) => Buffer.from(bytes).toString('utf8'))
    const state = await client.readResource('compositor://far/state')
    const told = [...shown, listed.out, listed.err, JSON.stringify([audit, state, log]), first.err(), second.err()]
    told.push(await said(client, 'here_env'), JSON.stringify(await client.request('tools/list', {})))
    expect(oauth.issued.length).toBeGreaterThan(6)
    for (const secret of oauth.issued) expect(told.join('\n')).not.toContain(secret)
  },
)

test(
  'tokens are taken for the server of the mount alone, from its owner, and stay when it is attached again',
  MANY_PROCESSES,
  async () => {
    await using bench = await AgentBench.open()
    const url = 'https://mcp.example.com/mcp'
    const id = await bench.agent('mine', { far: { kind: 'http', url }, here: stdio(ON_HOST) })
    const sign_in = {
      access_token: 'access',
      refresh_token: 'renewal',
      expires_at: null,
      scope: null,
      client_id: 'client',
      client_secret: null,
      issuer: 'https://mcp.example.com',
      token_endpoint: null,
      resource: url,
    }
    const signing = (name: string, more: object = {}) =>
      bench.gateway.call('mount.sign_in', { agent_id: id, name, sign_in: { ...sign_in, ...more } })
    await expect(signing('none')).rejects.toThrow('nothing is mounted as none')
    await expect(signing('here')).rejects.toThrow('is a program')
    await expect(signing('far', { resource: 'https://evil.example.com/mcp' })).rejects.toThrow('for another server')
    expect(await signing('far')).toMatchObject({ signed_in: true, server: { kind: 'http', url } })
    await bench.gateway.call('user.add', { username: 'eve' })
    const eve = await bench.user('eve')
    await expect(eve('mount.sign_in', { agent_id: id, name: 'far', sign_in })).rejects.toThrow('there is no agent')
    const attached = (server: Parameters<AgentBench['agent']>[1]) =>
      bench.gateway.call('mount.attach', { agent_id: id, name: 'far', server: server?.['far'] ?? { kind: 'http', url } })
    const again = await attached({ far: { kind: 'http', url, headers: [{ name: 'X', value: 'y' }] } })
    expect(again).toMatchObject({ signed_in: true })
    expect(await attached({ far: { kind: 'http', url: 'https://mcp.example.com/other' } })).toMatchObject({ signed_in: false })
  },
)
