import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Conversation, Gate, GateCall, GateDecision, TurnEnd } from '@parley/agent'
import { Recorder, said, turn } from '@parley/agent/testing'
import { expect, test } from 'vitest'
import { type Talk, openTalk, outputOf } from './fixture/mini-talk.ts'

const KEPT = { keepsApprovals: true } as const
const done = { pieces: [{ text: 'done' }] }
const COMPLETED = { kind: 'completed', message: 'done' }
const append = (id: string) => ({
  call: 'shell',
  arguments: { command: ['sh', '-c', `echo ${id} >> made`], workdir: null, timeout_ms: null },
  id,
})
const echo = { call: 'contract_echo', arguments: { text: 'hi' }, id: 'echo' }

/** Decides when it is told to. */
class SlowGate implements Gate {
  readonly asked: GateCall[] = []
  readonly #waiting = new Map<string, (decision: GateDecision) => void>()
  isSlow = true

  decide(call: GateCall): Promise<GateDecision> {
    this.asked.push(call)
    if (!this.isSlow) return Promise.resolve({ kind: 'allow' })
    return new Promise((resolve) => this.#waiting.set(call.call, resolve))
  }
  say(call: string, decision: GateDecision): void {
    this.#waiting.get(call)?.(decision)
  }
}

const made = ({ options }: Talk): string[] => {
  try {
    return readFileSync(join(options.folder, 'made'), 'utf8').trim().split('\n')
  } catch {
    return []
  }
}
const endOf = async (conversation: Conversation): Promise<TurnEnd | undefined> => conversation.takeUp?.({})?.ended

test('a call that waits when its process ends is asked about again by the next, and made once', async () => {
  const gate = new SlowGate()
  await using talk = await openTalk({ answers: [{ pieces: [append('one')] }, done], mini: { gate }, options: KEPT })
  talk.conversation.submit(said('go'))
  await expect.poll(() => gate.asked.length).toBe(1)
  const { conversation, recorder } = await talk.resume()
  const end = endOf(conversation)
  await expect.poll(() => gate.asked.length).toBe(2)
  expect(gate.asked.map(({ isAgain }) => isAgain)).toEqual([false, true])
  expect(made(talk)).toEqual([])
  gate.say('one', { kind: 'allow' })
  expect(await end).toEqual(COMPLETED)
  expect(made(talk)).toEqual(['one'])
  expect(recorder.one('command_end').status).toBe('completed')
  expect(talk.input(-1).filter(({ role }) => role === 'user')).toHaveLength(1)
  expect(talk.entries().filter(({ type }) => type === 'dispatched')).toMatchObject([{ call: 'one' }])
  expect(conversation.takeUp?.({})).toBeUndefined()
})

test('what is denied after the restart is not made, and the model reads why', async () => {
  const gate = new SlowGate()
  await using talk = await openTalk({ answers: [{ pieces: [append('one')] }, done], mini: { gate }, options: KEPT })
  talk.conversation.submit(said('go'))
  await expect.poll(() => gate.asked.length).toBe(1)
  const { conversation } = await talk.resume()
  const end = endOf(conversation)
  await expect.poll(() => gate.asked.length).toBe(2)
  gate.say('one', { kind: 'deny', reason: 'not on a Sunday', endsTurn: false })
  expect(await end).toEqual(COMPLETED)
  expect(outputOf(talk.input(-1), 'one')).toContain('not on a Sunday')
  expect(made(talk)).toEqual([])
})

test('whoever says something else gives the calls up that were left', async () => {
  const gate = new SlowGate()
  await using talk = await openTalk({ answers: [{ pieces: [append('one')] }, done], mini: { gate }, options: KEPT })
  talk.conversation.submit(said('go'))
  await expect.poll(() => gate.asked.length).toBe(1)
  const { conversation } = await talk.resume()
  expect(await turn(conversation, 'never mind')).toEqual(COMPLETED)
  expect(outputOf(talk.input(-1), 'one')).toContain('was not made')
  expect(gate.asked).toHaveLength(1)
})

test('where nobody keeps approvals, a call without an output is left behind, and nothing is taken up', async () => {
  const gate = new SlowGate()
  await using talk = await openTalk({ answers: [{ pieces: [append('one')] }, done], mini: { gate } })
  talk.conversation.submit(said('go'))
  await expect.poll(() => gate.asked.length).toBe(1)
  // Who goes on may keep them: the log of the one before does not say what was sent.
  const { conversation } = await talk.resume(KEPT)
  expect(conversation.takeUp?.({})).toBeUndefined()
  expect(await turn(conversation, 'go on')).toEqual(COMPLETED)
  expect(outputOf(talk.input(-1), 'one')).toContain('may have taken effect')
  expect(talk.entries().some(({ type }) => type === 'dispatched')).toBe(false)
})

test('an interrupt is no restart: what waits is given up', async () => {
  const gate = new SlowGate()
  await using talk = await openTalk({ answers: [{ pieces: [append('one')] }], mini: { gate }, options: KEPT })
  talk.conversation.submit(said('go'))
  await expect.poll(() => gate.asked.length).toBe(1)
  await talk.conversation.interrupt()
  expect(talk.conversation.takeUp?.({})).toBeUndefined()
  const { conversation } = await talk.resume()
  expect(conversation.takeUp?.({})).toBeUndefined()
})

test('a gate behind the mount says itself when a call is sent, and not after the turn is over', async () => {
  const asked: GateCall[] = []
  const gate: Gate = {
    decide: async (call) => {
      asked.push(call)
      if (call.call === 'sent') await call.sending()
      return { kind: 'allow', isLater: true }
    },
  }
  const answers = [{ pieces: [echo, { ...echo, id: 'sent' }] }, done]
  await using talk = await openTalk({ answers, mini: { gate }, options: KEPT })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  for (const { sending } of asked) await expect(sending()).rejects.toThrow('over')
  expect(talk.entries().filter(({ type }) => type === 'dispatched')).toMatchObject([{ call: 'sent' }])
})

/** The answers of the model and what was said to it make up the beginning; from there on every line may be the last. */
test('killed after any line, the next process makes no call that was sent, and every other', async () => {
  const gate = new SlowGate()
  gate.isSlow = false
  const answers = [{ pieces: [append('one'), echo] }, { pieces: [append('two')] }, done]
  await using talk = await openTalk({ answers, mini: { gate }, options: KEPT })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  await talk.engine.close()
  const path = join(talk.world.folder, 'conversations', `${talk.conversation.id}.jsonl`)
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  const typed = lines.map((line) => JSON.parse(line))
  const first = typed.findIndex(({ type }) => type === 'item')
  let [takenUp, leftBehind] = [0, 0]
  for (let kept = first + 1; kept < lines.length; kept++) {
    writeFileSync(path, `${lines.slice(0, kept).join('\n')}\n`)
    const before = typed.slice(0, kept)
    const callsIn = before.flatMap(({ item }) => (item?.type === 'function_call' ? [String(item.call_id)] : []))
    const answered = before.flatMap(({ item }) => (item?.type === 'function_call_output' ? [String(item.call_id)] : []))
    const sent = before.flatMap(({ type, call }) => (type === 'dispatched' ? [String(call)] : []))
    const open = callsIn.filter((call) => !answered.includes(call))
    gate.asked.length = 0
    talk.world.scriptWire(talk.options.model, [done])
    const engine = await talk.world.openEngine()
    const conversation = await engine.resume(talk.conversation.id, talk.options, new Recorder())
    const unsent = open.filter((call) => !sent.includes(call))
    const again = conversation.takeUp?.({})
    expect(again === undefined, `after line ${kept}`).toBe(unsent.length === 0)
    expect(await (again ?? conversation.submit(said('go on'))).ended).toEqual(COMPLETED)
    expect(gate.asked.map(({ call }) => call).toSorted()).toEqual(unsent.toSorted())
    for (const call of open) {
      const output = String(outputOf(talk.input(-1), call))
      if (sent.includes(call)) expect(output).toContain('may have taken effect')
      else expect(output).not.toContain('may have taken effect')
    }
    takenUp += unsent.length
    leftBehind += open.length - unsent.length
    await engine.close()
  }
  expect(takenUp).toBeGreaterThan(1)
  expect(leftBehind).toBeGreaterThan(1)
})

test('a call that the model repeated is not made after a restart either', async () => {
  const gate = new SlowGate()
  gate.isSlow = false
  const answers = [{ pieces: [append('one')] }, { pieces: [append('one')] }, done]
  await using talk = await openTalk({ answers, mini: { gate }, options: KEPT })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  await talk.engine.close()
  const path = join(talk.world.folder, 'conversations', `${talk.conversation.id}.jsonl`)
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  const last = lines.findLastIndex((line) => JSON.parse(line).repeated === true)
  expect(last).toBeGreaterThan(0)
  writeFileSync(path, `${lines.slice(0, last + 1).join('\n')}\n`)
  const { conversation } = await talk.resume()
  expect(conversation.takeUp?.({})).toBeUndefined()
  expect(made(talk)).toEqual(['one'])
})
