import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { AgentStatusItem } from '@parley/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { specOf } from '../fixture/open-bench.ts'
import { SOLUTIONS, SUM_CASE } from '../fixture/solutions.ts'

let folder: string
const clients: Client[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-status-'))
  await mkdir(join(folder, 'input', 'tests'), { recursive: true })
  const submission = { language: 'python', code: '', files: SUM_CASE } as const
  await writeFile(join(folder, 'input', 'job.json'), JSON.stringify(specOf(submission, 'job_local')))
  for (const [name, text] of Object.entries(SUM_CASE)) await writeFile(join(folder, 'input', 'tests', name), text)
})
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()))
  await rm(folder, { recursive: true, force: true })
})

/** The official client, with a status server of its own on standard input and output. */
async function connect(): Promise<Client> {
  const client = new Client({ name: 'oracle', version: '1' })
  const args = [join(import.meta.dirname, '..', 'fixture', 'status-main.ts'), folder, join(folder, 'cache')]
  const env = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' }
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'inherit' }))
  clients.push(client)
  return client
}

test('the official client finds three tools, calls them, and its own checks of the results hold', async () => {
  const client = await connect()
  expect(client.getServerVersion()).toMatchObject({ name: 'realmoi-status' })
  expect(client.getServerCapabilities()).toMatchObject({ tools: {} })
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name).toSorted()).toEqual(['agent.delta', 'judge.self_test', 'status.update'])
  const schema = tools.find(({ name }) => name === 'judge.self_test')?.inputSchema
  expect(Object.keys(schema?.properties ?? {}).toSorted()).toEqual(['language', 'main_cpp', 'source', 'timeout_seconds'])

  const update = { name: 'status.update', arguments: { stage: 'analysis', summary: 'liest 题面 🎈' } }
  const first = await client.callTool(update)
  expect(first.structuredContent).toEqual({ seq: expect.stringMatching(/^[0-9a-f]{8}-1$/) })
  expect((await client.callTool(update)).structuredContent).toEqual({ deduped: true })
  const delta = { name: 'agent.delta', arguments: { stage: 'coding', kind: 'agent_message_delta', delta: 'Grüße' } }
  expect((await client.callTool(delta)).structuredContent).toMatchObject({ seq: expect.stringMatching(/-2$/) })
  const tested = await client.callTool({ name: 'judge.self_test', arguments: { source: SOLUTIONS.python.right } })
  expect(tested.structuredContent).toMatchObject({ ok: true, passed: 1, total: 1 })
  // The fields that the seed's clients read, by their names.
  const fields = ['ok', 'status', 'runner_exit_code', 'compile_ok', 'first_failure', 'first_failure_verdict']
  const texts = ['first_failure_message', 'stdout_tail', 'stderr_tail']
  expect(Object.keys(Object(tested.structuredContent))).toEqual(expect.arrayContaining([...fields, ...texts]))
  await expect(client.callTool({ name: 'judge.self_test', arguments: { source: '' } })).rejects.toMatchObject({ code: -32602 })
  expect(await client.callTool({ name: 'status.update', arguments: { stage: 'plan' } })).toMatchObject({ isError: true })
  // Languages are asked for when the first program is tested; on a busy machine that takes a while.
}, 120_000)

test('lines of two processes lie in one file, whole, in UTF-8 whatever the locale, and no number comes twice', async () => {
  const [one, other] = await Promise.all([connect(), connect()])
  const say = (client: Client, index: number) =>
    client.callTool({ name: 'status.update', arguments: { stage: 'plan', summary: `Schritt ${index} ✓` } })
  await Promise.all(Array.from({ length: 40 }, (_, index) => say(index % 2 === 0 ? one : other, index)))
  const text = await readFile(join(folder, 'logs', 'agent_status.jsonl'), 'utf8')
  const items = text
    .trimEnd()
    .split('\n')
    .map((line) => AgentStatusItem.parse(JSON.parse(line)))
  const steps = items.filter(({ summary }) => summary.startsWith('Schritt'))
  expect(new Set(steps.map(({ summary }) => summary)).size).toBe(40)
  expect(new Set(items.map(({ seq }) => seq)).size).toBe(items.length)
  expect(new Set(items.map(({ job_id, attempt }) => `${job_id} ${attempt}`))).toEqual(new Set(['job_local 1']))
})
