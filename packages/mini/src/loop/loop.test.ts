import { expect, test } from 'vitest'
import type { Commands } from '@parley/agent'
import { Recorder, openLocalCommands, said, turn } from '@parley/agent/testing'
import { memoryPair, memoryTransport } from '@parley/rpc'
import { connectLinked } from './fixture/mini-world.ts'
import { openTalk, outputOf } from './fixture/mini-talk.ts'

const done = { pieces: [{ text: 'done' }] }
const COMPLETED = { kind: 'completed', message: 'done' }
const shell = (command: string[], id: string) => ({ call: 'shell', arguments: { command, workdir: null, timeout_ms: null }, id })

test.for(['responses', 'chat'] as const)('a call that cannot be made is answered once, with why, over %s', async (wire) => {
  const pieces = [
    { call: 'shell', arguments: '{"command": [', id: 'c1' },
    { call: 'shell', arguments: '["ls"]', id: 'c2' },
    { call: 'shell', arguments: { command: 7 }, id: 'c3' },
    { call: 'no_such_tool', arguments: {}, id: 'c4' },
    { call: 'read_file', arguments: { path: 'not-there.txt', offset: null, limit: null }, id: 'c5' },
  ]
  await using talk = await openTalk({ wire, answers: [{ pieces }, done] })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  const ends = talk.recorder.all('tool_end')
  expect(ends.map(({ call, status }) => [call, status])).toEqual(
    expect.arrayContaining([1, 2, 3, 4, 5].map((number) => [`c${number}`, 'failed'])),
  )
  expect(ends).toHaveLength(5)
  const text = JSON.stringify(talk.input(-1))
  for (const words of ['not valid JSON', 'must be a JSON object', 'command', 'there is no tool called no_such_tool', 'not-there'])
    expect(text).toContain(words)
})

test('a call that is the same as one already answered is not made again, one that only shares its id is', async () => {
  const append = (word: string) => shell(['sh', '-c', `echo ${word} >> made; cat made`], 'same')
  await using talk = await openTalk({
    answers: [{ pieces: [append('one')] }, { pieces: [append('one')] }, { pieces: [append('two'), append('two')] }, done],
  })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  const outputs = talk
    .input(-1)
    .flatMap((item) => (item['type'] === 'function_call_output' ? [JSON.stringify(item['output'])] : []))
  expect(outputs).toHaveLength(4)
  expect(outputs.filter((output) => output.includes('not made again'))).toHaveLength(2)
  expect(talk.recorder.all('command_end').at(-1)?.output).toBe('one\ntwo\n')
})

test.for(['responses', 'chat'] as const)('calls beside a refusal are not made, and are answered, over %s', async (wire) => {
  const pieces = [shell(['touch', 'made'], 'c1'), { refusal: 'I will not.' }, shell(['touch', 'made'], 'c2')]
  await using talk = await openTalk({ wire, answers: [{ pieces }, done] })
  expect(await turn(talk.conversation, 'go')).toEqual({ kind: 'failed', code: 'model_refusal', message: 'I will not.' })
  expect(talk.recorder.all('command_begin')).toEqual([])
  // The model server refuses a request in which a call has no output, or two.
  expect(await turn(talk.conversation, 'on')).toEqual(COMPLETED)
})

test('calls of one answer run side by side, but not more than the bound', async () => {
  const local = openLocalCommands()
  let running = 0
  let most = 0
  const commands: Commands = {
    run: async (...args) => {
      running += 1
      most = Math.max(most, running)
      const outcome = await local.run(...args)
      running -= 1
      return outcome
    },
  }
  const pieces = Array.from({ length: 9 }, (_, index) => shell(['sleep', '0.05'], `c${index}`))
  await using talk = await openTalk({ answers: [{ pieces }, done], mini: { commands, limits: { callsAtOnce: 3 } } })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  expect(most).toBe(3)
  expect(talk.recorder.all('command_end')).toHaveLength(9)
})

