import { AGENT_LIMITS, type BackgroundCall, CallId, type JsonObject, isJsonObject, parseJson } from '@parley/protocol'
import type { Client } from '@parley/rpc'
import { expect, test } from 'vitest'
import { ProbeServer, tool } from '../fixture/probe-server.ts'
import { namesIn, openTestCompositor, textOf } from '../fixture/test-compositor.ts'
import type { BackgroundDesk, MountCall, MountDecision } from '../ports.ts'

const SECRET = 'hunter2'
const isEngine = (): boolean => true

type Kept = BackgroundCall & { result: string | null }

/** A desk that keeps calls in memory. */
function openDesk() {
  const kept: Kept[] = []
  const over: CallId[] = []
  const find = (id: CallId): Kept => {
    const found = kept.find(({ call_id }) => call_id === id)
    if (found === undefined) throw new Error(`no call ${id}`)
    return found
  }
  const desk: BackgroundDesk = {
    begin: (name) => {
      const call_id = CallId.parse(`cal_${String(kept.length).padStart(26, '0')}`)
      const uri = `resource://agents/a/calls/${call_id}`
      const times = { started_at: new Date(0).toISOString(), ended_at: null }
      const call = {
        call_id,
        uri,
        tool: name,
        state: 'running',
        is_error: false,
        message: '',
        result_bytes: null,
        is_cut: false,
        ...times,
      } as const
      kept.push({ ...call, result: null })
      return Promise.resolve(call)
    },
    end: (id, { state, result, is_cut, is_error, message }) => {
      Object.assign(find(id), { state, result, is_cut, is_error, message })
      return Promise.resolve()
    },
    get: (id) => {
      const { result, ...call } = find(id)
      return Promise.resolve({ call, result })
    },
    list: () => Promise.resolve(kept.map(({ result: _result, ...call }) => call)),
    over: (id) => void over.push(id),
    callAt: (uri) => CallId.safeParse(uri.replace('resource://agents/a/calls/', '')).data,
    mask: (text) => text.replaceAll(SECRET, '*'),
    jsonOf: (value) => JSON.stringify(value).replaceAll(SECRET, '*'),
  }
  return { desk, kept, over }
}

/** The URI of the call that `loop_call` answered with. */
const uriOf = ({ uri }: JsonObject): string => (typeof uri === 'string' ? uri : '')

async function answer(client: Client, name: string, args: JsonObject = {}): Promise<JsonObject> {
  const result = await client.callToolRaw(name, args)
  if (result.isError === true) throw new Error(textOf(result))
  return isJsonObject(result.structuredContent) ? result.structuredContent : {}
}

test('a call is answered at once, goes on through the gate, and its result is read in windows', async () => {
  const { desk, kept, over } = openDesk()
  const decided = Promise.withResolvers<MountDecision>()
  const asked: MountCall<{ key: string }>[] = []
  const gate = { decide: (call: MountCall<{ key: string }>) => (asked.push(call), decided.promise) }
  await using world = await openTestCompositor({ isEngine, background: desk, gate })
  const probe = new ProbeServer()
  probe.tools = [tool('echo')]
  probe.answers['echo'] = () => ({ content: [{ type: 'text', text: 'é'.repeat(30) }] })
  world.mount(probe, { name: 'm' })
  const client = await world.client()
  const begun = await answer(client, 'loop_call', { tool: 'm_echo', arguments: { a: 1 } })
  const { call_id: id, state } = begun
  expect(state).toBe('running')
  await expect
    .poll(() => asked)
    .toMatchObject([{ kind: 'tool', mount: 'm', name: 'echo', arguments: { a: 1 }, background: true }])
  expect(await answer(client, 'loop_result', { call_id: id ?? '' })).toMatchObject({ call: { state: 'running' }, result: null })
  decided.resolve({ kind: 'allow' })
  await expect.poll(() => over).toEqual([id])
  expect(kept).toMatchObject([{ state: 'returned', is_error: false }])
  let text = ''
  for (let offset: unknown = 0; typeof offset === 'number';) {
    const { result } = await answer(client, 'loop_result', { call_id: id ?? '', offset, max_bytes: 25 })
    if (!isJsonObject(result)) throw new Error('there is no result')
    text += typeof result['text'] === 'string' ? result['text'] : ''
    offset = result['next_offset']
  }
  expect(parseJson(text)).toMatchObject({ content: [{ text: 'é'.repeat(30) }] })
  const read = await client.readResource(uriOf(begun))
  expect(JSON.stringify(read)).toContain('returned')
  expect(await answer(client, 'loop_calls')).toMatchObject({ calls: [{ call_id: id, tool: 'm_echo', state: 'returned' }] })
})

