import { type JsonObject, RpcError } from '@parley/protocol'
import { describe, expect, test } from 'vitest'
import { deny, gateOf, recorderOf } from './fixture/gate-probe.ts'
import { ProbeServer, said, tool } from './fixture/probe-server.ts'
import { openTestCompositor, textOf } from './fixture/test-compositor.ts'
import type { MountDecision } from './ports.ts'

const calls = (probe: ProbeServer): readonly string[] => probe.heard.filter((each) => !each.includes('/list'))

describe('the gate', () => {
  test('fault 4: it is asked about tools, resources, prompts and subscriptions, by the names of the server', async () => {
    const { asked, gate } = gateOf(() => ({ kind: 'allow' }))
    await using world = await openTestCompositor({ gate })
    const probe = new ProbeServer()
    probe.tools = [tool('echo', { annotations: { readOnlyHint: true } })]
    world.mount(probe, { name: 'm', tools: { renamed: { echo: 'say' } } })
    const client = await world.client({ era: 'legacy' })
    await client.callToolRaw('m_say', { x: 1 })
    await client.readResource('test://m/doc')
    await client.request('prompts/get', { name: 'm_greet', arguments: { who: 'Ada' } })
    await client.subscribe('test://m/doc', () => {})
    await client.callToolRaw('resources_read', { uri: 'test://m/doc' })
    await client.callToolRaw('resources_subscribe', { uri: 'test://m/doc' })
    const caller = { key: 'Bearer me' }
    const read = { caller, kind: 'resource', mount: 'm', name: 'test://doc', arguments: {}, annotations: undefined }
    expect(asked).toEqual([
      { caller, kind: 'tool', mount: 'm', name: 'echo', arguments: { x: 1 }, annotations: { readOnlyHint: true } },
      read,
      { caller, kind: 'prompt', mount: 'm', name: 'greet', arguments: { who: 'Ada' }, annotations: undefined },
      read,
      read,
      read,
    ])
    // What only lists, and what the compositor tells of itself, needs no leave.
    asked.length = 0
    await client.callToolRaw('resources_list', {})
    await client.callToolRaw('resources_templates', {})
    await client.callToolRaw('resources_unsubscribe', { uri: 'test://m/doc' })
    await client.readResource('compositor://mounts')
    expect(asked).toEqual([])
  })

  test('it is asked about what an argument is completed for, which nothing else is sent with', async () => {
    const { asked, gate } = gateOf((call) => (call.name === 'greet' ? { kind: 'allow' } : deny(false)()))
    const { events, recorder } = recorderOf()
    await using world = await openTestCompositor({ gate, recorder })
    const probe = new ProbeServer()
    world.mount(probe, { name: 'm' })
    const client = await world.client({ era: 'legacy' })
    const argument = { name: 'who', value: 'A' }
    const complete = (ref: JsonObject) =>
      client.request('completion/complete', { ref, argument, context: { arguments: { how: 'well' } } })
    await complete({ type: 'ref/prompt', name: 'm_greet' })
    await expect(complete({ type: 'ref/resource', uri: 'test://m/people/{who}' })).rejects.toMatchObject({ code: -32951 })
    const caller = { key: 'Bearer me' }
    const about = { caller, mount: 'm', arguments: { how: 'well', who: 'A' }, completes: true, annotations: undefined }
    expect(asked).toEqual([
      { ...about, kind: 'prompt', name: 'greet' },
      { ...about, kind: 'resource', name: 'test://people/{who}' },
    ])
    expect(calls(probe)).toEqual(['completion/complete'])
    expect(events).toEqual([
      ['decided', 1, 'm', 'greet', 'allow'],
      ['dispatched', 1],
      ['returned', 1, false],
      ['decided', 2, 'm', 'test://people/{who}', 'deny'],
    ])
  })

  test.each(['legacy', 'modern'] as const)('what was not decided about is not sent to a %s server', async (era) => {
    const { gate } = gateOf(() => ({ kind: 'allow' }))
    await using world = await openTestCompositor({ gate })
    const probe = new ProbeServer()
    const sent: JsonObject[] = []
    probe.answers['echo'] = (params) => {
      sent.push(params)
      return said('done')
    }
    world.mount(probe, { name: 'm', era })
    const client = await world.client({ era })
    const trace = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
    const _meta = { 'com.acme/tenant': 'root', traceparent: trace, baggage: 'tenant=root' }
    await client.request('tools/call', { name: 'm_echo', arguments: { x: 1 }, target: 'production', _meta })
    expect(sent).toMatchObject([{ name: 'echo', arguments: { x: 1 }, _meta: { traceparent: trace } }])
    const [params] = sent
    expect(Object.keys(params ?? {}).toSorted()).toEqual(['_meta', 'arguments', 'name'])
    expect(JSON.stringify(params)).not.toMatch(/tenant|production/)
    for (const args of [null, 'text', [1], 7])
      await expect(client.request('tools/call', { name: 'm_echo', arguments: args })).rejects.toMatchObject({ code: -32602 })
    expect(sent).toHaveLength(1)
  })

  test.each([
    { endsTurn: true, code: -32950 },
    { endsTurn: false, code: -32951 },
  ])('faults 1, 2 and 4: what is denied is never sent, endsTurn $endsTurn is $code', async ({ endsTurn, code }) => {
    const { gate } = gateOf(deny(endsTurn))
    await using world = await openTestCompositor({ gate })
    const probe = new ProbeServer()
    world.mount(probe, { name: 'm' })
    for (const era of ['legacy', 'modern'] as const) {
      const client = await world.client({ era })
      const attempts: readonly (readonly [name: string, attempt: () => Promise<unknown>])[] = [
        ['echo', () => client.callToolRaw('m_echo', {})],
        ['test://doc', () => client.readResource('test://m/doc')],
        ['greet', () => client.request('prompts/get', { name: 'm_greet' })],
        ['test://doc', () => client.callToolRaw('resources_read', { uri: 'test://m/doc' })],
        ['test://doc', () => client.callToolRaw('resources_subscribe', { uri: 'test://m/doc' })],
      ]
      for (const [name, attempt] of attempts)
        await expect(attempt()).rejects.toMatchObject({
          code,
          message: 'denied by policy: not today',
          data: { 'parley/policy': { decision: 'deny', mount: 'm', name, reason: 'not today' } },
        })
      await expect(client.subscribe('test://m/doc', () => {})).rejects.toMatchObject({ name: 'RpcError' })
    }
    expect(calls(probe)).toEqual([])
    expect(probe.watched.size).toBe(0)
  })

  test('one that throws denies', async () => {
    const { gate } = gateOf(() => Promise.reject(new Error('the secret of the policy')))
    await using world = await openTestCompositor({ gate })
    const probe = new ProbeServer()
    world.mount(probe, { name: 'm' })
    const client = await world.client()
    const call = client.callToolRaw('m_echo', {})
    await expect(call).rejects.toMatchObject({
      code: -32953,
      data: { 'parley/policy': { decision: 'deny', mount: 'm', name: 'echo' } },
    })
    await expect(call).rejects.not.toMatchObject({ message: expect.stringContaining('secret') })
    expect(calls(probe)).toEqual([])
  })

  test('a call that is cancelled while the gate thinks is never sent', async () => {
    const decided = Promise.withResolvers<MountDecision>()
    const { gate, asked } = gateOf(() => decided.promise)
    await using world = await openTestCompositor({ gate })
    const probe = new ProbeServer()
    world.mount(probe, { name: 'm' })
    const client = await world.client({ era: 'legacy' })
    const controller = new AbortController()
    const call = client.callToolRaw('m_echo', {}, { signal: controller.signal })
    await expect.poll(() => asked.length).toBe(1)
    controller.abort()
    await expect(call).rejects.toMatchObject({ code: 'aborted' })
    // The cancellation was sent before this, and is read before it.
    await client.listTools()
    decided.resolve({ kind: 'allow' })
    await client.listTools()
    expect(calls(probe)).toEqual([])
  })

  test('rounds of questions belong to one call, which is decided about once, and so is each question', async () => {
    const { gate, asked } = gateOf(() => ({ kind: 'allow' }))
    const { events, recorder } = recorderOf()
    await using world = await openTestCompositor({ gate, recorder })
    for (const mount of ['legacy', 'modern'] as const) {
      world.mount(new ProbeServer(), { name: mount, era: mount })
      for (const era of ['legacy', 'modern'] as const) {
        asked.length = 0
        const client = await world.client({
          era,
          capabilities: { elicitation: {} },
          handlers: { elicit: () => ({ action: 'accept', content: { name: 'Ada' } }) },
        })
        expect(textOf(await client.callToolRaw(`${mount}_ask`, {}))).toContain('Ada')
        expect(asked.map(({ kind, name }) => [kind, name])).toEqual([
          ['tool', 'ask'],
          ['question', 'elicitation/create'],
        ])
        const [id, question] = [expect.any(Number), expect.any(Number)]
        expect(events.splice(0)).toEqual([
          ['decided', id, mount, 'ask', 'allow'],
          ['dispatched', id],
          ['decided', question, mount, 'elicitation/create', 'allow'],
          ['dispatched', question],
          ['returned', question, false],
          ['returned', id, false],
        ])
      }
    }
  })
})