test('a tool that breaks its word is told to the model, and the turn goes on', async () => {
  const commands: Commands = { run: () => Promise.reject(new Error('the spawner is gone')) }
  await using talk = await openTalk({ answers: [{ pieces: [shell(['ls'], 'c1')] }, done], mini: { commands } })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  expect(talk.recorder.one('command_end').status).toBe('failed')
  expect(outputOf(talk.input(-1), 'c1')).toContain('the spawner is gone')
})

test('steering after the last call is answered in the same turn', async () => {
  const recorder = new Recorder()
  await using talk = await openTalk({ answers: [{ pieces: [{ text: 'finished?' }] }, done], recorder })
  const steered: boolean[] = []
  const event = recorder.event.bind(recorder)
  recorder.event = (told) => {
    event(told)
    if (told.type === 'message' && told.text === 'finished?')
      steered.push(talk.conversation.steer([{ type: 'text', text: 'one more thing' }]))
    if (told.type === 'turn_ended') steered.push(talk.conversation.steer([{ type: 'text', text: 'too late' }]))
  }
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  expect(steered).toEqual([true, false])
  expect(talk.input(-1).map((item) => item['role'])).toEqual(['user', 'assistant', 'user'])
  expect(JSON.stringify(talk.input(-1))).toContain('one more thing')
})

test('steering that an interrupt overtook is read by the next turn', async () => {
  await using talk = await openTalk({ answers: [{ silent: true }, done] })
  talk.conversation.submit(said('go'))
  await talk.world.asked('talker', 1)
  expect(talk.conversation.steer([{ type: 'text', text: 'not lost' }])).toBe(true)
  await talk.conversation.interrupt()
  expect(talk.conversation.steer([{ type: 'text', text: 'not taken' }])).toBe(false)
  expect(await turn(talk.conversation, 'on')).toEqual(COMPLETED)
  const text = JSON.stringify(talk.input(-1))
  expect(text).toContain('not lost')
  expect(text).not.toContain('not taken')
})

test('images go to the model as they are', async () => {
  const url = 'data:image/png;base64,iVBORw0KGgo='
  await using talk = await openTalk({ answers: [done] })
  const started = talk.conversation.submit({
    input: [
      { type: 'text', text: 'look' },
      { type: 'image', url },
    ],
  })
  expect(await started.ended).toEqual(COMPLETED)
  expect(talk.input(-1).at(-1)).toMatchObject({ content: [{ type: 'input_text' }, { type: 'input_image', image_url: url }] })
})

test('input that no model can read is refused, with the field', async () => {
  await using talk = await openTalk({ answers: [done] })
  expect(() => talk.conversation.submit({ input: [] })).toThrow(expect.objectContaining({ field: 'input' }))
  const remote = { type: 'image', url: 'https://example.org/x.png' } as const
  expect(() => talk.conversation.submit({ input: [remote] })).toThrow(expect.objectContaining({ field: 'input[0].url' }))
  const relative = talk.engine.open({ ...talk.options, folder: 'here' }, talk.recorder)
  await expect(relative).rejects.toThrow(expect.objectContaining({ code: 'invalid_argument', field: 'folder' }))
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
})

test('a required mount that cannot be reached fails the turn, an optional one is left out; later it may be back', async () => {
  let isUp = false
  const mount = { name: 'far', server: { kind: 'linked', open: () => memoryTransport(memoryPair().client) } } as const
  const down = { ...mount, required: false, name: 'down' }
  const connectMount: typeof connectLinked = (spec, signal) =>
    spec.name === 'contract' && isUp ? connectLinked(spec, signal) : Promise.reject(new Error('nobody is there'))
  await using talk = await openTalk({ answers: [done], mini: { connectMount } })
  const conversation = await talk.engine.open({ ...talk.options, mounts: [...talk.options.mounts, down] }, talk.recorder)
  expect(await turn(conversation, 'go')).toMatchObject({
    kind: 'failed',
    code: 'mount_failed',
    message: expect.stringContaining('contract'),
  })
  isUp = true
  expect(await turn(conversation, 'go')).toEqual(COMPLETED)
  expect(talk.recorder.all('warning').map(({ message }) => message)).toEqual([expect.stringContaining('down')])
})
