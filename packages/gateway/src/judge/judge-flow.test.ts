import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { type JobId, TOOLS } from '@parley/protocol'
import { jobLog } from '@parley/store'
import { ENGINES, type TestEngine, startEngine } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestGateway, callTool, mint, openTestGateway } from '../fixture/test-gateway.ts'
import { TestJudge, addJob, base64, unbase64 } from '../fixture/test-judge.ts'

const TESTS = { 'tests/2.in': '5 10\n', 'tests/1.out': '6\n', 'tests/1.in': '3 4\n' }
type Call = (name: string, args: object) => Promise<Record<string, unknown>>

describe.each(ENGINES)('a judge on %s', (engine) => {
  let host: TestEngine
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  afterAll(() => host.stop())

  test('the eight steps over a plain WebSocket, without initialize and without a heartbeat', async () => {
    await using gw = await openTestGateway({}, await host.migratedUrl())
    const { token } = await mint(gw, { role: 'judge', name: 'j1' })
    const judge = await TestJudge.open(gw.gateway.ws, token)
    expect(await judge.poll()).toMatchObject({ claimed: false, drain: false })
    await eightSteps(gw, (name, args) => judge.ok(name, args))
    expect(await judge.poll()).toMatchObject({ claimed: false, drain: false })
    judge.close()
  })

  test('the same by the official client over /mcp', async () => {
    await using gw = await openTestGateway({}, await host.migratedUrl())
    const { token } = await mint(gw, { role: 'judge', name: 'j1' })
    const client = new Client({ name: 'judge', version: '1' })
    const headers = { authorization: `Bearer ${token}` }
    await client.connect(new StreamableHTTPClientTransport(new URL(gw.gateway.mcp), { requestInit: { headers } }))
    // Knowing the tools, the client checks every answer against its output schema.
    const { tools } = await client.listTools()
    expect(tools.filter(({ name }) => name.startsWith('judge.'))).toHaveLength(15)
    await eightSteps(gw, async (name, args) => {
      const reply = await client.callTool({ name, arguments: { ...args } })
      expect(reply).not.toHaveProperty('isError')
      return reply.structuredContent as Record<string, unknown>
    })
    await client.close()
  })

  test('the same by stateless requests of the modern era', async () => {
    await using gw = await openTestGateway({}, await host.migratedUrl())
    const { token } = await mint(gw, { role: 'judge', name: 'j1' })
    await eightSteps(gw, async (name, args) => {
      const reply = await callTool(gw.gateway.url, token, name, args)
      expect(reply).not.toHaveProperty('isError')
      return reply.structuredContent ?? {}
    })
  })
})

test('the official client is told of a cancel on its stream', async () => {
  await using gw = await openTestGateway()
  const { token } = await mint(gw, { role: 'judge', name: 'j1' })
  const client = new Client({ name: 'judge', version: '1' })
  const told = new Promise((resolve) => {
    client.fallbackNotificationHandler = (message) => Promise.resolve(resolve(message))
  })
  const headers = { authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(gw.gateway.mcp), { requestInit: { headers } }))
  const id = await addJob(gw.store)
  const reply = await client.callTool({ name: 'judge.claim_next', arguments: { machine_id: 'm1' } })
  const { claim_id } = reply.structuredContent as { claim_id: string }
  await gw.store.jobs.cancel(id)
  expect(await told).toMatchObject({ method: 'judge_control', params: { job_id: id, claim_id, action: 'cancel' } })
  await client.close()
})

test('the judge’s tools are unknown to people, and an admin’s are unknown to judges', async () => {
  await using gw = await openTestGateway()
  const { token } = await mint(gw, { role: 'judge', name: 'j1' })
  await gw.admin('user.add', { username: 'ada' })
  const ada = await mint(gw, { role: 'user', username: 'ada' })
  const theirs = Object.values(TOOLS).filter(({ roles }) => roles.some((role) => role === 'judge'))
  const names = theirs.map(({ name }) => name).filter((name) => name.startsWith('judge.'))
  expect(names).toHaveLength(15)
  for (const name of names) {
    await expect(callTool(gw.gateway.url, ada.token, name, {})).rejects.toThrow(`unknown tool: ${name}`)
    await expect(gw.admin(name, {})).rejects.toThrow(`unknown tool: ${name}`)
  }
  for (const name of ['judge.list', 'judge.drain', 'job.list', 'token.create'])
    await expect(callTool(gw.gateway.url, token, name, {})).rejects.toThrow(`unknown tool: ${name}`)
})

