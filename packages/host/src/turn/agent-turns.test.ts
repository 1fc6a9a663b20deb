import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isJsonObject, type JsonObject } from '@parley/protocol'
import { expect, test } from 'vitest'
import { KEY, openTurnWorld, type TurnWorld } from './fixture/turn-world.ts'

const say = (text: string) => ({ pieces: [{ text }] })
const use = (call: string, args: JsonObject) => ({ pieces: [{ call, arguments: args }] })
const types = ({ gateway }: TurnWorld): unknown[] => gateway.lines().map(({ type }) => type)
const askedFor = ({ model }: TurnWorld, index: number): JsonObject[] => {
  const input = model.requests.at(index)?.body['input']
  return Array.isArray(input) ? input.filter((item) => isJsonObject(item)) : []
}

test('fault 12: a turn calls a mounted tool and one of its own, both pass one gate and are written down, and the key is nowhere', async () => {
  await using world = await openTurnWorld()
  const prompt = world.gateway.tell('what is in the file?')
  const turns = world.host()
  world.play(
    use('kit_echo', { text: `hello ${KEY}` }),
    async () => {
      await writeFile(join(world.folder, 'data', 'agents', world.gateway.claim.agent_id, 'work', 'note'), 'forty-two\n')
      return use('read_file', { path: 'note', offset: null, limit: null })
    },
    say('It says forty-two.'),
  )
  turns.wake()
  await world.idle()
  expect(prompt.outcome).toEqual({ status: 'completed', code: null, message: 'It says forty-two.' })
  const [first] = world.model.requests
  expect(JSON.stringify(first?.body['tools'])).toContain('"kit_echo"')
  expect(first?.body['instructions']).toBe('Be brief.')
  expect(first?.headers.authorization).toBe(`Bearer ${KEY}`)
  expect(types(world).filter((type) => type !== 'usage')).toEqual([
    'turn_started',
    'warning',
    'tool',
    'tool_ended',
    'tool',
    'tool_ended',
    'message',
    'turn_ended',
  ])
  const [echo, read] = world.gateway.lines().filter(({ type }) => type === 'tool')
  expect(echo).toMatchObject({ mount: 'kit', tool: 'echo', arguments: { text: 'hello ••••' } })
  expect(read).toMatchObject({ mount: null, tool: 'read_file' })
  const calls = world.gateway.calls.map((line) => JSON.parse(line))
  expect(calls.filter(({ step }) => step === 'decided').map(({ kind, name }) => [kind, name])).toEqual([['tool', 'read_file']])
  await expect.poll(() => world.gateway.calls.map((line) => JSON.parse(line).step)).toEqual(['decided', 'returned'])
  expect(world.gateway.transcript.join('')).not.toContain(KEY)
  expect(world.model.violations).toEqual([])
  expect(world.failures).toEqual([])
})

test('what an engine remembers stands before the lines that say the same', async () => {
  await using world = await openTurnWorld()
  world.gateway.tell('hello')
  world.play(say('Hi.'))
  world.host().wake()
  await world.idle()
  const all = world.gateway.transcript
  const memory = all.findIndex((line) => line.includes('"type":"item"') && line.includes('Hi.'))
  const shown = all.findIndex((line) => JSON.parse(line).type === 'message')
  expect(memory).toBeGreaterThan(0)
  expect(shown).toBeGreaterThan(memory)
})

test('prompts are answered one after the other in one conversation, and other instructions hold from the next turn on', async () => {
  await using world = await openTurnWorld()
  const first = world.gateway.tell('one')
  const second = world.gateway.tell('two')
  world.play(say('1'), (request) => {
    world.gateway.spec = { ...world.gateway.spec, instructions: 'Be loud.' }
    expect(JSON.stringify(request.body['input'])).toContain('one')
    return say('2')
  })
  const turns = world.host()
  turns.wake()
  await world.idle()
  expect([first.outcome?.message, second.outcome?.message]).toEqual(['1', '2'])
  expect(JSON.stringify(world.model.requests.at(-1)?.body['input'])).not.toContain('take over')
  const third = world.gateway.tell('three')
  world.play(say('3'))
  turns.wake()
  await world.idle()
  expect(third.outcome?.message).toBe('3')
  expect(world.model.requests.map(({ body }) => body['instructions'])).toEqual(['Be brief.', 'Be brief.', 'Be loud.'])
  expect(askedFor(world, 2).length).toBe(5)
  expect(world.failures).toEqual([])
})

