import { expect, test } from 'vitest'
import { explain } from './explain.ts'
import { readRequest } from './read-request.ts'

const ID = '01a1e073-7a42-7000-8000-000000000001'
const asked = (method: string, params?: object, version = '0.44.0') =>
  explain(readRequest(JSON.stringify({ id: 1, method, params })), version)

test('a request in its right shape is accepted as it is', () => {
  const params = { model: 'gpt-5', approvalPolicy: 'on-request', sandbox: 'read-only' }
  expect(asked('newConversation', params)).toEqual({
    method: 'newConversation',
    codexVersion: '0.44.0',
    basis: '0.44.0',
    verdict: 'accepted',
    steps: [],
    refusals: [],
    sent: { method: 'newConversation', params },
    notes: [],
  })
})

test('flat items become items with data', () => {
  const items = [
    { type: 'text', text: 'hi' },
    { type: 'image', imageUrl: 'data:x' },
    { type: 'text', data: { text: 'right already' } },
  ]
  const { verdict, steps, sent } = asked('sendUserMessage', { conversationId: ID, items })
  expect(verdict).toBe('translated')
  expect(steps.map(({ field, to }) => [field, to])).toEqual([
    ['params.items[0]', { type: 'text', data: { text: 'hi' } }],
    ['params.items[1]', { type: 'image', data: { image_url: 'data:x' } }],
  ])
  expect(sent?.params?.['items']).toHaveLength(3)
})

test('the declared form of a turn gets its policy as an object, its summary in the words of Codex, and the rest from the conversation', () => {
  const given = {
    conversationId: ID,
    items: [{ type: 'text', data: { text: 'x' } }],
    sandboxPolicy: 'workspace-write',
    summary: 'never',
  }
  const { verdict, steps, sent } = asked('sendUserTurn', given)
  expect(verdict).toBe('translated')
  expect(steps.map(({ field }) => field)).toEqual([
    'params.cwd',
    'params.approvalPolicy',
    'params.model',
    'params.sandboxPolicy',
    'params.summary',
  ])
  expect(sent?.params).toMatchObject({
    sandboxPolicy: { mode: 'workspace-write', network_access: false, exclude_tmpdir_env_var: false, exclude_slash_tmp: false },
    summary: 'none',
  })
})

test.each([
  ['allow', 'approved'],
  ['deny', 'denied'],
  ['accept', 'approved'],
  ['acceptForSession', 'approved_for_session'],
  ['cancel', 'abort'],
])('the answer %s to an approval becomes %s', (decision, expected) => {
  const { verdict, sent } = explain(readRequest(JSON.stringify({ decision }), 'execCommandApproval'), '0.44.0')
  expect({ verdict, sent }).toEqual({
    verdict: 'translated',
    sent: { method: 'execCommandApproval', result: { decision: expected } },
  })
})

test('an answer to an approval that cannot be read is refused', () => {
  const { verdict, refusals } = explain(readRequest('{"result":{"decision":"maybe"}}', 'applyPatchApproval'), '0.44.0')
  expect(verdict).toBe('refused')
  expect(refusals).toMatchObject([{ code: 'bad_params', field: 'result.decision' }])
})

test('approvals are in snake_case on 0.42 and in camelCase on 0.44', () => {
  const approval = { conversation_id: ID, call_id: 'c', command: ['ls'], cwd: '/w' }
  expect(asked('execCommandApproval', approval, '0.42.0').verdict).toBe('accepted')
  expect(asked('execCommandApproval', approval, '0.44.0')).toMatchObject({
    verdict: 'translated',
    sent: { params: { conversationId: ID, callId: 'c', command: ['ls'], cwd: '/w' } },
  })
})

test('on a Codex without the method it goes to what stands in its place', () => {
  const explained = asked(
    'newConversation',
    { model: 'gpt-5', cwd: '/w', approvalPolicy: 'on-failure', config: { a: 1 } },
    '0.166.0',
  )
  expect(explained).toMatchObject({
    verdict: 'translated',
    basis: '0.166.0',
    sent: {
      method: 'thread/start',
      params: { model: 'gpt-5', cwd: '/w', approvalPolicy: 'on-request', config: { a: 1 } },
    },
    steps: [{ field: 'method', from: 'newConversation', to: 'thread/start' }],
  })
  expect(explained.notes.join('\n')).toContain('by itself Codex 0.166.0 answers -32600')
})

test('a profile is chosen when a newer Codex is started, and not by a request', () => {
  expect(asked('newConversation', { profile: 'fast' }, '0.166.0').refusals).toMatchObject([
    { code: 'lacking_param', field: 'params.profile', change: 'leave profile out, or start Codex with --profile' },
  ])
})

test('a turn goes there with its input and its overrides in the newer words', () => {
  const params = {
    conversationId: ID,
    items: [{ type: 'text', text: 'hi' }],
    cwd: '/w',
    approvalPolicy: 'never',
    sandboxPolicy: { mode: 'read-only' },
    model: 'gpt-5',
    summary: 'auto',
  }
  expect(asked('sendUserTurn', params, '0.166.0').sent).toEqual({
    method: 'turn/start',
    params: {
      threadId: ID,
      input: [{ type: 'text', text: 'hi' }],
      cwd: '/w',
      approvalPolicy: 'never',
      sandboxPolicy: { type: 'readOnly', networkAccess: false },
      model: 'gpt-5',
      summary: 'auto',
    },
  })
})

