import { TOOLS, type ToolName, isJsonObject } from '@parley/protocol'
import { ENGINES, ONE_CASE_ZIP, type TestEngine, startEngine } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { type TestGateway, callTool, mint, openTestGateway } from '../fixture/test-gateway.ts'

/** The largest that JavaScript counts to and one more, one beyond 32 bits, and one below nothing. */
const ODD_NUMBERS = [2 ** 53 - 1, 2 ** 53, 2 ** 31, -1]
/** Other answers that a number may get, or the tool gives to whatever it is asked here. */
const REFUSALS: ReadonlySet<unknown> = new Set(['quota_exceeded', 'no_session', 'conflict'])
type Arguments = Record<string, unknown>

/** Where the arguments of a tool have numbers: `budget.tokens`. */
function numbersIn(schema: unknown, path: readonly string[] = []): string[] {
  if (!isJsonObject(schema)) return []
  const { type, properties, items, anyOf = [] } = schema
  return [
    ...(type === 'integer' || type === 'number' ? [path.join('.')] : []),
    ...Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([key, inner]) => numbersIn(inner, [...path, key])),
    ...numbersIn(items, [...path, '0']),
    ...(Array.isArray(anyOf) ? anyOf.flatMap((one) => numbersIn(one, path)) : []),
  ]
}

function withNumber(args: Arguments, path: string, value: number): Arguments {
  const [first = '', ...rest] = path.split('.')
  if (rest.length === 0) return { ...args, [first]: value }
  const inner = args[first]
  return { ...args, [first]: withNumber(isJsonObject(inner) ? inner : {}, rest.join('.'), value) }
}

const FIELDS: readonly (readonly [name: ToolName, path: string])[] = [
  ...Object.values(TOOLS).flatMap(({ name, input }) =>
    numbersIn(z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' })).map((path) => [name, path] as const),
  ),
  // In documents whose schema says nothing of them.
  ['judge.usage.ingest', 'usage.input_tokens'],
  ['judge.job.patch_state', 'patch.attempt'],
]

describe.each(ENGINES)('numbers of arguments on %s', (engine) => {
  let host: TestEngine
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  afterAll(() => host.stop())

  test('whatever they are, no tool fails for a fault of ours', { timeout: 300_000 }, async () => {
    await using gw = await openTestGateway({}, await host.freshUrl())
    const { token: judge } = await mint(gw, { role: 'judge', name: 'j1' })
    const otherwise = await sensible(gw, judge)
    expect(FIELDS).toContainEqual(['blob.write', 'offset'])
    const faults: unknown[] = []
    for (const [name, path] of FIELDS) {
      const args = otherwise[name]
      if (args === undefined) throw new Error(`${name} has a number (${path}): say here how it is called`)
      const token = TOOLS[name].roles.some((role) => role === 'judge') ? judge : gw.adminToken
      for (const value of ODD_NUMBERS) {
        const reply = await callTool(gw.gateway.url, token, name, withNumber(args, path, value))
        const error = reply._meta?.['parley/error']
        if (!isJsonObject(error)) continue
        const isNamed = error['code'] === 'invalid_argument' && error['field'] === path
        if (!isNamed && !REFUSALS.has(error['code'])) faults.push([name, path, value, error])
      }
    }
    expect(faults).toEqual([])
    expect(gw.logged.filter((line) => line.includes('"level":50'))).toEqual([])
  })
})

/** Arguments of every tool with a number, such that it works but for the number. */
async function sensible(gw: TestGateway, judge: string): Promise<Partial<Record<ToolName, Arguments>>> {
  const { upload_id } = (await gw.admin('blob.begin')).structuredContent ?? {}
  const code = { current_code: 'int main() {}', tests_zip_b64: ONE_CASE_ZIP }
  const { job_id } = (await gw.admin('job.create', code)).structuredContent ?? {}
  await gw.admin('job.start', { job_id })
  const claimed = (await callTool(gw.gateway.url, judge, 'judge.claim_next', { machine_id: 'm' })).structuredContent ?? {}
  const claim = { job_id: claimed['job_id'], claim_id: claimed['claim_id'] }
  await callTool(gw.gateway.url, judge, 'judge.job.patch_state', { ...claim, patch: { status: 'running_test', attempt: 1 } })
  await gw.admin('channel.set', { name: 'c', base_url: 'http://127.0.0.1:9', wire: 'chat' })
  const prices = { input_microusd_per_1m_tokens: 1, output_microusd_per_1m_tokens: 1 }
  await gw.admin('pricing.set', { upstream_channel: 'c', model: 'm', ...prices })
  const append = { ...claim, offset: 0, chunk_b64: 'AA==' }
  const sandbox = { driver: 'none', tier: 'none', enforced: {}, missing: [] }
  const facts = { slots: 1, running: 0, languages: [], sandbox, version: '1' }
  const path = 'tests/1.in'
  return {
    'audit.export': {},
    'audit.search': {},
    'blob.begin': {},
    'blob.write': { upload_id, offset: 0, chunk_b64: 'AA==' },
    'job.create': { ...code, compare_mode: 'floats', model: 'm' },
    'job.get_test_preview': { job_id, input_rel: '1.in' },
    'job.list': {},
    'job.read_input': { job_id, path },
    'job.read_log': { job_id, stream: 'terminal' },
    'job.subscribe': { job_id },
    'job.wait': { job_id, wait_ms: 0 },
    'judge.claim_next': { machine_id: 'm', facts },
    'judge.input.read_chunk': { ...claim, path },
    'judge.job.append_agent_status': append,
    'judge.job.append_case': append,
    'judge.job.append_terminal': append,
    'judge.job.append_transcript': append,
    'judge.job.patch_state': { ...claim, patch: {} },
    'judge.job.put_artifacts': claim,
    'judge.job.read_transcript': claim,
    'judge.prepare_generate': claim,
    'judge.usage.ingest': { ...claim, attempt: 1, call_id: 'c', usage: { input_tokens: 1, output_tokens: 1 } },
    'pricing.set': { upstream_channel: 'c', model: 'm' },
    'token.create': { role: 'judge', name: 'j2' },
    'token.list': {},
    'usage.events': {},
    'usage.summary': {},
    'user.list': {},
    'user.set_quota': { username: 'admin' },
  }
}
