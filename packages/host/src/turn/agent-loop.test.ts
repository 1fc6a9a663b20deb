import { isJsonObject, type JsonObject, messageOf } from '@parley/protocol'
import { connectClient, memoryPair, memoryTransport, serveMemory } from '@parley/rpc'
import { expect, test } from 'vitest'
import { openTurnWorld, type TurnWorld } from './fixture/turn-world.ts'

const say = (text: string) => ({ pieces: [{ text }] })
const use = (call: string, args: JsonObject) => ({ pieces: [{ call, arguments: args }] })
/** All that stands in the input of each request, as text. */
const inputs = ({ model }: TurnWorld): string[] =>
  model.requests.map(({ body }) => JSON.stringify(Array.isArray(body['input']) ? body['input'].filter(isJsonObject) : []))
const times = (text: string, word: string): number => text.split(word).length - 1
const notices = ({ gateway }: TurnWorld): unknown[] => gateway.lines().filter(({ type }) => type === 'notice')

test('fault 18: news is folded into one notice before the next request, once, and heard when that is in the transcript', async () => {
  await using world = await openTurnWorld()
  world.gateway.post('first word')
  const prompt = world.gateway.tell('do it')
  world.play((request) => {
    const text = JSON.stringify(request.body['input'])
    expect(text.indexOf('first word')).toBeLessThan(text.indexOf('do it'))
    // It was written down before the model was asked.
    expect(world.gateway.news).toEqual([])
    world.post('second word')
    world.post('third word')
    return use('kit_echo', { text: 'x' })
  }, say('Done.'))
  world.host().wake()
  await world.idle()
  expect(prompt.outcome).toMatchObject({ status: 'completed', message: 'Done.' })
  const [, second = ''] = inputs(world)
  expect(['first word', 'second word', 'third word'].map((word) => times(second, word))).toEqual([1, 1, 1])
  expect(times(second, 'New since your last request')).toBe(2)
  expect(world.gateway.news).toEqual([])
  expect(notices(world)).toHaveLength(2)
  expect(world.failures).toEqual([])
})

test('a wake is told its news alone, and one that finds none asks no model', async () => {
  await using world = await openTurnWorld()
  world.gateway.post('wake up')
  const woken = world.gateway.tell('woken by the chat', 'chat')
  const late = world.gateway.tell('woken by the chat', 'chat')
  world.play(say('I am here.'))
  world.host().wake()
  await world.idle()
  expect([woken.outcome, late.outcome]).toEqual([
    { status: 'completed', code: null, message: 'I am here.' },
    { status: 'completed', code: null, message: '' },
  ])
  const [first = ''] = inputs(world)
  expect([times(first, 'wake up'), times(first, 'woken by')]).toEqual([1, 0])
  expect(world.model.requests).toHaveLength(1)
  expect(world.gateway.lines().find(({ type }) => type === 'turn_started')).toMatchObject({ woken_by: 'chat' })
})

test('fault 16: loop_yield ends the turn after the calls of its answer, without another request', async () => {
  await using world = await openTurnWorld()
  const prompt = world.gateway.tell('rest')
  world.play({
    pieces: [
      { text: 'Until then.' },
      { call: 'loop_yield', arguments: { wake_on: ['chat'], say: 'go on' } },
      { call: 'kit_echo', arguments: { text: 'still made' } },
    ],
  })
  world.host().wake()
  await world.idle()
  expect(prompt).toMatchObject({ yielded: true, outcome: { status: 'completed', message: 'Until then.' } })
  expect(world.model.requests).toHaveLength(1)
  const ends = world.gateway.lines().filter(({ type }) => type === 'tool_ended')
  expect(ends).toMatchObject([{ status: 'completed' }, { status: 'completed' }])
  // The next turn goes on in the same conversation, with an output for each call.
  world.gateway.tell('more')
  world.play(say('Here.'))
  world.host().wake()
  await world.idle()
  expect(world.model.violations).toEqual([])
  expect(inputs(world).at(-1)).toContain('still made')
})

test('fault 18: a host that died after the news was read leaves it read, and one that died before leaves it', async () => {
  await using world = await openTurnWorld()
  world.gateway.post('only once')
  const prompt = world.gateway.tell('do it')
  const asked = Promise.withResolvers<void>()
  world.play(() => {
    asked.resolve()
    return new Promise(() => undefined)
  })
  world.host().wake()
  await asked.promise
  world.play(say('After.'))
  world.host().wake()
  await expect.poll(() => prompt.outcome).toMatchObject({ status: 'completed', message: 'After.' })
  expect(times(inputs(world).at(-1) ?? '', 'only once')).toBe(1)
  // Of the next news a host dies before it can write it down.
  const { length: kept } = world.gateway.transcript
  world.gateway.post('not lost')
  const second = world.gateway.tell('again')
  world.gateway.roomBytes = 0
  world.host().wake()
  await expect.poll(() => second.outcome).toMatchObject({ code: 'transcript_full' })
  expect(world.gateway.transcript).toHaveLength(kept)
  expect(world.gateway.news).toHaveLength(1)
  world.gateway.roomBytes = Number.POSITIVE_INFINITY
  const third = world.gateway.tell('and again')
  world.play(say('Heard.'))
  world.host().wake()
  await expect.poll(() => third.outcome).toMatchObject({ message: 'Heard.' })
  expect(world.gateway.news).toEqual([])
  expect(times(inputs(world).at(-1) ?? '', 'not lost')).toBe(1)
})

test('a turn that yielded before its host died is only ended by the next', async () => {
  await using world = await openTurnWorld()
  const prompt = world.gateway.tell('rest')
  prompt.status = 'running'
  prompt.yielded = true
  world.host().wake()
  await world.idle()
  expect(prompt.outcome).toEqual({ status: 'completed', code: null, message: '' })
  expect(world.model.requests).toHaveLength(0)
})

test('nobody but the engine ends the turn, and none that is not taken', async () => {
  await using world = await openTurnWorld()
  const { compositor } = world
  world.host()
  const call = async (key: string): Promise<string> => {
    const { client, server } = memoryPair()
    serveMemory(server, compositor, { key })
    const connected = await connectClient(memoryTransport(client), { clientInfo: { name: 't', version: '1' } })
    const said = await connected.callTool('loop_yield', {}).then(JSON.stringify, messageOf)
    await connected.close()
    return said
  }
  expect(await call('somebody')).toContain('own engine alone')
  expect(await call('engine')).toContain('takes no turn now')
})
