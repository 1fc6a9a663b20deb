import { expect, test } from 'vitest'
import { type Commands, ConversationClosed, type Transcripts } from '@parley/agent'
import { Recorder, said, turn } from '@parley/agent/testing'
import type { ModelClient } from '../model/model.ts'
import { connectLinked } from './fixture/mini-world.ts'
import { openTalk, outputOf } from './fixture/mini-talk.ts'
import { openMemoryTranscripts } from './transcript/open-memory-transcripts.ts'

const done = { pieces: [{ text: 'done' }] }
const COMPLETED = { kind: 'completed', message: 'done' }
const shell = (id: string) => ({ call: 'shell', arguments: { command: ['true'], workdir: null, timeout_ms: null }, id })
const limits = { interruptMs: 50 }
const forever = (): Promise<never> => new Promise(() => undefined)

test('fault 24: a tool that ignores the signal is abandoned, and what it says later is not told', async () => {
  let speak: () => void = () => undefined
  const commands: Commands = {
    run: (_request, output) => {
      speak = () => output('stdout', Buffer.from('too late'))
      return forever()
    },
  }
  await using talk = await openTalk({ answers: [{ pieces: [shell('c1'), shell('c2')] }, done], mini: { commands, limits } })
  const started = talk.conversation.submit(said('go'))
  await talk.recorder.seen('command_begin')
  await talk.conversation.interrupt()
  expect(await started.ended).toEqual({ kind: 'interrupted' })
  const told = talk.recorder.events.length
  speak()
  expect(talk.recorder.events).toHaveLength(told)
  expect(talk.recorder.all('command_end').map(({ status }) => status)).toEqual(['failed', 'failed'])
  expect(await turn(talk.conversation, 'on')).toEqual(COMPLETED)
  expect(outputOf(talk.input(-1), 'c1')).toContain('interrupted')
  expect(outputOf(talk.input(-1), 'c2')).toContain('interrupted')
})

test('fault 24: calls that had not begun say so', async () => {
  const commands: Commands = { run: forever }
  const mini = { commands, limits: { ...limits, callsAtOnce: 1 } }
  await using talk = await openTalk({ answers: [{ pieces: [shell('c1'), shell('c2')] }, done], mini })
  talk.conversation.submit(said('go'))
  await talk.recorder.seen('command_begin')
  await talk.conversation.interrupt()
  expect(talk.recorder.all('command_begin')).toHaveLength(1)
  await turn(talk.conversation, 'on')
  expect(outputOf(talk.input(-1), 'c2')).toContain('was not made')
})

test('a model client that ignores the signal is abandoned', async () => {
  const model: ModelClient = { sample: forever }
  await using talk = await openTalk({ answers: [], mini: { model, limits } })
  const started = talk.conversation.submit(said('go'))
  await talk.recorder.seen('turn_started')
  await talk.conversation.close()
  expect(await started.ended).toEqual({ kind: 'interrupted' })
})

test('a model client that breaks its word fails the turn, not the process', async () => {
  const model: ModelClient = { sample: () => Promise.reject(new Error('a bug')) }
  await using talk = await openTalk({ answers: [], mini: { model } })
  expect(await turn(talk.conversation, 'go')).toEqual({ kind: 'failed', code: 'internal', message: 'a bug' })
})

test('a gate that never answers does not hold up an interrupt', async () => {
  await using talk = await openTalk({ answers: [{ pieces: [shell('c1')] }, done], mini: { gate: { decide: forever }, limits } })
  talk.conversation.submit(said('go'))
  await talk.recorder.seen('command_begin')
  await talk.conversation.interrupt()
  expect(talk.recorder.one('command_end').status).toBe('failed')
})

