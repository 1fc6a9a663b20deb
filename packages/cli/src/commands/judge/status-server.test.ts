import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { SelfTests, statusService } from '@parley/judge'
import { JobSpec } from '@parley/protocol'
import { ONE_CASE_ZIP } from '@parley/store/testing'
import { openServiceSocket } from '@parley/workspace'
import { expect, test } from 'vitest'
import { Scratch } from '../../fixture/parley.ts'
import { ScriptedTester, codeFor } from '../../fixture/scripted-tester.ts'
import { LocalGateway } from '../../fixture/local-gateway.ts'
import { gone } from '../../fixture/gone.ts'

/** The official client on a status server of its own. */
async function open(scratch: Scratch, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const { command, env: plain } = scratch.launch(['status-server', ...args])
  const transport = new StdioClientTransport({
    command: command[0],
    args: command.slice(1),
    env: { ...plain, ...env },
    cwd: scratch.folder,
    stderr: 'pipe',
  })
  const client = new Client({ name: 'oracle', version: '1' })
  await client.connect(transport)
  return {
    client,
    pid: transport.pid ?? 0,
    async [Symbol.asyncDispose]() {
      await client.close()
    },
  }
}

/** The spec of a job as a gateway makes it. */
async function specOf(scratch: Scratch): Promise<JobSpec> {
  await using gateway = await LocalGateway.open(scratch.data)
  const { job_id } = await gateway.call('job.create', {
    statement_md: 'add',
    current_code: codeFor({}),
    tests_zip_b64: ONE_CASE_ZIP,
  })
  const inputs = await gateway.store.jobs.inputs(job_id)
  return JobSpec.parse(inputs?.spec)
}

/** What a judge serves for one attempt. */
async function openJob(scratch: Scratch) {
  const spec = await specOf(scratch)
  const said: { stage: string; summary: string; kind?: string; delta?: string }[] = []
  const tester = new ScriptedTester()
  const selfTests = new SelfTests({
    tester,
    spec,
    inputFolder: scratch.folder,
    judgeName: 'test',
    claim: 1,
    attempt: 1,
    signal: new AbortController().signal,
  })
  const voice = { status: (line: (typeof said)[number]) => `s-${said.push(line)}` }
  const service = statusService({ voice, selfTests, spec, version: '1', now: Date.now })
  const socket = await openServiceSocket({ service, socketPath: join(scratch.folder, `${randomBytes(3).toString('hex')}.sock`) })
  return { socket, said, tester, env: { PARLEY_STATUS_SOCKET: socket.socketPath }, [Symbol.asyncDispose]: () => socket.close() }
}

const NAMES = ['agent.delta', 'judge.self_test', 'status.update']

test('it passes calls on to the judge whose socket it is given', async () => {
  await using scratch = new Scratch()
  await using job = await openJob(scratch)
  await using server = await open(scratch, [], { ...job.env, LC_ALL: 'C' })
  const { client } = server
  expect(client.getServerVersion()).toMatchObject({ name: 'realmoi-status' })
  expect((await client.listTools()).tools.map(({ name }) => name).toSorted()).toEqual(NAMES)
  const told = await client.callTool({ name: 'status.update', arguments: { stage: 'coding', summary: 'größer – 最大 🎒' } })
  expect(told).toMatchObject({ structuredContent: { seq: 's-1' } })
  await client.callTool({ name: 'agent.delta', arguments: { stage: 'coding', kind: 'agent_message_delta', delta: 'é' } })
  expect(job.said).toMatchObject([
    { stage: 'coding', summary: 'größer – 最大 🎒' },
    { kind: 'agent_message_delta', delta: 'é' },
  ])
  const tested = await client.callTool({ name: 'judge.self_test', arguments: { source: codeFor({ fails: true }) } })
  expect(tested.structuredContent).toMatchObject({ ok: false, status: 'failed' })
  const right = await client.callTool({ name: 'judge.self_test', arguments: { main_cpp: codeFor({}) } })
  expect(right.structuredContent).toMatchObject({ ok: true })
})

test('it ends with its input, also in the middle of a self-test, and the judge ends that too', async () => {
  await using scratch = new Scratch()
  await using job = await openJob(scratch)
  const server = await open(scratch, [], job.env)
  const call = server.client.callTool({ name: 'judge.self_test', arguments: { source: codeFor({ forever: true }) } })
  call.catch(() => {})
  await expect.poll(() => job.tester.running).toBe(1)
  await server.client.close()
  await gone(server.pid)
  await expect.poll(() => job.tester.running).toBe(0)
})

test.each([
  ['nothing', {}, 'PARLEY_STATUS_SOCKET'],
  ['a socket that nobody serves', { PARLEY_STATUS_SOCKET: '/nowhere/x.sock' }, '/nowhere/x.sock'],
  ['a folder of no job', { REALMOI_JOB_DIR: '/nowhere' }, 'REALMOI_JOB_DIR'],
])('with %s it starts and lists its tools, and calls say what is missing', async (_, env, named) => {
  await using scratch = new Scratch()
  await using server = await open(scratch, [], env)
  expect((await server.client.listTools()).tools.map(({ name }) => name).toSorted()).toEqual(NAMES)
  const answer = await server.client.callTool({ name: 'status.update', arguments: { stage: 'plan', summary: 'x' } })
  expect(answer).toMatchObject({ isError: true, _meta: { 'parley/error': { code: 'unavailable' } } })
  expect(JSON.stringify(answer.content)).toMatch(/unavailable: .*/)
  expect(JSON.stringify(answer.content)).toContain(named)
  await expect(server.client.callTool({ name: 'no.such', arguments: {} })).rejects.toThrow(/unknown tool/)
})

test('on a folder it tests by itself and writes the lines of the job', { timeout: 120_000 }, async () => {
  await using scratch = new Scratch()
  const spec = await specOf(scratch)
  const folder = join(scratch.folder, 'job')
  mkdirSync(join(folder, 'input/tests'), { recursive: true })
  const tests = { ...spec.tests, present: true }
  writeFileSync(join(folder, 'input/job.json'), JSON.stringify({ ...spec, language: 'python', tests }))
  writeFileSync(join(folder, 'input/tests/1.in'), '2\n')
  writeFileSync(join(folder, 'input/tests/1.out'), '4\n')
  await using server = await open(scratch, ['--job-dir', folder])
  const tried = (source: string) => server.client.callTool({ name: 'judge.self_test', arguments: { source } })
  const wrong = await tried('print(int(input()) + 3)')
  expect(wrong.structuredContent).toMatchObject({
    ok: false,
    first_failure: '1',
    failure: { verdict: 'WA', input: '2\n', expected: '4\n', actual: '5\n' },
  })
  expect((await tried('print(int(input()) * 2)')).structuredContent).toMatchObject({ ok: true, passed: 1, total: 1 })
  await server.client.callTool({ name: 'status.update', arguments: { stage: 'done', summary: 'fertig – 完了' } })
  const lines = readFileSync(join(folder, 'logs/agent_status.jsonl'), 'utf8').trimEnd().split('\n')
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ job_id: spec.job_id, stage: 'done', summary: 'fertig – 完了' })
  expect(lines.length).toBeGreaterThanOrEqual(3)
})

test('nothing but the protocol goes to its stdout, whatever comes in', async () => {
  await using scratch = new Scratch()
  const ping = { jsonrpc: '2.0', id: 7, method: 'ping' }
  const { code, out, err } = await scratch.run(['status-server'], { input: `no json\n${JSON.stringify(ping)}\n` })
  expect(code).toBe(0)
  for (const line of out.trimEnd().split('\n')) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
  expect(err).toContain('not JSON')
})
