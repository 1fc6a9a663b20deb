import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { messageOf } from '@parley/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { AgentBench, ON_HOST, said, stdio, toolsOf } from '../fixture/agent-bench.ts'
import { MAKER } from '../fixture/maker-server.ts'
import { commandsHere } from '../fixture/run-here.ts'
import { MANY_PROCESSES } from '../fixture/parley.ts'

/** A client of the legacy era without any care: it calls, and waits. */
const CALLS_ONCE = `
const [url, token] = process.argv.slice(1)
const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const post = (body, more) => fetch(url, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify({ jsonrpc: '2.0', ...body }) })
const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'once', version: '1' } }
const opened = await post({ id: 0, method: 'initialize', params })
const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') }
await post({ method: 'notifications/initialized' }, session)
const answer = await post({ id: 1, method: 'tools/call', params: { name: 'files_make', arguments: { name: 'killed' } } }, session)
await answer.text()`

test(
  'fault 1: a call waits for a person: approved from the shell it is made once, denied or given up it leaves no trace',
  MANY_PROCESSES,
  async () => {
    await using bench = await AgentBench.open({ gate: 'ask' })
    const made = mkdtempSync(join(tmpdir(), 'parley-made-'))
    onTestFinished(() => rmSync(made, { recursive: true }))
    const names = (): string[] => readdirSync(made).map((name) => name.replace(/-.*/, ''))
    await bench.host('one')
    const server = stdio({ ...ON_HOST, args: ['--input-type=module', '-e', MAKER, made] })
    const id = await bench.agent('mine', { files: server })
    const token = await bench.token(id)
    const ours = await bench.connect(token)
    await expect.poll(() => toolsOf(ours, 'files'), { timeout: 60_000 }).toEqual(['files_make'])
    const { run, json } = commandsHere(bench.scratch)
    const at = ['--data', bench.scratch.data]
    const parley = (args: readonly string[]) => run([...args, ...at])
    const waiting = async (name: string): Promise<string> => {
      const found = async (): Promise<string | undefined> => {
        const { items } = await bench.gateway.call('approval.list', {})
        return items.find(({ preview }) => preview.includes(`"${name}"`))?.approval_id
      }
      await expect.poll(found).toBeDefined()
      return (await found()) ?? ''
    }

    const yes = said(ours, 'files_make', { name: 'yes' })
    expect(await parley(['approvals', 'approve', await waiting('yes')])).toMatchObject({ code: 0 })
    expect(await yes).toBe('made')
    expect(names()).toEqual(['yes'])

    // Who takes a task for an answer has one at once, and looks at it until somebody has decided.
    const tasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
    const tasking = await bench.connect(token, { era: 'modern', capabilities: tasks })
    const task = await tasking.request('tools/call', { name: 'files_make', arguments: { name: 'later' } })
    expect(task).toMatchObject({ resultType: 'task', status: 'working', statusMessage: 'waits for a person to decide' })
    expect(await parley(['approvals', 'approve', await waiting('later')])).toMatchObject({ code: 0 })
    await expect
      .poll(() => tasking.request('tasks/get', { taskId: task['taskId'] }), { timeout: 60_000 })
      .toMatchObject({ status: 'completed', result: { content: [{ text: 'made' }] } })
    expect(names().toSorted()).toEqual(['later', 'yes'])

    // The official client is told of the denial as an error of the policy.
    const sdk = new Client({ name: 'sdk', version: '1' })
    const headers = { authorization: `Bearer ${token}` }
    await sdk.connect(new StreamableHTTPClientTransport(new URL(bench.gateway.mcp), { requestInit: { headers } }))
    const no = sdk.callTool({ name: 'files_make', arguments: { name: 'no' } }).then(
      () => 'made',
      (error: unknown) => error,
    )
    expect(await parley(['approvals', 'deny', await waiting('no'), '--reason', 'not today'])).toMatchObject({ code: 0 })
    expect(await no).toMatchObject({ code: -32_951, message: expect.stringContaining('not today') })
    const end = sdk.callTool({ name: 'files_make', arguments: { name: 'end' } }).then(
      () => 'made',
      (error: unknown) => error,
    )
    expect(await parley(['approvals', 'deny', await waiting('end'), '--abort'])).toMatchObject({ code: 0 })
    expect(await end).toMatchObject({ code: -32_950 })

    // One that is cancelled is taken back: nobody can approve it any more.
    const cancel = new AbortController()
    const cancelled = sdk
      .callTool({ name: 'files_make', arguments: { name: 'cancelled' } }, undefined, { signal: cancel.signal })
      .catch(messageOf)
    const cancelledId = await waiting('cancelled')
    cancel.abort()
    await cancelled
    const statusOf = async () => (await bench.gateway.call('approval.get', { approval_id: cancelledId })).status
    await expect.poll(statusOf).toBe('withdrawn')
    expect(await parley(['approvals', 'approve', cancelledId])).toMatchObject({ code: 1 })

    // One whose caller was cut off stands, and the same call finds what was decided meanwhile.
    const other = await bench.connect(token, { era: 'modern' })
    const left = said(other, 'files_make', { name: 'left' }).catch(messageOf)
    const leftId = await waiting('left')
    await other.close()
    await left
    const gone = async () =>
      (await bench.gateway.call('approval.list', {})).items.find((item) => item.approval_id === leftId)?.caller_gone_at
    await expect.poll(gone).toEqual(expect.any(String))
    expect(await parley(['approvals', 'approve', leftId])).toMatchObject({ code: 0 })
    expect(names().toSorted()).toEqual(['later', 'yes'])
    expect(await sdk.callTool({ name: 'files_make', arguments: { name: 'left' } })).toMatchObject({ content: [{ text: 'made' }] })

    // One that was killed said nothing: whoever makes the same call then finds what was asked, and there are not two.
    const child = spawn(process.execPath, ['--input-type=module', '-e', CALLS_ONCE, bench.gateway.mcp, token], {
      stdio: 'ignore',
    })
    const killedId = await waiting('killed')
    child.kill('SIGKILL')
    await once(child, 'exit')
    const next = new Client({ name: 'next', version: '1' })
    await next.connect(new StreamableHTTPClientTransport(new URL(bench.gateway.mcp), { requestInit: { headers } }))
    const again = next.callTool({ name: 'files_make', arguments: { name: 'killed' } })
    expect(await parley(['approvals', 'approve', killedId])).toMatchObject({ code: 0 })
    expect(await again).toMatchObject({ content: [{ text: 'made' }] })
    const { items: asked } = await bench.gateway.call('approval.list', {
      search: 'killed',
      statuses: ['pending', 'approved', 'returned', 'withdrawn', 'expired'],
    })
    expect(asked.map(({ approval_id }) => approval_id)).toEqual([killedId])
    await next.close()
    await sdk.close()
    expect(names().toSorted()).toEqual(['killed', 'later', 'left', 'yes'])
    const { items } = (await json(['approvals', 'list', '--all', ...at])) as { items: { status: string }[] }
    expect(items.map(({ status }) => status).toSorted()).toEqual([
      'denied',
      'denied',
      'returned',
      'returned',
      'returned',
      'returned',
      'withdrawn',
    ])
  },
)
