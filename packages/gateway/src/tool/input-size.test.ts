import { inputBytes } from '@parley/access'
import { describeTool } from '@parley/protocol'
import { expect, test } from 'vitest'
import { openTestGateway, request } from '../fixture/test-gateway.ts'
import { BUILT_IN_TOOLS } from '../tools.ts'

test('only tools that carry files, logs or documents take large arguments, by what they declare', () => {
  const sizes = Object.values(BUILT_IN_TOOLS).map(({ spec }) => ({
    name: spec.name,
    bytes: inputBytes(describeTool(spec).inputSchema),
  }))
  expect(sizes.filter(({ bytes }) => bytes > 128 * 1024).map(({ name }) => name)).toEqual([
    'agent.create',
    'agent.prompt',
    'agent.run',
    'agent.update',
    'approval.decide',
    'approval.decide_many',
    'blob.write',
    'chat.post',
    'grant.set',
    'host.agent_report',
    'host.append_calls',
    'host.append_transcript',
    'host.ask',
    'host.call_begin',
    'host.call_end',
    'host.chat_post',
    'host.end_prompt',
    'host.mount_renewed',
    'host.propose',
    'host.renew',
    'host.yield',
    'job.create',
    'judge.claim_next',
    'judge.job.append_agent_status',
    'judge.job.append_case',
    'judge.job.append_terminal',
    'judge.job.append_transcript',
    'judge.job.patch_state',
    'judge.job.put_artifacts',
    'judge.usage.ingest',
    'mount.attach',
    'mount.sign_in',
    'policy.propose',
    'policy.set',
    'policy.test',
  ])
})

test.each([
  [{ type: 'string', maxLength: 10 }, 60],
  [{ type: 'string' }, Number.POSITIVE_INFINITY],
  [{ type: 'string', pattern: '^[a-z]+$' }, Number.POSITIVE_INFINITY],
  [{ type: 'string', pattern: '^[a-z]{2,}$' }, Number.POSITIVE_INFINITY],
  [{ type: 'string', pattern: '^[a-z]{2,4}$' }, 1_536],
  [{ anyOf: [{ type: 'string', maxLength: 10 }, { type: 'null' }] }, 1_536],
  [{ type: 'array', items: { type: 'string', maxLength: 2 } }, Number.POSITIVE_INFINITY],
  [{ type: 'array', maxItems: 3, items: { type: 'string', maxLength: 2 } }, 180],
  [{ type: 'object', properties: { a: { type: 'string', maxLength: 3 } }, additionalProperties: false }, 120],
  [{ type: 'object', additionalProperties: {} }, Number.POSITIVE_INFINITY],
])('arguments of %j have at most %d bytes', (schema, bytes) => {
  expect(inputBytes(schema)).toBe(bytes)
})

test('a request that is larger than what its tool can take is refused with the bound', async () => {
  await using gw = await openTestGateway()
  const large = 'x'.repeat(100_000)
  const call = (name: string, args: object) => request(gw.gateway.url, gw.adminToken, 'tools/call', { name, arguments: args })
  const { body } = await call('account.get', { large })
  expect(body.error).toEqual({
    code: -32602,
    message: 'a request for account.get has at most 65536 bytes',
    data: { field: 'params', limit_bytes: 65_536 },
  })
  // Of a tool that takes files it is the tool that says what is wrong.
  expect((await call('blob.write', { upload_id: large })).body.result).toMatchObject({ isError: true })
  const listed = await request(gw.gateway.url, gw.adminToken, 'tools/list', { junk: large })
  expect(listed.body.error).toMatchObject({ code: -32602, message: 'a request for tools/list has at most 65536 bytes' })
})
