import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ReceivedRequest, openModelServer } from '@parley/agent/testing/model-server'
import { codexHome, startCodexPeer } from '@parley/contracts/testing'
import { isJsonObject } from '@parley/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { peerFor } from '../../../../scripts/peers/peer-or-skip.ts'
import { AgentHouse, type MadeAgent } from '../soak/agents/agent-house.ts'
import { AGENT_CLIENT_NAMES, AGENT_CLIENTS, bearer } from './fixture/agent-clients.ts'
import { countingMount, type CountingMount } from './fixture/counting-mount.ts'

/** Clients that nobody here wrote, with tokens of agents: one URL, and each finds what is mounted for its agent. */
const SLOW = { timeout: 240_000 }
const TOKEN_VARIABLE = 'PARLEY_AGENT_TOKEN'

let house: AgentHouse
let mcp: string
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-foreign-'))
  house = new AgentHouse()
  await house.open()
  await house.startHost('h1')
  mcp = `${house.url}/mcp`
}, SLOW.timeout)
afterAll(async () => {
  await house.close()
  await rm(folder, { recursive: true, force: true })
}, SLOW.timeout)

interface CountingAgent extends MadeAgent {
  readonly mount: CountingMount
}

let agents = 0
async function countingAgent(mount: string): Promise<CountingAgent> {
  agents += 1
  const counting = countingMount(folder, `${mount}-${agents}`)
  const agent = await house.makeAgent()
  await house.mount(agent, { name: mount, server: counting.server })
  return { ...agent, mount: counting }
}

const statusOf = async ({ token }: MadeAgent): Promise<number> =>
  (await fetch(mcp, { method: 'POST', body: '{}', ...bearer(token) })).status
const toolsOfMounts = (names: readonly string[]): readonly string[] => names.filter((name) => /^(?:red|blue)_/.test(name))

test.for(AGENT_CLIENT_NAMES)('%s: two tokens on one URL have nothing in common, and a call is made once', SLOW, async (name) => {
  const [red, blue] = [await countingAgent('red'), await countingAgent('blue')]
  await using first = await AGENT_CLIENTS[name](mcp, red.token)
  await using second = await AGENT_CLIENTS[name](mcp, blue.token)
  await expect.poll(async () => toolsOfMounts(await first.tools()), SLOW).toEqual(['red_work'])
  await expect.poll(async () => toolsOfMounts(await second.tools()), SLOW).toEqual(['blue_work'])
  red.mount.go()
  expect(await first.call('red_work')).toMatchObject({ content: [{ text: expect.stringContaining('worked in') }] })
  await expect(second.call('red_work')).rejects.toThrow('red_work')
  expect([red.mount.effects().length, blue.mount.effects().length]).toEqual([1, 0])
})

test.for(AGENT_CLIENT_NAMES)(
  '%s: a deleted agent’s token is 401 within a second, and what it does is cut',
  SLOW,
  async (name) => {
    const [red, blue] = [await countingAgent('red'), await countingAgent('blue')]
    await using client = await AGENT_CLIENTS[name](mcp, red.token)
    await using other = await AGENT_CLIENTS[name](mcp, blue.token)
    await expect.poll(async () => toolsOfMounts(await client.tools()), SLOW).toEqual(['red_work'])
    await expect.poll(async () => toolsOfMounts(await other.tools()), SLOW).toEqual(['blue_work'])
    const calls = [client.call('red_work'), other.call('blue_work')].map((call) => call.then(() => 'answered', String))
    await expect.poll(() => [red.mount.effects().length, blue.mount.effects().length], SLOW).toEqual([1, 1])
    await (await house.admin()).callTool('agent.delete', { agent_id: red.id })
    await expect.poll(() => statusOf(red), { timeout: 1_000 }).toBe(401)
    expect(await calls[0]).not.toBe('answered')
    expect(await client.tools().then(() => 'listed', String)).not.toBe('listed')
    expect(await statusOf(blue)).not.toBe(401)
    blue.mount.go()
    expect(await calls[1]).toBe('answered')
  },
)

test('the real codex 0.166 calls what its model names, once, through the gateway', SLOW, async (context) => {
  const peer = await peerFor(context, 'codex-0.166')
  const agent = await countingAgent('red')
  agent.mount.go()
  await using model = await openModelServer({
    wire: 'responses',
    answers: (request) => ({
      pieces: isAnswered(request)
        ? [{ text: 'Done.' }]
        : [{ call: 'red_work', arguments: {}, extra: { namespace: namespaceIn(request) } }],
    }),
  })
  // Codex begins without a server that is not there yet, unless it is told that it needs it.
  const extra = `[mcp_servers.gw]\nurl = ${JSON.stringify(mcp)}\nbearer_token_env_var = "${TOKEN_VARIABLE}"\nstartup_timeout_sec = 60\nrequired = true\n`
  await using home = await codexHome({ modelUrl: model.url, extra })
  await using start = startCodexPeer(peer, { home, env: { [TOKEN_VARIABLE]: agent.token } })
  const codex = await start(['exec', '--json', '--skip-git-repo-check', '--sandbox', 'read-only', 'do the work'])
  codex.stdin.end()
  codex.stdout.resume()
  await codex.exited
  expect(model.violations).toEqual([])
  expect(agent.mount.effects()).toHaveLength(1)
  expect(JSON.stringify(model.requests.at(-1)?.body)).toContain(`worked in ${agent.mount.effects()[0]}`)
})

/** Whether the conversation holds what the tool answered. */
function isAnswered({ body }: ReceivedRequest): boolean {
  const { input } = body
  return Array.isArray(input) && input.some((item) => isJsonObject(item) && item['type'] === 'function_call_output')
}

/** Codex puts the tools of a server into a namespace of its own name. */
function namespaceIn({ body }: ReceivedRequest): string {
  const tools = Array.isArray(body['tools']) ? body['tools'].filter(isJsonObject) : []
  const space = tools.find(({ type, name }) => type === 'namespace' && typeof name === 'string' && name.includes('gw'))
  return typeof space?.['name'] === 'string' ? space['name'] : 'mcp__gw'
}
