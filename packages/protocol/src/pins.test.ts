// Names, roles and codes that programs outside hold on to. Written out on purpose: a change here is a change for everybody.
import { expect, test } from 'vitest'
import {
  ChannelKind,
  ModelWire,
  NOTIFICATIONS,
  RESOURCES,
  RPC_CODES,
  Role,
  STATUS_SERVER_NAME,
  COMPOSITOR_TOOLS,
  STATUS_TOOLS,
  TOOLS,
  TOOL_ERROR_META,
  ToolErrorCode,
  isAdmitted,
} from './index.ts'

test('tools keep their names and audiences', () => {
  expect(Object.fromEntries(Object.values(TOOLS).map((spec) => [spec.name, spec.roles]))).toEqual({
    'account.get': ['user', 'judge', 'host', 'executor'],
    'account.passwd': ['user'],
    'agent.create': ['user'],
    'agent.delete': ['user'],
    'agent.get': ['user'],
    'agent.list': ['user'],
    'agent.token': ['user'],
    'agent.update': ['user'],
    'audit.export': ['admin'],
    'audit.search': ['admin'],
    'blob.abort': ['user'],
    'blob.begin': ['user'],
    'blob.commit': ['user'],
    'blob.write': ['user'],
    'channel.delete': ['admin'],
    'channel.list': ['admin'],
    'channel.models': ['admin'],
    'channel.set': ['admin'],
    'executor.drain': ['admin'],
    'executor.list': ['admin'],
    'grant.list': ['admin'],
    'grant.set': ['admin'],
    'host.agent_get': ['host'],
    'host.agent_listen': ['host'],
    'host.agent_report': ['host'],
    'host.agents_known': ['host'],
    'host.append_calls': ['host'],
    'host.claim_next': ['host'],
    'host.drain': ['admin'],
    'host.list': ['admin'],
    'host.mount_renewed': ['host'],
    'host.release': ['host'],
    'host.renew': ['host'],
    'job.cancel': ['user'],
    'job.create': ['user'],
    'job.delete': ['user'],
    'job.get_artifacts': ['user'],
    'job.get_input': ['user'],
    'job.get_state': ['user'],
    'job.get_test_preview': ['user'],
    'job.get_tests': ['user'],
    'job.list': ['user'],
    'job.read_input': ['user'],
    'job.read_log': ['user'],
    'job.retry': ['user'],
    'job.start': ['user'],
    'job.subscribe': ['user'],
    'job.unsubscribe': ['user'],
    'job.wait': ['user'],
    'judge.claim_next': ['judge'],
    'judge.drain': ['admin'],
    'judge.heartbeat': ['judge'],
    'judge.input.list': ['judge'],
    'judge.input.read_chunk': ['judge'],
    'judge.job.append_agent_status': ['judge'],
    'judge.job.append_case': ['judge'],
    'judge.job.append_terminal': ['judge'],
    'judge.job.append_transcript': ['judge'],
    'judge.job.get_state': ['judge'],
    'judge.job.patch_state': ['judge'],
    'judge.job.put_artifacts': ['judge'],
    'judge.job.read_transcript': ['judge'],
    'judge.list': ['admin'],
    'judge.prepare_generate': ['judge'],
    'judge.release_claim': ['judge'],
    'judge.usage.ingest': ['judge'],
    'models.list': ['user'],
    'mount.attach': ['user'],
    'mount.detach': ['user'],
    'mount.list': ['user'],
    'mount.sign_in': ['user'],
    'pricing.delete': ['admin'],
    'pricing.list': ['admin'],
    'pricing.set': ['admin'],
    'token.create': ['admin'],
    'token.list': ['admin'],
    'token.revoke': ['admin'],
    'usage.events': ['user'],
    'usage.summary': ['user'],
    'user.add': ['admin'],
    'user.delete': ['admin'],
    'user.demote': ['admin'],
    'user.disable': ['admin'],
    'user.enable': ['admin'],
    'user.link': ['admin'],
    'user.list': ['admin'],
    'user.passwd': ['admin'],
    'user.promote': ['admin'],
    'user.set_identity': ['admin'],
    'user.set_quota': ['admin'],
    'worker.heartbeat': ['host', 'executor'],
  })
})

test('every tool stands in the table under its own name, in order', () => {
  expect(Object.values(TOOLS).map((spec) => spec.name)).toEqual(Object.keys(TOOLS))
  expect(Object.keys(TOOLS)).toEqual(Object.keys(TOOLS).toSorted())
})

