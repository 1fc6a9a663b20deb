import { readFileSync, readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { EngineEvent } from '@parley/agent'
import { Recorder, expectWhole } from '@parley/agent/testing'
import { peerOrSkip } from '../../../../scripts/peers/peer-or-skip.ts'
import { type CodexWorld, openCodexWorld } from '../testing/index.ts'
import { startCodexPeer } from '@parley/contracts/testing'
import type { OpenOrder } from '../port/order.ts'
import type { CodexProcess, StartCodex } from '@parley/contracts'
import { type Bridge, type BridgeOptions, openBridge } from './open-bridge.ts'

const peer = await peerOrSkip('codex-0.166')
const MODEL = 'model-one'
const SLEEP = { run: ['sleep', '600'] } as const
const said = (text: string) => ({ input: [{ type: 'text', text }] as const })

let world: CodexWorld
const started: CodexProcess[] = []
/** What becomes of a process right after its start, by how many there were before it. */
let afterStart: (child: CodexProcess, index: number) => void = () => undefined

const start: StartCodex = async (args) => {
  const child = await world.start(args)
  started.push(child)
  afterStart(child, started.length - 1)
  return child
}

beforeAll(async () => {
  if (peer !== undefined) world = await openCodexWorld({ peer })
})
afterEach(() => void (afterStart = () => undefined))
afterAll(() => world?.[Symbol.asyncDispose]())

const kill = (pid: number): true => process.kill(pid, 'SIGKILL')
const isAlive = ({ pid }: Pick<CodexProcess, 'pid'>): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Whichever of its threads started them. */
const childrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`)
    .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' '))
    .flatMap((child) => (child === '' ? [] : [Number(child)]))

interface Opened extends AsyncDisposable {
  readonly bridge: Bridge
  readonly order: OpenOrder
  readonly warnings: string[]
}

/** A bridge whose processes are all gone at the end. */
async function bridged(more: Partial<BridgeOptions> = {}): Promise<Opened> {
  started.length = 0
  const warnings: string[] = []
  const bridge = await openBridge({
    start,
    client: { name: 'kill', version: '1' },
    warn: (message) => void warnings.push(message),
    now: Date.now,
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    limits: { backoffMs: 1 },
    ...more,
  })
  const { folder } = await world.options(MODEL)
  const order: OpenOrder = {
    model: MODEL,
    folder,
    approvalPolicy: 'never',
    sandbox: 'danger-full-access',
    developerInstructions: 'be-kept',
  }
  const dispose = async (): Promise<void> => {
    afterStart = () => undefined
    await bridge.close()
    expect(started.filter(isAlive).map(({ pid }) => pid)).toEqual([])
  }
  return { bridge, order, warnings, [Symbol.asyncDispose]: dispose }
}

const endOf = (events: readonly EngineEvent[]) => events.filter(({ type }) => type === 'turn_ended').at(-1)

test.skipIf(peer === undefined)(
  'killed in the middle of a turn: the turn ends with a clear code, and the conversation goes on',
  async () => {
    await using b = await bridged()
    world.script(MODEL, [[{ say: 'the-first-answer' }], [SLEEP], [{ say: 'back again' }]])
    const recorder = new Recorder()
    const conversation = await b.bridge.open(b.order, recorder)
    await conversation.submit(said('the-first-question')).ended
    const turn = conversation.submit(said('sleep'))
    await recorder.seen('command_begin')
    kill(b.bridge.pid)
    expect(await turn.ended).toEqual({ kind: 'failed', code: 'engine_lost', message: expect.stringContaining('SIGKILL') })
    expect(recorder.one('command_end')).toMatchObject({ status: 'failed', exitCode: null })
    expect(await conversation.submit(said('and now?')).ended).toEqual({ kind: 'completed', message: 'back again' })
    const heard = world.heard(MODEL).at(-1) ?? ''
    for (const words of ['the-first-question', 'the-first-answer', 'and now?', 'be-kept']) expect(heard).toContain(words)
    expectWhole(recorder.events)
    expect(b.warnings).toContainEqual(expect.stringContaining('Codex was lost'))
  },
)

test.skipIf(peer === undefined)('killed between turns and twice in a row: the next turn works all the same', async () => {
  await using b = await bridged()
  world.script(MODEL, [[{ say: 'the-first-answer' }], [{ say: 'back again' }]])
  const recorder = new Recorder()
  const conversation = await b.bridge.open(b.order, recorder)
  await conversation.submit(said('the-first-question')).ended
  // The second one dies before it has said hello.
  afterStart = (child, index) => void (index === 1 && kill(child.pid))
  kill(b.bridge.pid)
  await expect.poll(() => started.length).toBe(3)
  expect(await conversation.submit(said('and now?')).ended).toEqual({ kind: 'completed', message: 'back again' })
  expect(world.heard(MODEL).at(-1)).toContain('the-first-answer')
  expectWhole(recorder.events)
})

test.skipIf(peer === undefined)('killed while somebody is asked: nobody waits for the answer any more', async () => {
  await using b = await bridged()
  world.script(MODEL, [[{ run: ['touch', 'x'] }]])
  const asked = Promise.withResolvers<AbortSignal>()
  const recorder = new Recorder((_request, signal) => {
    asked.resolve(signal)
    return new Promise(() => undefined)
  })
  const conversation = await b.bridge.open({ ...b.order, approvalPolicy: 'untrusted' }, recorder)
  const turn = conversation.submit(said('touch'))
  const signal = await asked.promise
  kill(b.bridge.pid)
  expect(await turn.ended).toMatchObject({ kind: 'failed', code: 'engine_lost' })
  expect(signal.aborted).toBe(true)
  expect(recorder.one('approval_resolved').decision).toBe('abort')
  expectWhole(recorder.events)
})

test.skipIf(peer === undefined)('killed while it is greeted: it is started again', async () => {
  afterStart = (child, index) => void (index === 0 && kill(child.pid))
  await using b = await bridged()
  expect(started).toHaveLength(2)
  expect(b.bridge).toMatchObject({ version: '0.166.0', dialect: 'v2' })
})

test.skipIf(peer === undefined)('lost too often, it is not started again, and says so', async () => {
  await using b = await bridged({ limits: { backoffMs: 1, restarts: 2 } })
  world.script(MODEL, [[SLEEP]])
  const recorder = new Recorder()
  const conversation = await b.bridge.open(b.order, recorder)
  afterStart = (child) => void kill(child.pid)
  kill(b.bridge.pid)
  await expect.poll(() => b.warnings.at(-1)).toContain('is not started again')
  const lost = expect.objectContaining({ code: 'lost', message: expect.stringContaining('was lost 3 times') })
  await expect(b.bridge.ask('thread/loaded/list', {})).rejects.toThrow(lost)
  expect(await conversation.submit(said('hello')).ended).toMatchObject({ kind: 'failed', code: 'engine_lost' })
  expect(started).toHaveLength(3)
})

test.skipIf(peer === undefined)('a launcher that is killed does not leave the program behind it running', async () => {
  if (peer === undefined) return
  // From a place where the program itself is not found the launcher is started.
  const script = join(world.folder, 'launch.mjs')
  await writeFile(script, `await import(${JSON.stringify(peer.bin('codex'))})`)
  const launcher = { version: peer.version, dir: world.folder, bin: () => script }
  await using startLauncher = startCodexPeer(launcher, { home: world.home, cwd: world.folder })
  await using b = await bridged({ start: startLauncher })
  world.script(MODEL, [[SLEEP], [{ say: 'back again' }]])
  const recorder = new Recorder()
  const conversation = await b.bridge.open(b.order, recorder)
  const turn = conversation.submit(said('sleep'))
  await recorder.seen('command_begin')
  const { pid } = b.bridge
  const behind = childrenOf(pid)
  expect(behind).toHaveLength(1)
  kill(pid)
  expect(await turn.ended).toMatchObject({ kind: 'failed', code: 'engine_lost' })
  expect(await conversation.submit(said('and now?')).ended).toEqual({ kind: 'completed', message: 'back again' })
  await expect.poll(() => behind.filter((child) => isAlive({ pid: child }))).toEqual([])
})

test.skipIf(peer === undefined)('closing in the middle of a turn interrupts it and leaves nothing behind', async () => {
  await using b = await bridged()
  world.script(MODEL, [[SLEEP]])
  const recorder = new Recorder()
  const conversation = await b.bridge.open(b.order, recorder)
  const turn = conversation.submit(said('sleep'))
  await recorder.seen('command_begin')
  await b.bridge.close()
  expect(await turn.ended).toEqual({ kind: 'interrupted' })
  expect(endOf(recorder.events)).toMatchObject({ end: { kind: 'interrupted' } })
  expectWhole(recorder.events)
  expect(() => conversation.submit(said('more'))).toThrow(expect.objectContaining({ code: 'conversation_closed' }))
  await expect(b.bridge.open(b.order, recorder)).rejects.toThrow(expect.objectContaining({ code: 'lost' }))
  await b.bridge.close()
})

test.skipIf(peer === undefined)('a Codex that ends by itself is not started over and over; its own words say why', async () => {
  started.length = 0
  const words = expect.objectContaining({ code: 'failed', message: expect.stringContaining('--no-such-option') })
  const broken: StartCodex = (args) => start([...args, '--no-such-option'])
  await expect(bridged({ start: broken, version: '0.166.0' })).rejects.toThrow(words)
  expect(started).toHaveLength(1)
})

test.skipIf(peer === undefined)('conversations at once are bounded, and one that closes makes room', async () => {
  await using b = await bridged({ limits: { conversations: 2 } })
  const open = () => b.bridge.open(b.order, new Recorder())
  const [first] = await Promise.all([open(), open()])
  await expect(open()).rejects.toThrow(
    expect.objectContaining({ code: 'too_many', message: expect.stringContaining('2 conversations') }),
  )
  await first?.close()
  expect((await open()).id).not.toBe(first?.id)
})
