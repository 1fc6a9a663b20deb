import { isJsonObject } from '@parley/protocol'
import type { ClientTransport } from '@parley/rpc'
import { spawnServer } from '@parley/rpc/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { ProbeServer, said } from './fixture/probe-server.ts'
import { openTestCompositor, textOf } from './fixture/test-compositor.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const onPipe = (program: string) => (): ClientTransport => {
  const server = spawnServer(program)
  closing.push(() => server[Symbol.asyncDispose]())
  return server.transport
}
const ERAS = ['legacy', 'modern'] as const
const PAIRS = ERAS.flatMap((upstream) => ERAS.map((era) => ({ upstream, era })))

describe.each(PAIRS)('a $era client of a $upstream server of the official SDK on a pipe', ({ upstream, era }) => {
  const open = async () => {
    const world = await openTestCompositor()
    world.mount(onPipe(upstream === 'legacy' ? 'sdk1-stdio-main.ts' : 'sdk2-stdio-main.ts'), { name: 'm', era: upstream })
    return world
  }

  test('calls, hears of progress, and of errors', async () => {
    await using world = await open()
    const client = await world.client({ era })
    expect(textOf(await client.callToolRaw('m_echo', { text: 'Grüße' }))).toBe('Grüße')
    const seen: number[] = []
    await client.callToolRaw('m_steps', { count: 3 }, { onProgress: ({ progress }) => seen.push(progress) })
    expect(seen).toEqual([1, 2, 3])
    const missing = client.readResource('test://m/none')
    await expect(missing).rejects.toMatchObject({ name: 'RpcError' })
    if (era === 'modern') await expect(missing).rejects.toMatchObject({ code: -32602 })
    expect(world.compositor.mounts()[0]).toMatchObject({ state: 'active', era: upstream })
  })

  test('cancels', async () => {
    await using world = await open()
    const client = await world.client({ era })
    const controller = new AbortController()
    const call = client.callToolRaw('m_hang', { mark: 'mine' }, { signal: controller.signal })
    await client.callToolRaw('m_echo', { text: 'the call before is on its way' })
    controller.abort()
    await expect(call).rejects.toMatchObject({ code: 'aborted' })
    if (upstream === 'legacy') await expect.poll(async () => textOf(await client.callToolRaw('m_cancelled', {}))).toBe('mine')
  })

  test('gets prompts, completes, reads templates and follows links', async () => {
    await using world = await open()
    const client = await world.client({ era })
    expect(await client.request('prompts/get', { name: 'm_greet', arguments: { who: 'Ada' } })).toMatchObject({
      messages: expect.arrayContaining([expect.objectContaining({ content: { type: 'text', text: 'greet Ada' } })]),
    })
    const complete = (ref: { readonly type: string; readonly name?: string; readonly uri?: string }) =>
      client.request('completion/complete', { ref, argument: { name: 'who', value: 'A' } })
    const values = { completion: { values: ['Ada', 'Alan'] } }
    expect(await complete({ type: 'ref/prompt', name: 'm_greet' })).toMatchObject(values)
    expect(await complete({ type: 'ref/resource', uri: 'test://m/people/{who}' })).toMatchObject(values)
    expect(await client.readResource('test://m/people/Ada')).toMatchObject({
      contents: [{ uri: 'test://m/people/Ada', text: 'I am Ada' }],
    })
    const { content } = await client.callToolRaw('m_link', {})
    const [link] = Array.isArray(content) ? content : []
    const uri = isJsonObject(link) && typeof link.uri === 'string' ? link.uri : ''
    expect(uri).toBe('test://m/doc')
    expect(await client.readResource(uri)).toMatchObject({ contents: [{ text: 'words' }] })
  })
})

describe.each(PAIRS)('a $era client of a $upstream server in this process', ({ upstream, era }) => {
  test('hears the log messages of its own call, at the level that it wants', async () => {
    await using world = await openTestCompositor()
    const probe = new ProbeServer()
    probe.answers.echo = (_params, call) => {
      for (const level of ['debug', 'info', 'error'] as const) call.log(level, level)
      return said('logged')
    }
    world.mount(probe, { name: 'm', era: upstream })
    const heard: unknown[] = []
    const onNotification = (method: string, { data }: { data?: unknown }) =>
      void (method === 'notifications/message' && heard.push(data))
    const client = await world.client({ era, onNotification })
    await world.client({ era: 'legacy', onNotification: () => heard.push('overheard') }, 'other')
    if (era === 'legacy') await client.request('logging/setLevel', { level: 'info' })
    const call = () => client.exchange('tools/call', { name: 'm_echo', arguments: {} }, { logLevel: 'info', onNotification })
    // In the legacy era a server is asked for its level by itself, and nobody waits for that.
    await expect.poll(async () => ((heard.length = 0), await call(), heard)).toEqual(['info', 'error'])
  })

  test('subscribes and hears of updates until it ends that', async () => {
    await using world = await openTestCompositor()
    const probe = new ProbeServer()
    world.mount(probe, { name: 'm', era: upstream })
    const client = await world.client({ era })
    let updates = 0
    const stop = await client.subscribe('test://m/doc', () => updates++)
    probe.touch('test://doc')
    await expect.poll(() => updates).toBe(1)
    await stop()
    await expect.poll(() => probe.watched.get('test://doc')?.size ?? 0).toBe(0)
  })

  test('_meta of its own comes back with the result, and does not go out with the call', async () => {
    await using world = await openTestCompositor()
    const probe = new ProbeServer()
    probe.answers.echo = (_params, { meta }) => ({ ...said(JSON.stringify(meta['example/own'])), _meta: { 'example/back': 1 } })
    world.mount(probe, { name: 'm', era: upstream })
    const client = await world.client({ era })
    const result = await client.request('tools/call', { name: 'm_echo', arguments: {}, _meta: { 'example/own': 'mine' } })
    expect(result).toMatchObject({ content: [{ type: 'text' }], _meta: { 'example/back': 1 } })
    expect(JSON.stringify(result)).not.toContain('mine')
  })
})

test.each(PAIRS)(
  'what gateways and hosts tell each other of a $era call stays away from a $upstream server',
  async ({ upstream, era }) => {
    await using world = await openTestCompositor()
    const probe = new ProbeServer()
    let seen: object = {}
    probe.answers['echo'] = (_params, call) => {
      seen = call.meta
      return said('heard')
    }
    world.mount(probe, { name: 'm', era: upstream })
    const client = await world.client({ era })
    const _meta = { 'parley/caller': { key: 'tok_1' }, 'parley/held': true, progressToken: 7 }
    await client.request('tools/call', { name: 'm_echo', arguments: {}, _meta })
    expect(Object.keys(seen)).toContain('progressToken')
    expect(Object.keys(seen).filter((key) => key.startsWith('parley/'))).toEqual([])
  },
)
