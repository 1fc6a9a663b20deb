import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MountSpec } from '@parley/agent'
import { Recorder, contractTools } from '@parley/agent/testing'
import { peerOrSkip } from '../../../../../scripts/peers/peer-or-skip.ts'
import type { OpenOrder } from '../../port/order.ts'
import { type CodexWorld, openCodexWorld, serveHttp } from '../../testing/index.ts'
import type { Bridge } from '../open-bridge.ts'

const peer = await peerOrSkip('codex-0.44')
const said = (text: string) => ({ input: [{ type: 'text', text }] }) as const

describe.skipIf(peer === undefined)('the app-server of 0.44', () => {
  let world: CodexWorld
  let bridge: Bridge
  let models = 0
  beforeAll(async () => {
    if (peer === undefined) return
    world = await openCodexWorld({ peer })
    bridge = await world.openBridge()
  })
  afterAll(() => world[Symbol.asyncDispose]())

  /** A model that nobody else has asked. */
  const newModel = (): string => {
    models += 1
    return `model-${models}`
  }
  const orderFor = async (model: string, more: OpenOrder = {}): Promise<OpenOrder & { readonly folder: string }> => {
    const { folder } = await world.options(model)
    return { model, folder, approvalPolicy: 'never', sandbox: 'danger-full-access', ...more }
  }
  const echoing = [[{ use: 'echo', arguments: { text: 'over-http' } }], [{ say: 'called' }]] as const

  test('is chosen by its version', () => {
    expect([bridge.dialect, bridge.version]).toEqual(['v1', '0.44.0'])
  })

  test('settings of a turn hold for that turn alone', async () => {
    const [model, other] = [newModel(), newModel()]
    world.script(model, [[{ run: ['pwd'] }], [{ say: 'one' }], [{ run: ['pwd'] }], [{ say: 'three' }]])
    world.script(other, [[{ run: ['pwd'] }], [{ say: 'two' }]])
    const order = await orderFor(model)
    const elsewhere = (await orderFor(other)).folder
    const recorder = new Recorder()
    const conversation = await bridge.open(order, recorder)
    await conversation.submit(said('first')).ended
    const second = conversation.submit({
      ...said('second'),
      model: other,
      folder: elsewhere,
      approvalPolicy: 'on-request',
      sandboxPolicy: { mode: 'danger-full-access' },
    })
    expect(await second.ended).toEqual({ kind: 'completed', message: 'two' })
    expect(await conversation.submit(said('third')).ended).toEqual({ kind: 'completed', message: 'three' })
    expect(recorder.all('command_end').map(({ output }) => output.trim())).toEqual([order.folder, elsewhere, order.folder])
  })

  test('a server over HTTP is mounted with its token', async () => {
    await using mounted = await serveHttp(contractTools())
    if (mounted.server.kind !== 'http') throw new TypeError('it must be HTTP')
    const server = { ...mounted.server, headers: { Authorization: 'Bearer secret' } }
    const model = newModel()
    world.script(model, echoing)
    const recorder = new Recorder()
    const conversation = await bridge.open(
      await orderFor(model, { mounts: [{ name: 'contract', required: true, server }] }),
      recorder,
    )
    expect(await conversation.submit(said('call')).ended).toEqual({ kind: 'completed', message: 'called' })
    expect(recorder.one('tool_end')).toMatchObject({ status: 'completed', result: { content: [{ text: 'over-http' }] } })
    await conversation.close()
  })

  test('headers that this version cannot send are refused with the name of the server', async () => {
    const server = { kind: 'http', url: 'http://127.0.0.1:1/mcp', headers: { 'X-Key': 'k' } } as const
    const order = await orderFor(newModel(), { mounts: [{ name: 'web', required: false, server }] })
    await expect(bridge.open(order, new Recorder())).rejects.toMatchObject({
      code: 'unsupported',
      data: { param: 'mounts.web' },
    })
  })

  const broken = (required: boolean): MountSpec => ({
    name: 'broken',
    required,
    server: { kind: 'stdio', command: '/nonexistent', args: [], env: {} },
  })

  test('a server that does not start is a warning', async () => {
    const model = newModel()
    world.script(model, [[{ say: 'without it' }]])
    const recorder = new Recorder()
    const conversation = await bridge.open(await orderFor(model, { mounts: [broken(false)] }), recorder)
    expect(await conversation.submit(said('go')).ended).toEqual({ kind: 'completed', message: 'without it' })
    expect(recorder.all('warning').map(({ message }) => message)).toEqual([expect.stringContaining('`broken`')])
  })

  test('a required server that does not start fails the turn', async () => {
    const model = newModel()
    world.script(model, [{ hang: true }])
    const conversation = await bridge.open(await orderFor(model, { mounts: [broken(true)] }), new Recorder())
    expect(await conversation.submit(said('go')).ended).toMatchObject({ kind: 'failed', code: 'mount_failed' })
  })

  test('a server runs in the folder that it names', async () => {
    const model = newModel()
    world.script(model, [[{ say: 'here' }]])
    const order = await orderFor(model)
    const real = (await world.options(model)).mounts[0]?.server
    if (real?.kind !== 'stdio') throw new TypeError('it must be a command')
    const args = ['-c', 'pwd > where; exec "$0" "$@"', real.command, ...real.args]
    const server = { kind: 'stdio', command: 'sh', args, env: {}, folder: order.folder } as const
    const conversation = await bridge.open({ ...order, mounts: [{ name: 'where', required: true, server }] }, new Recorder())
    await conversation.submit(said('go')).ended
    expect(await readFile(join(order.folder, 'where'), 'utf8')).toBe(`${order.folder}\n`)
  })

  test('a conversation is gone on with by its file, with what was said before', async () => {
    const model = newModel()
    world.script(model, [[{ say: 'the-first-answer' }], [{ say: 'I remember' }]])
    const order = await orderFor(model)
    const first = await bridge.open(order, new Recorder())
    await first.submit(said('the-first-question')).ended
    await first.close()
    const again = await bridge.resume({ path: first.rolloutPath }, order, new Recorder())
    expect(again).toMatchObject({ id: first.id, model, rolloutPath: first.rolloutPath })
    expect(again.initialMessages).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'user_message', message: 'the-first-question' }),
        expect.objectContaining({ type: 'agent_message', message: 'the-first-answer' }),
      ]),
    )
    expect(await again.submit(said('and now?')).ended).toEqual({ kind: 'completed', message: 'I remember' })
    await expect(bridge.resume({ id: randomUUID() }, order, new Recorder())).rejects.toMatchObject({
      code: 'conversation_unknown',
    })
  })

  test('what Codex does not know is answered with its own words', async () => {
    await expect(bridge.ask('no/such', {})).rejects.toMatchObject({ name: 'RemoteFailure', code: -32_600 })
  })

  test('a Codex that is killed before anything was said has lost nothing', async () => {
    const model = newModel()
    world.script(model, [[{ say: 'hello' }]])
    const conversation = await bridge.open(await orderFor(model), new Recorder())
    // Codex writes the first line of the file a moment after it has opened the conversation.
    await expect.poll(() => readFile(conversation.rolloutPath, 'utf8')).toContain(conversation.id)
    process.kill(bridge.pid, 'SIGKILL')
    // Whatever is asked now is asked of the next process, or fails with this one.
    await expect.poll(() => bridge.ask('getUserAgent').catch(() => null)).not.toBeNull()
    expect(await conversation.submit(said('one')).ended).toEqual({ kind: 'completed', message: 'hello' })
  })

  test('a Codex that is killed fails the turn, and the conversation goes on in another', async () => {
    const model = newModel()
    world.script(model, [[{ say: 'before' }], { hang: true }, [{ say: 'after' }]])
    const conversation = await bridge.open(await orderFor(model), new Recorder())
    await conversation.submit(said('one')).ended
    const { ended } = conversation.submit(said('two'))
    await world.asked(model, 2)
    process.kill(bridge.pid, 'SIGKILL')
    expect(await ended).toMatchObject({ kind: 'failed', code: 'engine_lost' })
    expect(await conversation.submit(said('three')).ended).toEqual({ kind: 'completed', message: 'after' })
    expect(world.heard(model).at(-1)).toContain('before')
    expect(world.violations()).toEqual([])
  })
})