test('the few methods that stayed are accepted by the newest', () => {
  expect(asked('gitDiffToRemote', { cwd: '/w' }, '0.166.0').verdict).toBe('accepted')
  expect(asked('getAuthStatus', {}, '0.166.0').verdict).toBe('accepted')
})

test('a wrong type is refused by the name of its field', () => {
  const { verdict, refusals } = asked('newConversation', { model: 123 })
  expect(verdict).toBe('refused')
  expect(refusals).toMatchObject([
    { code: 'bad_params', field: 'params.model', message: expect.stringContaining('params.model must be') },
  ])
})

test('a method that a version lacks and nothing stands for is refused with the version that has it', () => {
  expect(asked('fuzzyFileSearch', { query: 'x', roots: [] }, '0.42.0')).toMatchObject({
    verdict: 'refused',
    refusals: [{ code: 'absent_method', message: 'Codex 0.42.0 has no fuzzyFileSearch' }],
  })
})

test('methods of the newer server are named by their older ones, and the other way round', () => {
  expect(asked('thread/start', {}, '0.44.0').refusals).toMatchObject([{ code: 'unknown_method', change: 'use newConversation' }])
  expect(asked('thread/start', {}, '0.166.0').verdict).toBe('accepted')
  expect(asked('new_conversation', {}).refusals).toMatchObject([{ change: 'use newConversation' }])
  expect(asked('noSuch', {}).refusals).toMatchObject([{ change: 'parley contracts list has all that there are' }])
})

test('a gate that is only declared is a note', () => {
  const { verdict, notes } = asked('newConversation', { profile: 'x' }, '0.42.0')
  expect(verdict).toBe('accepted')
  expect(notes).toEqual([
    "'profile' requires Codex >= 0.44.0 (current: 0.42.0), says its documentation; this version takes it all the same",
  ])
})

test('filters that are declared and never read are noted', () => {
  expect(asked('listConversations', { status: 'active' }).notes).toEqual([
    'params.status is declared and Codex does not read it: it has no effect',
  ])
})

test('a version that is too old or no version at all is refused; a newer one than known is noted', () => {
  expect(asked('newConversation', {}, '0.41.0').refusals).toMatchObject([{ code: 'unsupported_version' }])
  expect(asked('newConversation', {}, 'latest').refusals).toMatchObject([{ code: 'unsupported_version' }])
  expect(asked('newConversation', {}, '0.170.0')).toMatchObject({ verdict: 'translated', basis: '0.166.0' })
  expect(asked('newConversation', {}, '0.170.0').notes[0]).toContain('newer than 0.166.0')
  expect(asked('newConversation', {}, '0.100.0')).toMatchObject({ verdict: 'accepted', basis: '0.44.0' })
})

test('tool calls are explained too', () => {
  const call = (args: object, version: string) => asked('tools/call', { name: 'codex', arguments: args }, version)
  expect(call({ prompt: 'x' }, '0.44.0').verdict).toBe('accepted')
  expect(call({ prompt: 'x', profile: 'y' }, '0.153.4').refusals).toMatchObject([{ field: 'params.arguments.profile' }])
  expect(call({ prompt: 'x', profile: 'y' }, '0.166.0').verdict).toBe('translated')
  expect(call({}, '0.44.0').refusals).toMatchObject([{ field: 'params.arguments.prompt' }])
  expect(asked('tools/call', { name: 'nope' }).refusals).toMatchObject([{ field: 'params.name' }])
  expect(asked('tools/call', { name: 'codex-reply', arguments: { prompt: 'x' } }).refusals).toMatchObject([
    { field: 'params.arguments.threadId' },
  ])
})

test.each([
  ['', undefined, '', 'there is no request'],
  ['{', undefined, '', 'not JSON'],
  ['[1]', undefined, '', 'must be a JSON object, not an array'],
  ['null', undefined, '', 'must be a JSON object, not null'],
  ['{"params":{}}', undefined, 'method', 'method is missing'],
  ['{"method":5}', undefined, 'method', 'method must be a string, not a number'],
  ['{"method":"a","params":[]}', undefined, 'params', 'params must be an object, not an array'],
  ['{"method":"a","params":"x"}', undefined, 'params', 'params must be an object, not a string'],
  ['{"result":true}', 'execCommandApproval', 'result', 'result must be an object'],
  ['{"method":"a"}', 'b', 'method', 'method is "a" in the request and "b" beside it'],
])('%j is no request: %s', (text, method, field, message) => {
  expect(() => readRequest(text, method)).toThrow(expect.objectContaining({ field, message: expect.stringContaining(message) }))
})

test('with a method beside it the params may stand alone', () => {
  expect(readRequest('{"model":"x"}', 'newConversation')).toEqual({ method: 'newConversation', params: { model: 'x' } })
  expect(readRequest('{"method":"getUserAgent"}')).toEqual({ method: 'getUserAgent' })
})