test('a transcript that does not take anything any more does not hold up an interrupt or a close', async () => {
  const memory = openMemoryTranscripts()
  let isHung = false
  const transcripts: Transcripts = {
    create: async (id) => {
      const transcript = await memory.create(id)
      return { ...transcript, append: (entries) => (isHung ? forever() : transcript.append(entries)) }
    },
    open: (id) => memory.open(id),
  }
  await using talk = await openTalk({ answers: [done], mini: { transcripts, limits } })
  isHung = true
  const started = talk.conversation.submit(said('go'))
  await talk.recorder.seen('turn_started')
  await talk.conversation.interrupt()
  expect(await started.ended).toEqual({ kind: 'interrupted' })
  expect(talk.world.requests).toEqual([])
})

test('a transcript that cannot be written fails the turn before the model is asked', async () => {
  const memory = openMemoryTranscripts()
  let isFull = false
  const transcripts: Transcripts = {
    create: async (id) => {
      const transcript = await memory.create(id)
      return {
        ...transcript,
        append: (entries) => (isFull ? Promise.reject(new Error('no space left')) : transcript.append(entries)),
      }
    },
    open: (id) => memory.open(id),
  }
  await using talk = await openTalk({ answers: [done], mini: { transcripts } })
  isFull = true
  expect(await turn(talk.conversation, 'go')).toMatchObject({
    kind: 'failed',
    code: 'internal',
    message: expect.stringContaining('no space left'),
  })
  expect(talk.world.requests).toEqual([])
})

test('an engine that closes ends every turn, and opens nothing more', async () => {
  await using talk = await openTalk({ answers: [{ silent: true }, { silent: true }] })
  const other = await talk.engine.open(talk.options, new Recorder())
  const turns = [talk.conversation, other].map((conversation) => conversation.submit(said('go')))
  await talk.world.asked('talker', 2)
  await talk.engine.close()
  expect(await Promise.all(turns.map(({ ended }) => ended))).toEqual([{ kind: 'interrupted' }, { kind: 'interrupted' }])
  await expect(talk.engine.open(talk.options, new Recorder())).rejects.toThrow(
    expect.objectContaining({ code: 'conversation_closed' }),
  )
})

test('an engine that closes waits for a conversation that is being opened, and lets go of it', async () => {
  await using talk = await openTalk({ answers: [] })
  let end = 'none'
  const opening = talk.engine.open(talk.options, new Recorder()).then(
    () => (end = 'opened'),
    (error: unknown) => (end = error instanceof ConversationClosed ? 'closed' : String(error)),
  )
  await talk.engine.close()
  expect(end).toBe('closed')
  await opening
})

test('a transcript that never opens does not hold up the end of its engine', async () => {
  const opens = Promise.withResolvers<void>()
  const transcripts: Transcripts = {
    create: () => {
      opens.resolve()
      return forever()
    },
    open: forever,
  }
  await using talk = await openTalk({ answers: [] })
  const engine = await talk.world.openEngine({ transcripts })
  void engine.open(talk.options, new Recorder())
  await opens.promise
  await engine.close()
})

test('a mount that never answers does not hold up an interrupt, and is tried again', async () => {
  let isHung = true
  const connectMount: typeof connectLinked = (mount, signal) => (isHung ? forever() : connectLinked(mount, signal))
  await using talk = await openTalk({ answers: [done], mini: { connectMount, limits } })
  const started = talk.conversation.submit(said('go'))
  await talk.recorder.seen('turn_started')
  await talk.conversation.interrupt()
  expect(await started.ended).toEqual({ kind: 'interrupted' })
  isHung = false
  expect(await turn(talk.conversation, 'on')).toEqual(COMPLETED)
})

test('an interrupt that meets the last words of the model still interrupts, and the words are not lost', async () => {
  const recorder = new Recorder()
  await using talk = await openTalk({ answers: [done, { pieces: [{ text: 'next' }] }], recorder })
  const event = recorder.event.bind(recorder)
  recorder.event = (told) => {
    event(told)
    if (told.type === 'message' && told.text === 'done') void talk.conversation.interrupt()
  }
  expect(await turn(talk.conversation, 'go')).toEqual({ kind: 'interrupted' })
  expect(await turn(talk.conversation, 'on')).toEqual({ kind: 'completed', message: 'next' })
  expect(talk.input(-1).map((item) => item['role'])).toEqual(['user', 'assistant', 'user'])
})