/** What seed judges do with one job, and what is there afterwards. */
async function eightSteps(gw: TestGateway, call: Call): Promise<void> {
  const id = await addJob(gw.store, { files: TESTS })
  const claimed = await call('judge.claim_next', { machine_id: 'm1' })
  expect(claimed).toEqual({
    claimed: true,
    name: 'j1',
    job_id: id,
    owner_user_id: null,
    claim_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    claim: 1,
    lease_ms: 30_000,
    offsets: { terminal: 0, agent_status: 0, cases: 0 },
    drain: false,
  })
  const claim = { job_id: claimed['job_id'], claim_id: claimed['claim_id'] }
  const inputs = await readInputs(call, claim)
  expect([...inputs.keys()]).toEqual(['job.json', 'tests/1.in', 'tests/1.out', 'tests/2.in'])
  expect(JSON.parse(inputs.get('job.json') ?? '')).toMatchObject({ job_id: id, problem: { statement_md: '# Größe' } })
  inputs.delete('job.json')
  expect(Object.fromEntries(inputs)).toEqual(TESTS)

  const state = await call('judge.job.get_state', claim)
  expect(state).toMatchObject({ status: 'queued', judge: { machine_id: 'm1', claim_id: claim.claim_id }, claims: 1 })
  // The whole state comes back, as the first judges did it.
  const running = { ...state, status: 'running_test', started_at: '2026-01-01T00:00:00.000Z', attempt: 1 }
  expect(await call('judge.job.patch_state', { ...claim, patch: running })).toEqual({ ok: true, action: 'continue' })
  for (const log of ['terminal', 'agent_status', 'case', 'transcript'])
    expect(await call(`judge.job.append_${log}`, { ...claim, offset: 0, chunk_b64: base64(`{"${log}":1}\n`) })).toEqual({
      ok: true,
      next_offset: `{"${log}":1}\n`.length,
      written_bytes: `{"${log}":1}\n`.length,
      action: 'continue',
    })
  expect(await call('judge.job.read_transcript', claim)).toEqual({
    chunk_b64: base64('{"transcript":1}\n'),
    next_offset: 17,
    eof: true,
    action: 'continue',
  })
  const report_json = { schema_version: 'report.v1', status: 'succeeded', tests: [] }
  await call('judge.job.put_artifacts', { ...claim, main_cpp: 'int main() {}', solution_json: {}, report_json })
  const usage = { input_tokens: 10, cached_input_tokens: 4, output_tokens: 2, cached_output_tokens: 0 }
  const ingested = await call('judge.usage.ingest', { ...claim, attempt: 1, usage: { model: 'm', usage } })
  const counted = { ...usage, reasoning_output_tokens: 0, calls: 1, unpriced_calls: 1, estimated_calls: 0, cost_microusd: null }
  expect(ingested).toEqual({ ok: true, action: 'continue', booked: true, total: counted })
  const done = { ...running, status: 'succeeded', finished_at: '2026-01-01T00:00:01.000Z' }
  expect(await call('judge.job.patch_state', { ...claim, patch: done })).toEqual({ ok: true, action: 'continue' })
  expect(await call('judge.release_claim', claim)).toEqual({ released: true })

  const job = await gw.store.jobs.byId(id)
  expect(job).toMatchObject({ status: 'succeeded', attempt: 1, claims: 1, lostClaims: 0, error: null })
  expect(job?.artifactNames).toEqual(['main.cpp', 'report.json', 'usage.json'])
  expect(await artifact(gw, id, 'usage.json')).toMatchObject({ model: 'm', usage, calls: 1 })
  expect(await artifact(gw, id, 'report.json')).toEqual(report_json)
  const cases = await gw.store.logs.read(jobLog(id, 'cases'), { from: { offset: 0 }, maxBytes: 100 })
  expect(Buffer.concat(cases.entries.map(({ bytes }) => bytes)).toString()).toBe('{"case":1}\n')
  expect(await gw.store.leases.count('jobs')).toEqual({ waiting: 0, held: 0 })
}

async function readInputs(call: Call, claim: object): Promise<Map<string, string>> {
  const { items } = (await call('judge.input.list', claim)) as { items: { path: string; size: number; sha256: string }[] }
  const found = new Map<string, string>()
  for (const { path, size, sha256 } of items) {
    expect(sha256).toMatch(/^[0-9a-f]{64}$/)
    let bytes = Buffer.alloc(0)
    for (let offset = 0, eof = false; !eof;) {
      const chunk = await call('judge.input.read_chunk', { ...claim, path, offset, max_bytes: path === 'job.json' ? 700 : 3 })
      bytes = Buffer.concat([bytes, Buffer.from(String(chunk['chunk_b64']), 'base64')])
      offset = Number(chunk['next_offset'])
      eof = chunk['eof'] === true
    }
    expect(bytes.length).toBe(size)
    found.set(path, bytes.toString('utf8'))
  }
  return found
}

async function artifact(gw: TestGateway, id: JobId, wanted: string): Promise<unknown> {
  const found = (await gw.store.jobs.artifacts(id)).find(({ name }) => name === wanted)
  const read = found && (await gw.store.blobs.read(found.sha256, 0, 100_000))
  return JSON.parse(unbase64(read && Buffer.from(read.bytes).toString('base64')))
}