test('what is denied, what fails and what is too large is said', async () => {
  const { desk, kept, over } = openDesk()
  const gate = {
    decide: ({ name }: { name: string }): MountDecision =>
      name === 'no' ? { kind: 'deny', reason: `not that ${SECRET}`, endsTurn: true } : { kind: 'allow' },
  }
  await using world = await openTestCompositor({ isEngine, background: desk, gate })
  const probe = new ProbeServer()
  probe.tools = [tool('no'), tool('bad'), tool('much'), tool('nested')]
  probe.answers['nested'] = () => ({ content: [], structuredContent: { isError: true, said: SECRET } })
  probe.answers['bad'] = () => ({ content: [{ type: 'text', text: 'broken' }], isError: true })
  probe.answers['much'] = () => ({
    content: [{ type: 'text', text: `${SECRET}${'é'.repeat(AGENT_LIMITS.backgroundResultBytes)}` }],
  })
  world.mount(probe, { name: 'm' })
  const client = await world.client()
  for (const name of ['no', 'bad', 'much', 'nested']) await answer(client, 'loop_call', { tool: `m_${name}` })
  await expect.poll(() => over).toHaveLength(4)
  expect(kept.map(({ state, is_error, is_cut }) => [state, is_error, is_cut])).toEqual([
    ['failed', true, false],
    ['returned', true, false],
    ['returned', false, true],
    ['returned', false, false],
  ])
  expect(kept[0]?.message).toContain('not that *')
  expect(kept[2]?.result).toContain('"*éé')
  expect(kept[3]?.result).toContain('"isError":true,"said":"*"')
  expect(Buffer.byteLength(kept[2]?.result ?? '')).toBeLessThanOrEqual(AGENT_LIMITS.backgroundResultBytes)
  for (const name of ['none_x', 'loop_calls', 'resources_list'])
    await expect(answer(client, 'loop_call', { tool: name })).rejects.toThrow(/tool/)
  expect(kept).toHaveLength(4)
})

test('one that goes on is cancelled, once, and who watches it is told', async () => {
  const { desk, kept, over } = openDesk()
  await using world = await openTestCompositor({ isEngine, background: desk })
  const probe = new ProbeServer()
  const cancelled = Promise.withResolvers<void>()
  probe.tools = [tool('wait')]
  probe.answers['wait'] = (_params, call) =>
    new Promise((_resolve, reject) => {
      call.signal.addEventListener('abort', () => {
        cancelled.resolve()
        reject(new Error('stopped'))
      })
    })
  world.mount(probe, { name: 'm' })
  let told = 0
  const client = await world.client()
  const begun = await answer(client, 'loop_call', { tool: 'm_wait' })
  const { call_id: id } = begun
  await client.subscribe(uriOf(begun), () => (told += 1))
  await expect.poll(() => probe.count('tools/call wait')).toBe(1)
  expect(await answer(client, 'loop_cancel', { call_id: id ?? '' })).toEqual({ call_id: id, cancelling: true })
  await cancelled.promise
  await expect.poll(() => over).toEqual([id])
  expect(kept).toMatchObject([{ state: 'cancelled', message: '' }])
  await expect.poll(() => told).toBe(1)
  expect(await answer(client, 'loop_cancel', { call_id: id ?? '' })).toEqual({ call_id: id, cancelling: false })
})

test('nothing is said of what goes on when the compositor closes, and without a desk there are no such tools', async () => {
  const { desk, kept, over } = openDesk()
  const world = await openTestCompositor({ isEngine, background: desk })
  const probe = new ProbeServer()
  probe.tools = [tool('wait')]
  probe.answers['wait'] = () => new Promise(() => undefined)
  world.mount(probe, { name: 'm' })
  await answer(await world.client(), 'loop_call', { tool: 'm_wait' })
  await expect.poll(() => probe.count('tools/call wait')).toBe(1)
  await world[Symbol.asyncDispose]()
  await expect.poll(() => over).toHaveLength(1)
  expect(kept).toMatchObject([{ state: 'running' }])
  await using other = await openTestCompositor()
  expect(namesIn(await (await other.client()).listTools()).filter((name) => name.startsWith('loop_'))).toEqual([])
})

test('who is not the engine neither finds these tools nor may call them', async () => {
  const { desk, kept } = openDesk()
  const loop = { yield: () => Promise.reject(new Error('it has no turn')) }
  const of = { background: desk, loop, isEngine: ({ key }: { key: string }) => key === 'Bearer engine' }
  await using world = await openTestCompositor(of)
  world.mount(new ProbeServer(), { name: 'm' })
  const [engine, other] = [await world.client({}, 'engine'), await world.client({}, 'other')]
  const loopTools = async (client: Client): Promise<string[]> =>
    namesIn(await client.listTools()).filter((name) => name.startsWith('loop_'))
  const names = ['loop_call', 'loop_calls', 'loop_cancel', 'loop_result', 'loop_yield']
  expect((await loopTools(engine)).toSorted()).toEqual(names)
  expect(await loopTools(other)).toEqual([])
  const id = 'cal_00000000000000000000000000'
  for (const name of names) await expect(answer(other, name, { tool: 'm_echo', call_id: id })).rejects.toThrow('own engine alone')
  expect(kept).toEqual([])
})