test('a turn that somebody wants to end is interrupted, and the next prompt is answered', async () => {
  await using world = await openTurnWorld()
  const first = world.gateway.tell('wait')
  const second = world.gateway.tell('go on')
  const turns = world.host()
  world.play(use('kit_wait', {}), say('There.'))
  turns.wake()
  await expect.poll(() => types(world)).toContain('tool')
  // Nobody has said so at the gateway: what came late for another turn changes nothing.
  await turns.abort()
  first.aborting = true
  await turns.abort()
  await world.idle()
  expect(first.outcome).toEqual({ status: 'interrupted', code: null, message: '' })
  expect(second.outcome?.message).toBe('There.')
})

test('a prompt that was taken back while nobody held the agent is ended and not begun', async () => {
  await using world = await openTurnWorld()
  const prompt = world.gateway.tell('never mind')
  Object.assign(prompt, { status: 'running', aborting: true })
  world.host().wake()
  await world.idle()
  expect(prompt.status).toBe('interrupted')
  expect(world.model.requests).toEqual([])
})

test('fault 21: the next host goes on where the one before died: nothing is said twice, and a call under way is told as left behind', async () => {
  await using world = await openTurnWorld()
  const prompt = world.gateway.tell('use the tool')
  world.play(use('kit_wait', {}))
  const died = world.host()
  died.wake()
  await expect.poll(() => types(world)).toContain('tool')
  const { transcript } = world.gateway
  const left = transcript.slice()
  await died.close()
  transcript.splice(0, transcript.length, ...left)
  world.play(say('Done.'))
  world.host().wake()
  await world.idle()
  expect(prompt.outcome?.message).toBe('Done.')
  const said = JSON.stringify(askedFor(world, 1))
  expect(said.split('use the tool').length).toBe(2)
  expect(said).toContain('interrupted by a restart')
  expect(
    world.gateway
      .lines()
      .filter(({ type }) => type === 'turn_started')
      .map(({ resumed }) => resumed),
  ).toEqual([false, true])
})

test('a turn that had ended before its host died is only ended, without asking the model again', async () => {
  await using world = await openTurnWorld()
  const prompt = world.gateway.tell('hello')
  world.play(say('Hi.'))
  world.host().wake()
  await world.idle()
  const { transcript } = world.gateway
  for (const kept of [transcript.length, transcript.length - 1]) {
    transcript.splice(kept)
    Object.assign(prompt, { status: 'running', outcome: undefined })
    world.host().wake()
    await world.idle()
    expect(prompt.outcome).toEqual({ status: 'completed', code: null, message: 'Hi.' })
    expect(types(world).filter((type) => type === 'turn_ended')).toHaveLength(1)
  }
  expect(world.model.requests).toHaveLength(1)
})

test('where the gate denies, the model reads so', async () => {
  await using world = await openTurnWorld({ gate: 'deny' })
  const prompt = world.gateway.tell('try')
  world.play(use('kit_echo', { text: 'x' }), use('list_files', { path: null, depth: null }), say('I may not.'))
  world.host().wake()
  await world.idle()
  expect(prompt.outcome?.message).toBe('I may not.')
  const outputs = askedFor(world, 2).filter(({ type }) => type === 'function_call_output')
  expect(JSON.stringify(outputs[0])).toContain('denied by policy')
  expect(JSON.stringify(outputs[1])).toContain('gate.default')
})

test('a transcript that is full ends the turn with words, and so it does the next', async () => {
  await using world = await openTurnWorld()
  const [first, second] = [world.gateway.tell('one'), world.gateway.tell('two')]
  world.gateway.roomBytes = 2_000
  world.play(say('x'.repeat(4_000)), say('y'))
  world.host().wake()
  await world.idle()
  for (const { outcome } of [first, second])
    expect(outcome).toMatchObject({ status: 'failed', code: 'transcript_full', message: expect.stringContaining('is full') })
  expect(world.failures).toEqual([])
})

test('a claim that was lost ends the loop, and nothing more is said under it', async () => {
  await using world = await openTurnWorld()
  const prompt = world.gateway.tell('hello')
  world.play(() => {
    world.gateway.isLost = true
    return say('Hi.')
  })
  world.host().wake()
  await world.idle()
  expect(prompt.status).toBe('running')
  expect(world.failures).not.toEqual([])
})
