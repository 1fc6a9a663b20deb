import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ApprovalReply, ApprovalMode, Gate, GateCall } from '@parley/agent'
import { Recorder, turn } from '@parley/agent/testing'
import { expect, test } from 'vitest'
import { type Talk, openTalk, outputOf } from './fixture/mini-talk.ts'

const done = { pieces: [{ text: 'done' }] }
const COMPLETED = { kind: 'completed', message: 'done' }
const touch = (name: string) => ({ command: ['touch', name], workdir: null, timeout_ms: null })
const patch = (name: string) => ({ patch: `*** Begin Patch\n*** Add File: ${name}\n+a\n*** End Patch` })
const is = ({ options }: Talk, name: string): boolean => existsSync(join(options.folder, name))
const SHELL = { call: 'shell', arguments: touch('asked'), id: 'c1' }

test.each([
  ['a command', SHELL, touch('changed')],
  ['a patch', { call: 'apply_patch', arguments: patch('asked'), id: 'c1' }, patch('changed')],
])('%s is made with the arguments that the gate gives it, and the model is told', async (_name, piece, args) => {
  const gate: Gate = { decide: () => ({ kind: 'allow', arguments: args }) }
  await using talk = await openTalk({ answers: [{ pieces: [piece] }, done], mini: { gate } })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  expect([is(talk, 'asked'), is(talk, 'changed')]).toEqual([false, true])
  expect(outputOf(talk.input(-1), 'c1')).toContain(`A person changed the arguments of this call`)
  expect(outputOf(talk.input(-1), 'c1')).toContain(JSON.stringify(args))
})

test('what the person says who let a call through is told to the model', async () => {
  const gate: Gate = { decide: () => ({ kind: 'allow', said: 'only this once' }) }
  await using talk = await openTalk({ answers: [{ pieces: [SHELL] }, done], mini: { gate } })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  expect(is(talk, 'asked')).toBe(true)
  expect(outputOf(talk.input(-1), 'c1')).toContain('The person who approved this call says: "only this once"')
})

test('arguments that do not fit the tool make no call', async () => {
  const gate: Gate = { decide: () => ({ kind: 'allow', arguments: { command: 7 } }) }
  await using talk = await openTalk({ answers: [{ pieces: [SHELL] }, done], mini: { gate } })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  expect(talk.recorder.one('command_end').status).toBe('declined')
  expect(outputOf(talk.input(-1), 'c1')).toContain('as a person changed them')
  expect(is(talk, 'asked')).toBe(false)
})

async function asking(answer: ApprovalReply, gate?: Gate, approvals: ApprovalMode = 'always'): Promise<Talk> {
  return openTalk({
    answers: [{ pieces: [SHELL] }, done],
    recorder: new Recorder(() => answer),
    options: { approvals },
    mini: gate === undefined ? {} : { gate },
  })
}

test('whoever is asked says why not, and the model reads it', async () => {
  await using talk = await asking({ decision: 'denied', reason: 'use the other folder' })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  expect(outputOf(talk.input(-1), 'c1')).toContain('said no: use the other folder')
})

test('whoever is asked may change the arguments, which pass the gate again', async () => {
  const passed: GateCall[] = []
  const gate: Gate = {
    decide: (call) => {
      passed.push(call)
      return { kind: 'allow' }
    },
  }
  await using talk = await asking({ decision: 'approved', arguments: touch('changed') }, gate)
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  expect(talk.recorder.asked).toMatchObject([{ kind: 'command', editable: touch('asked') }])
  expect(passed.map((call) => call.arguments)).toEqual([touch('asked'), touch('changed')])
  expect([is(talk, 'asked'), is(talk, 'changed')]).toEqual([false, true])
  expect(outputOf(talk.input(-1), 'c1')).toContain('A person changed the arguments')
})

test('nobody lets through what the gate denies, or more reach than was asked for', async () => {
  const denying: Gate = {
    decide: ({ arguments: args }) =>
      JSON.stringify(args).includes('changed') ? { kind: 'deny', reason: 'never', endsTurn: false } : { kind: 'allow' },
  }
  await using denied = await asking({ decision: 'approved', arguments: touch('changed') }, denying)
  expect(await turn(denied.conversation, 'go')).toEqual(COMPLETED)
  expect(outputOf(denied.input(-1), 'c1')).toContain('never')
  const more = { ...touch('changed'), with_escalated_permissions: true, justification: null }
  const asks: Gate = { decide: () => ({ kind: 'ask', reason: 'looks odd' }) }
  await using escalated = await asking({ decision: 'approved', arguments: more }, asks, 'on-request')
  expect(await turn(escalated.conversation, 'go')).toEqual(COMPLETED)
  expect(outputOf(escalated.input(-1), 'c1')).toContain('more than anybody was asked about')
  expect([is(denied, 'changed'), is(escalated, 'changed')]).toEqual([false, false])
})
