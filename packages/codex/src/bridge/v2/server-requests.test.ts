import { expect, test } from 'vitest'
import type { ApprovalDecision, ApprovalRequest } from '@parley/agent'
import { type Answering, answerRequest } from './server-requests.ts'
import { Thread, TurnNotes } from './thread.ts'

/** A thread whose listener decides like this; it remembers what it was asked. */
function deciding(decision: ApprovalDecision) {
  const thread = new Thread('t1')
  thread.turn = new TurnNotes('u1')
  const asked: ApprovalRequest[] = []
  const warnings: string[] = []
  let interrupts = 0
  const answering: Answering = {
    thread,
    id: '7',
    approve: (request) => {
      asked.push(request)
      return Promise.resolve(decision)
    },
    interrupt: () => void (interrupts += 1),
    warn: (message) => void warnings.push(message),
  }
  return { thread, answering, asked, warnings, interrupts: () => interrupts }
}

const COMMAND = { itemId: 'c1', command: "/bin/bash -lc 'rm x'", cwd: '/ws', reason: 'must' }

test.for([
  ['approved', 'accept'],
  ['approved_for_session', 'acceptForSession'],
  ['denied', 'decline'],
  ['abort', 'cancel'],
] as const)('%s answers a command and a patch with %s', async ([decision, word]) => {
  const { answering, asked, thread } = deciding(decision)
  const changes = [{ path: '/ws/a', kind: 'add', diff: '@@ -0,0 +1 @@\n+x\n' }] as const
  thread.turn?.changes.set('p1', changes)
  expect(await answerRequest('item/commandExecution/requestApproval', COMMAND, answering)).toEqual({ decision: word })
  expect(await answerRequest('item/fileChange/requestApproval', { itemId: 'p1', grantRoot: '/ws' }, answering)).toEqual({
    decision: word,
  })
  expect(asked).toEqual([
    { id: 'c1#7', call: 'c1', reason: 'must', kind: 'command', argv: ['/bin/bash', '-lc', 'rm x'], folder: '/ws' },
    { id: 'p1#7', call: 'p1', reason: null, kind: 'patch', changes, grantRoot: '/ws' },
  ])
})

test('a command that the request does not repeat is the one that was shown', async () => {
  const { answering, asked, thread } = deciding('approved')
  thread.turn?.commands.set('c1', { argv: ['curl', 'x'], folder: '/ws' })
  const params = { itemId: 'c1', networkApprovalContext: { host: 'example.org', protocol: 'https' } }
  await answerRequest('item/commandExecution/requestApproval', params, answering)
  expect(asked).toMatchObject([{ argv: ['curl', 'x'], folder: '/ws', reason: 'wants to reach example.org' }])
})

test.for([
  ['approved', { permissions: { network: { enabled: true } }, scope: 'turn' }, 0],
  ['approved_for_session', { permissions: { network: { enabled: true } }, scope: 'session' }, 0],
  ['denied', { permissions: {}, scope: 'turn' }, 0],
  ['abort', { permissions: {}, scope: 'turn' }, 1],
] as const)('permissions that were %s', async ([decision, answer, stops]) => {
  const { answering, asked, interrupts } = deciding(decision)
  const params = { itemId: 'i1', permissions: { network: { enabled: true }, fileSystem: null }, reason: null }
  expect(await answerRequest('item/permissions/requestApproval', params, answering)).toEqual(answer)
  expect(asked).toMatchObject([{ kind: 'tool', mount: null, tool: 'request_permissions', arguments: params.permissions }])
  expect(interrupts()).toBe(stops)
})

test('a question of a mounted server is declined, and a warning says so', async () => {
  const { answering, asked, warnings } = deciding('approved')
  const params = { serverName: 'db', mode: 'form', message: 'Which table?', _meta: null }
  const declined = { action: 'decline', content: null, _meta: null }
  expect(await answerRequest('mcpServer/elicitation/request', params, answering)).toEqual(declined)
  expect(asked).toEqual([])
  expect(warnings).toEqual([expect.stringContaining('db asked a question that nobody can answer')])
})

test('questions of the model are answered with that there is nobody', async () => {
  const { answering, warnings } = deciding('approved')
  const answer = await answerRequest('item/tool/requestUserInput', { questions: [{ id: 'q1' }, { id: 'q2' }] }, answering)
  const nobody = { answers: [expect.stringContaining('nobody who can answer')] }
  expect(answer).toEqual({ answers: { q1: nobody, q2: nobody } })
  expect(warnings).toHaveLength(1)
})

test('a tool that nobody offered fails, and what nobody knows is an error', () => {
  const { answering } = deciding('approved')
  expect(answerRequest('item/tool/call', {}, answering)).toMatchObject({ success: false })
  for (const method of ['attestation/generate', 'account/chatgptAuthTokens/refresh', 'of/tomorrow'])
    expect(() => answerRequest(method, {}, answering)).toThrow(expect.objectContaining({ code: -32_601 }))
})
