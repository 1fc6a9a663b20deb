// Names, roles and codes that programs outside hold on to. Written out on purpose: a change here is a change for everybody.
import { expect, test } from 'vitest'
import { NOTIFICATIONS, RESOURCES, RPC_CODES, Role, TOOLS, TOOL_ERROR_META, ToolErrorCode, isAdmitted } from './index.ts'

test('tools keep their names and audiences', () => {
  expect(Object.fromEntries(Object.values(TOOLS).map((spec) => [spec.name, spec.roles]))).toEqual({
    'account.get': ['user', 'judge'],
    'account.passwd': ['user'],
    'audit.export': ['admin'],
    'audit.search': ['admin'],
    'token.create': ['admin'],
    'token.list': ['admin'],
    'token.revoke': ['admin'],
    'user.add': ['admin'],
    'user.disable': ['admin'],
    'user.enable': ['admin'],
    'user.link': ['admin'],
    'user.list': ['admin'],
    'user.passwd': ['admin'],
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
    'audit.export': 'reads idempotent',
    'audit.search': 'reads idempotent',
    'token.create': '',
    'token.list': 'reads idempotent',
    'token.revoke': 'destroys idempotent',
    'user.add': '',
    'user.disable': 'destroys idempotent',
    'user.enable': 'idempotent',
    'user.link': '',
    'user.list': 'reads idempotent',
    'user.passwd': 'idempotent',
  })
})

test('roles', () => {
  expect(Role.options).toEqual(['user', 'judge', 'agent'])
})

test('resources keep their URIs and audiences', () => {
  expect(Object.fromEntries(Object.entries(RESOURCES).map(([key, { uri, roles }]) => [key, [uri, ...roles]]))).toEqual({
    'resource://account': ['resource://account', 'user', 'judge'],
    'resource://users/list': ['resource://users/list', 'admin'],
    'resource://tokens/list': ['resource://tokens/list', 'admin'],
  })
})

test('notifications', () => {
  expect(Object.keys(NOTIFICATIONS)).toEqual(['notifications/resources/updated'])
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