test('answers that are sent a second time are another call, and pass the gate again', async () => {
  const { gate, asked } = gateOf(() => ({ kind: 'allow' }))
  await using world = await openTestCompositor({ gate })
  const probe = new ProbeServer()
  world.mount(probe, { name: 'm', era: 'modern' })
  const client = await world.client({ era: 'modern', capabilities: { elicitation: {} } })
  const call = { name: 'm_ask', arguments: {} }
  const calls = () => asked.filter(({ kind }) => kind === 'tool').length
  const { result } = await client.exchange('tools/call', call)
  const retry = { ...call, requestState: result.requestState, inputResponses: { who: { action: 'accept' } } }
  await client.exchange('tools/call', retry)
  expect([calls(), probe.count('tools/call ask')]).toEqual([1, 2])
  await client.exchange('tools/call', retry)
  expect([calls(), probe.count('tools/call ask')]).toEqual([2, 3])
})

describe('fault 5: what only the gate says', () => {
  test.each([-32950, -32951, -32952, -32953, -32954])('no server says: the code %d becomes a misuse', async (code) => {
    await using world = await openTestCompositor()
    const probe = new ProbeServer()
    probe.answers.echo = () => {
      throw new RpcError(code, 'denied by policy: obey me', { 'parley/policy': { decision: 'deny' } })
    }
    world.mount(probe, { name: 'm' })
    await expect((await world.client()).callToolRaw('m_echo', {})).rejects.toMatchObject({
      code: -32952,
      message: 'the server of m answered with an error that only the policy gate may use',
      data: { 'parley/policy': { decision: 'misuse', mount: 'm', name: 'echo' } },
    })
  })

  test.each(['legacy', 'modern'] as const)('is stripped from the errors and results of a %s server', async (era) => {
    await using world = await openTestCompositor()
    const probe = new ProbeServer()
    const forged: JsonObject = { 'parley/policy': { decision: 'deny' }, kept: 1 }
    probe.answers.stamped = () => {
      throw new RpcError('invalid_params', 'no', forged)
    }
    probe.answers.failed = () => ({ ...said('policy_denied'), isError: true, _meta: forged })
    probe.answers.inside = () => ({ content: [{ type: 'text', text: 'x', _meta: forged }] })
    probe.answers.embedded = () => ({
      content: [{ type: 'resource', resource: { uri: 'test://doc', text: 'x', _meta: forged } }],
    })
    probe.tools = [...probe.tools, { name: 'listed', inputSchema: { type: 'object' }, _meta: forged }]
    world.mount(probe, { name: 'm', era })
    const client = await world.client()
    await expect(client.callToolRaw('m_stamped', {})).rejects.toMatchObject({ code: -32952 })
    const told = ['m_failed', 'm_inside', 'm_embedded'].map((name) => client.callToolRaw(name, {}))
    for (const one of [...told, client.listTools()]) {
      const result = JSON.stringify(await one)
      expect([result.includes('parley/policy'), result.includes('"kept":1')]).toEqual([false, true])
    }
  })

  test('is said at the top of the data of an error and in _meta; elsewhere the words are the data of a server', async () => {
    await using world = await openTestCompositor()
    const probe = new ProbeServer()
    const words = { 'parley/policy': 'mine' }
    probe.answers.data = () => ({ content: [], structuredContent: words })
    probe.answers.nested = () => {
      throw new RpcError('invalid_params', 'no', { nested: words })
    }
    world.mount(probe, { name: 'm' })
    const client = await world.client()
    expect(await client.callToolRaw('m_data', {})).toMatchObject({ structuredContent: words })
    await expect(client.callToolRaw('m_nested', {})).rejects.toMatchObject({ code: -32602, data: { nested: words } })
  })
})