test('tools keep the hints that clients act on', () => {
  const kinds = Object.values(TOOLS).map(
    ({ name, annotations: { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } }) => [
      name,
      [readOnlyHint && 'reads', destructiveHint && 'destroys', idempotentHint && 'idempotent', openWorldHint && 'open']
        .filter(Boolean)
        .join(' '),
    ],
  )
  expect(Object.fromEntries(kinds)).toEqual({
    'account.get': 'reads idempotent',
    'account.passwd': 'idempotent',
    'agent.create': '',
    'agent.delete': 'destroys idempotent',
    'agent.get': 'reads idempotent',
    'agent.list': 'reads idempotent',
    'agent.token': '',
    'agent.update': 'idempotent',
    'audit.export': 'reads idempotent',
    'audit.search': 'reads idempotent',
    'blob.abort': 'destroys idempotent',
    'blob.begin': '',
    'blob.commit': 'idempotent',
    'blob.write': 'idempotent',
    'channel.delete': 'destroys idempotent',
    'channel.list': 'reads idempotent',
    'channel.models': 'reads idempotent open',
    'channel.set': 'idempotent',
    'executor.drain': 'idempotent',
    'executor.list': 'reads idempotent',
    'grant.list': 'reads idempotent',
    'grant.set': 'idempotent',
    'host.agent_get': 'reads idempotent',
    'host.agent_listen': 'idempotent',
    'host.agent_report': 'idempotent',
    'host.agents_known': 'reads idempotent',
    'host.append_calls': 'idempotent',
    'host.claim_next': 'idempotent',
    'host.drain': 'idempotent',
    'host.list': 'reads idempotent',
    'host.mount_renewed': 'idempotent',
    'host.release': 'destroys idempotent',
    'host.renew': 'idempotent',
    'job.cancel': 'destroys idempotent',
    'job.create': '',
    'job.delete': 'destroys idempotent',
    'job.get_artifacts': 'reads idempotent',
    'job.get_input': 'reads idempotent',
    'job.get_state': 'reads idempotent',
    'job.get_test_preview': 'reads idempotent',
    'job.get_tests': 'reads idempotent',
    'job.list': 'reads idempotent',
    'job.read_input': 'reads idempotent',
    'job.read_log': 'reads idempotent',
    'job.retry': '',
    'job.start': 'idempotent',
    'job.subscribe': 'idempotent',
    'job.unsubscribe': 'idempotent',
    'job.wait': 'reads idempotent',
    'judge.claim_next': '',
    'judge.drain': 'idempotent',
    'judge.heartbeat': 'idempotent',
    'judge.input.list': 'reads idempotent',
    'judge.input.read_chunk': 'reads idempotent',
    'judge.job.append_agent_status': 'idempotent',
    'judge.job.append_case': 'idempotent',
    'judge.job.append_terminal': 'idempotent',
    'judge.job.append_transcript': 'idempotent',
    'judge.job.get_state': 'reads idempotent',
    'judge.job.patch_state': 'idempotent',
    'judge.job.put_artifacts': 'idempotent',
    'judge.job.read_transcript': 'reads idempotent',
    'judge.list': 'reads idempotent',
    'judge.prepare_generate': 'idempotent',
    'judge.release_claim': 'idempotent',
    'judge.usage.ingest': 'idempotent',
    'models.list': 'reads idempotent',
    'mount.attach': 'idempotent',
    'mount.detach': 'destroys idempotent',
    'mount.list': 'reads idempotent',
    'mount.sign_in': 'idempotent',
    'pricing.delete': 'destroys idempotent',
    'pricing.list': 'reads idempotent',
    'pricing.set': 'idempotent',
    'token.create': '',
    'token.list': 'reads idempotent',
    'token.revoke': 'destroys idempotent',
    'usage.events': 'reads idempotent',
    'usage.summary': 'reads idempotent',
    'user.add': '',
    'user.delete': 'destroys idempotent',
    'user.demote': 'idempotent',
    'user.disable': 'destroys idempotent',
    'user.enable': 'idempotent',
    'user.link': '',
    'user.list': 'reads idempotent',
    'user.passwd': 'idempotent',
    'user.promote': 'idempotent',
    'user.set_identity': 'idempotent',
    'user.set_quota': 'idempotent',
    'worker.heartbeat': 'idempotent',
  })
})

test('the status server keeps its name, its tools and what they take', () => {
  expect(STATUS_SERVER_NAME).toBe('realmoi-status')
  expect(Object.values(STATUS_TOOLS).map(({ name, input }) => [name, ...Object.keys(input.shape)])).toEqual([
    ['agent.delta', 'stage', 'kind', 'delta', 'job_id', 'attempt', 'level', 'meta'],
    ['judge.self_test', 'main_cpp', 'source', 'language', 'timeout_seconds'],
    ['status.update', 'stage', 'summary', 'job_id', 'attempt', 'level', 'progress', 'meta'],
  ])
})

