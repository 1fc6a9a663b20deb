import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, onTestFinished, test } from 'vitest'
import { AgentBench } from '../fixture/agent-bench.ts'
import { MAKER } from '../fixture/maker-server.ts'
import { MANY_PROCESSES } from '../fixture/parley.ts'
import { commandsHere } from '../fixture/run-here.ts'

const PENDING = 'resource://approvals/pending'
const POLICY = `
[[rule]]
name = "never"
mount = "files"
tool = "make"
when = 'args.name == "never"'
decision = "deny_continue"
reason = "not that one"

[[rule]]
name = "good"
mount = "files"
tool = "make"
when = 'args.name == "good"'
decision = "allow"

[[example]]
call = { mount = "files", tool = "make", args = { name = "good" } }
decision = "allow"
`

/** The official client of the legacy era, by a token alone. */
async function officialAt(mcp: string, token: string): Promise<Client> {
  const client = new Client({ name: 'sdk', version: '1' })
  const headers = { authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(mcp), { requestInit: { headers } }))
  onTestFinished(() => client.close())
  return client
}

test(
  'from the shell an agent is made, given a mount and a policy; its calls are let through, denied and asked about; it is deleted',
  MANY_PROCESSES,
  async () => {
    await using bench = await AgentBench.open({ gate: 'ask' })
    await bench.host('one')
    const made = mkdtempSync(join(tmpdir(), 'parley-made-'))
    onTestFinished(() => rmSync(made, { recursive: true }))
    const names = (): string[] =>
      readdirSync(made)
        .map((name) => name.replace(/-.*/, ''))
        .toSorted()
    const { run } = commandsHere(bench.scratch)
    const parley = async (...args: string[]) => {
      const { code, out, err } = await run(args.toSpliced(2, 0, '--data', bench.scratch.data, '--json'))
      expect({ args, code, err }).toMatchObject({ code: 0 })
      return JSON.parse(out)
    }
    const rules = join(bench.scratch.folder, 'rules.toml')
    writeFileSync(rules, POLICY)

    await parley('agent', 'create', 'helper')
    const command = [process.execPath, '--input-type=module', '-e', MAKER, made]
    await parley('mount', 'attach', 'helper', 'files', '--place', 'host', '--', ...command)
    await parley('policy', 'set', rules, '--agent', 'helper', '--activate', '--yes')
    const { token } = await parley('agent', 'token', 'helper')
    const person = await parley('token', 'create', '--role', 'user', '--user', 'admin')

    // A person watches what waits for them; the agent's client finds the mount behind its own token.
    const watching = await officialAt(bench.gateway.mcp, person.token)
    const told: string[] = []
    watching.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void told.push(params.uri))
    await watching.subscribeResource({ uri: PENDING })
    const agent = await officialAt(bench.gateway.mcp, token)
    const tools = async () => (await agent.listTools()).tools.map(({ name }) => name)
    await expect.poll(tools, { timeout: 60_000 }).toContain('files_make')
    expect(await tools()).not.toContain('agent.create')
    const make = (name: string) => agent.callTool({ name: 'files_make', arguments: { name } })

    const walked = await run(['doctor', '--url', bench.gateway.url, '--json'], { env: { PARLEY_TOKEN: token } })
    expect(JSON.parse(walked.out).checks.map(({ name, status }: Record<string, string>) => `${name} ${status}`)).toEqual([
      'header ok',
      'token ok',
      'role ok',
      'server ok',
      'subscribe ok',
      'update skipped',
      're-read ok',
      'mounts ok',
    ])

    expect(await make('good')).toMatchObject({ content: [{ text: 'made' }] })
    await expect(make('never')).rejects.toMatchObject({ code: -32_951, message: expect.stringContaining('not that one') })
    const asked = make('other')
    await expect.poll(() => told).toContain(PENDING)
    const { contents } = await watching.readResource({ uri: PENDING })
    const [waiting] = JSON.parse(String(contents[0] !== undefined && 'text' in contents[0] ? contents[0].text : '')).items
    expect(waiting).toMatchObject({ agent: 'helper', mount: 'files', name: 'make', status: 'pending' })
    expect(names()).toEqual(['good'])
    await parley('approvals', 'approve', waiting.approval_id)
    expect(await asked).toMatchObject({ content: [{ text: 'made' }] })
    expect(names()).toEqual(['good', 'other'])

    await parley('agent', 'delete', 'helper')
    await expect
      .poll(() =>
        make('good').then(
          () => 'made',
          (error: unknown) => Object(error).code,
        ),
      )
      .toBe(401)
    expect(names()).toEqual(['good', 'other'])
  },
)