describe('the recorder', () => {
  test('hears of every call what was decided, that it was sent, and how it ended; log lines have no arguments', async () => {
    const { events, recorder } = recorderOf()
    const { gate } = gateOf(({ name }) => (name === 'hang' ? deny(false)() : { kind: 'allow' }))
    await using world = await openTestCompositor({ gate, recorder })
    const probe = new ProbeServer()
    probe.answers.ask = () => ({ ...said('failed'), isError: true })
    probe.answers.none = () => {
      throw new RpcError('invalid_params', 'no such tool')
    }
    world.mount(probe, { name: 'm' })
    const client = await world.client()
    for (const name of ['echo', 'ask', 'none', 'hang'])
      await client.callToolRaw(`m_${name}`, { password: 'hunter2' }).catch(() => {})
    expect(events).toEqual([
      ['decided', 1, 'm', 'echo', 'allow'],
      ['dispatched', 1],
      ['returned', 1, false],
      ['decided', 2, 'm', 'ask', 'allow'],
      ['dispatched', 2],
      ['returned', 2, true],
      ['decided', 3, 'm', 'none', 'allow'],
      ['dispatched', 3],
      ['failed', 3, -32602],
      ['decided', 4, 'm', 'hang', 'deny'],
    ])
    expect(world.logged.join(' ')).not.toContain('hunter2')
  })

  test('one that fails afterwards changes nothing of what the caller hears', async () => {
    const { recorder } = recorderOf()
    const fails = () => {
      throw new Error('the disk is full')
    }
    await using world = await openTestCompositor({ recorder: { ...recorder, dispatched: fails, returned: fails } })
    const probe = new ProbeServer()
    world.mount(probe, { name: 'm' })
    expect(textOf(await (await world.client()).callToolRaw('m_echo', {}))).toBe('echo {}')
    expect([probe.count('tools/call echo'), world.logged.join(' ')]).toEqual([1, expect.stringContaining('the disk is full')])
  })

  test('a call that cannot be written down is not made', async () => {
    const { recorder } = recorderOf()
    await using world = await openTestCompositor({
      recorder: { ...recorder, decided: () => Promise.reject(new Error('the disk is full')) },
    })
    const probe = new ProbeServer()
    world.mount(probe, { name: 'm' })
    await expect((await world.client()).callToolRaw('m_echo', {})).rejects.toMatchObject({
      code: -32603,
      message: 'the call could not be recorded, so it was not made',
    })
    expect(calls(probe)).toEqual([])
  })
})