test('the compositor keeps its tools and what they take', () => {
  expect(Object.values(COMPOSITOR_TOOLS).map(({ name, input }) => [name, ...Object.keys(input.shape)])).toEqual([
    ['resources_list', 'mount', 'uri_prefix', 'cursor'],
    ['resources_read', 'uri', 'part', 'offset', 'max_bytes', 'version'],
    ['resources_subscribe', 'uri'],
    ['resources_templates', 'mount'],
    ['resources_unsubscribe', 'uri'],
    ['tools_search', 'query', 'limit'],
  ])
})

test('kinds of channels and wires to models', () => {
  expect([ChannelKind.options, ModelWire.options]).toEqual([
    ['openai', 'script'],
    ['responses', 'chat'],
  ])
})

test('roles', () => {
  expect(Role.options).toEqual(['user', 'judge', 'agent', 'host', 'executor'])
})

test('resources keep their URIs and audiences', () => {
  expect(Object.fromEntries(Object.entries(RESOURCES).map(([key, { uri, roles }]) => [key, [uri, ...roles]]))).toEqual({
    'resource://account': ['resource://account', 'user', 'judge', 'host', 'executor'],
    'resource://agents/list': ['resource://agents/list', 'user'],
    'resource://agents/{id}/state': ['resource://agents/{id}/state', 'user'],
    'resource://agents/{id}/mounts': ['resource://agents/{id}/mounts', 'user'],
    'resource://agents/{id}/calls': ['resource://agents/{id}/calls', 'user'],
    'resource://executors/list': ['resource://executors/list', 'admin'],
    'resource://hosts/list': ['resource://hosts/list', 'admin'],
    'resource://jobs/list': ['resource://jobs/list', 'user'],
    'resource://jobs/{id}/state': ['resource://jobs/{id}/state', 'user'],
    'resource://jobs/{id}/report': ['resource://jobs/{id}/report', 'user'],
    'resource://jobs/{id}/terminal': ['resource://jobs/{id}/terminal', 'user'],
    'resource://jobs/{id}/agent-status': ['resource://jobs/{id}/agent-status', 'user'],
    'resource://jobs/{id}/cases': ['resource://jobs/{id}/cases', 'user'],
    'resource://judges/list': ['resource://judges/list', 'admin'],
    'resource://models/list': ['resource://models/list', 'user'],
    'resource://users/list': ['resource://users/list', 'admin'],
    'resource://tokens/list': ['resource://tokens/list', 'admin'],
  })
})

test('notifications', () => {
  expect(Object.keys(NOTIFICATIONS)).toEqual([
    'agent_status',
    'case_result',
    'host_control',
    'job_state',
    'judge_control',
    'notifications/resources/updated',
    'open',
    'terminal',
    'worker_control',
  ])
})

test('JSON-RPC error codes', () => {
  expect(RPC_CODES).toEqual({
    parse_error: -32700,
    invalid_request: -32600,
    method_not_found: -32601,
    invalid_params: -32602,
    internal_error: -32603,
    resource_not_found_legacy: -32002,
    header_mismatch: -32020,
    missing_client_capability: -32021,
    unsupported_protocol_version: -32022,
    url_elicitation_required: -32042,
    policy_denied: -32950,
    policy_denied_continue: -32951,
    policy_reserved_misuse: -32952,
    policy_evaluator_error: -32953,
    approval_expired: -32954,
    subscribe_unsupported: -32960,
    unsubscribe_unsupported: -32961,
    overloaded: -32970,
  })
})

test('error codes of tools, and where they stand', () => {
  expect(TOOL_ERROR_META).toBe('parley/error')
  expect(ToolErrorCode.options).toEqual([
    'invalid_argument',
    'not_found',
    'already_exists',
    'forbidden',
    'conflict',
    'quota_exceeded',
    'rate_limited',
    'lease_lost',
    'no_session',
    'unavailable',
    'internal',
  ])
})

test.each([
  ['a user is let in where users are', ['user'], { role: 'user', admin: false }, true],
  ['an admin is a user', ['user'], { role: 'user', admin: true }, true],
  ['a user is no admin', ['admin'], { role: 'user', admin: false }, false],
  ['an admin is let in where admins are', ['admin'], { role: 'user', admin: true }, true],
  ['a judge with a stray admin flag is no admin', ['admin'], { role: 'judge', admin: true }, false],
  ['an agent is nothing but an agent', ['user', 'judge', 'admin'], { role: 'agent', admin: false }, false],
] as const)('%s', (_, audience, caller, admitted) => {
  expect(isAdmitted(audience, caller)).toBe(admitted)
})
