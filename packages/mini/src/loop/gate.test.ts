import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Gate, GateCall, GateDecision } from '@parley/agent'
import { Recorder, turn } from '@parley/agent/testing'
import { type TalkOptions, openTalk, outputOf } from './fixture/mini-talk.ts'

const done = { pieces: [{ text: 'done' }] }
const COMPLETED = { kind: 'completed', message: 'done' }
const shell = (id: string, more = {}) => ({
  call: 'shell',
  arguments: { command: ['touch', 'touched'], workdir: null, timeout_ms: null, ...more },
  id,
})
const list = { call: 'list_files', arguments: {}, id: 'list' }
const echo = { call: 'contract_echo', arguments: { text: 'hi' }, id: 'echo' }
const escalated = { with_escalated_permissions: true, justification: 'needs the network' }
const saying = (decision: GateDecision): Gate => ({ decide: () => decision })
const ASK = { kind: 'ask', reason: 'looks odd' } as const

const talkWith = (gate: Gate | undefined, more: Partial<TalkOptions> = {}) =>
  openTalk({ answers: [{ pieces: [shell('c1')] }, done], ...more, mini: gate === undefined ? {} : { gate } })
const wasTouched = (folder: string): boolean => existsSync(join(folder, 'touched'))

test('every call passes the gate, mounted or own, with its own name and arguments', async () => {
  const passed: GateCall[] = []
  const gate: Gate = {
    decide: (call) => {
      passed.push(call)
      return { kind: 'allow' }
    },
  }
  await using talk = await talkWith(gate, { answers: [{ pieces: [shell('c1'), list, echo] }, done] })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  const first = { conversation: talk.conversation.id, isAgain: false, sending: expect.any(Function) }
  expect(passed).toEqual([
    { ...first, call: 'c1', mount: null, tool: 'shell', arguments: shell('c1').arguments },
    { ...first, call: 'list', mount: null, tool: 'list_files', arguments: list.arguments },
    { ...first, call: 'echo', mount: 'contract', tool: 'echo', arguments: { text: 'hi' } },
  ])
  expect(wasTouched(talk.options.folder)).toBe(true)
})

test('what the gate denies is not done; the model reads why and goes on', async () => {
  await using talk = await talkWith(saying({ kind: 'deny', reason: 'not on a Sunday', endsTurn: false }))
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  expect(talk.recorder.one('command_end').status).toBe('declined')
  expect(outputOf(talk.input(-1), 'c1')).toContain('not on a Sunday')
  expect(wasTouched(talk.options.folder)).toBe(false)
})

test('fault 2: a denial can end the turn, and every call of the answer still gets its output', async () => {
  const gate: Gate = {
    decide: ({ call }) => (call === 'c2' ? { kind: 'deny', reason: 'enough', endsTurn: true } : { kind: 'allow' }),
  }
  const answers = [{ pieces: [shell('c1'), shell('c2'), { ...echo, call: 'contract_wait', arguments: {} }] }, done]
  await using talk = await talkWith(gate, { answers })
  expect(await turn(talk.conversation, 'go')).toEqual({ kind: 'failed', code: 'denied', message: 'enough' })
  expect(await turn(talk.conversation, 'on')).toEqual(COMPLETED)
  expect(outputOf(talk.input(-1), 'c2')).toContain('enough')
})

test('a gate that throws denies', async () => {
  const gate: Gate = {
    decide: () => {
      throw new Error('out of order')
    },
  }
  await using talk = await talkWith(gate)
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  expect(outputOf(talk.input(-1), 'c1')).toContain('out of order')
  expect(wasTouched(talk.options.folder)).toBe(false)
})

test('where nobody can be asked, what asks is denied and logged', async () => {
  await using talk = await talkWith(saying(ASK))
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  expect(talk.recorder.asked).toEqual([])
  expect(talk.recorder.one('warning').message).toContain('looks odd')
  const decisions = talk.entries().filter(({ type }) => type === 'decision')
  expect(decisions.map(({ call, by, decision }) => [call, by, decision])).toEqual([
    ['c1', 'gate', 'ask'],
    ['c1', 'mode', 'deny'],
  ])
  expect(wasTouched(talk.options.folder)).toBe(false)
})

test('on request, only what the gate asks about is asked, with its reason', async () => {
  const gate: Gate = { decide: ({ mount }) => (mount === null ? { kind: 'allow' } : ASK) }
  const answers = [{ pieces: [shell('c1'), echo] }, { pieces: [{ ...echo, id: 'again' }] }, done]
  await using talk = await talkWith(gate, {
    answers,
    options: { approvals: 'on-request' },
    recorder: new Recorder(() => 'approved_for_session'),
  })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  expect(talk.recorder.asked).toEqual([
    {
      id: expect.any(String),
      kind: 'tool',
      call: 'echo',
      reason: 'looks odd',
      mount: 'contract',
      tool: 'echo',
      arguments: { text: 'hi' },
      editable: { text: 'hi' },
    },
  ])
  expect(talk.recorder.all('tool_end').map(({ status }) => status)).toEqual(['completed', 'completed'])
})

test('always asks for commands, patches and mounted tools, not for reading', async () => {
  const patch = { call: 'apply_patch', arguments: { patch: '*** Begin Patch\n*** Add File: a\n+a\n*** End Patch' }, id: 'patch' }
  const plan = { call: 'update_plan', arguments: { explanation: null, plan: [] }, id: 'plan' }
  await using talk = await talkWith(undefined, {
    answers: [{ pieces: [shell('c1'), patch, echo, list, plan] }, done],
    options: { approvals: 'always' },
  })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  expect(talk.recorder.asked.map(({ kind, call }) => `${kind} ${call}`).toSorted()).toEqual([
    'command c1',
    'patch patch',
    'tool echo',
  ])
})

test('a command that asks for more is asked about on request, and gets it when approved', async () => {
  const reaches: string[] = []
  const commands = {
    run: ({ reach, network }: { reach: string; network: boolean }) => {
      reaches.push(`${reach} ${String(network)}`)
      const nothing = new Uint8Array()
      const streams = { stdout: nothing, stderr: nothing, stdoutBytes: 0, stderrBytes: 0 }
      return Promise.resolve({ exitCode: 0, signal: null, timedOut: false, message: null, durationMs: 0, ...streams })
    },
  }
  const answers = [
    { pieces: [shell('plain')] },
    { pieces: [shell('more', escalated)] },
    { pieces: [shell('again', escalated)] },
    done,
  ]
  const recorder = new Recorder(({ call }) => (call === 'more' ? 'denied' : 'approved'))
  await using talk = await openTalk({ answers, mini: { commands }, options: { approvals: 'on-request' }, recorder })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  expect(recorder.asked.map(({ call }) => call)).toEqual(['more', 'again'])
  expect(recorder.asked[0]?.reason).toContain('needs the network')
  expect(reaches).toEqual(['workspace-write false', 'full-access true'])
})

test('an approval for the session does not cover more reach for the same command', async () => {
  const answers = [{ pieces: [shell('one')] }, { pieces: [shell('two')] }, { pieces: [shell('three', escalated)] }, done]
  await using talk = await talkWith(saying(ASK), {
    answers,
    options: { approvals: 'on-request' },
    recorder: new Recorder(() => 'approved_for_session'),
  })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  expect(talk.recorder.asked.map(({ call }) => call)).toEqual(['one', 'three'])
})
