import { dialFrames, type FrameLink, listenFrames } from '@parley/rpc/frame'
import { expect, onTestFinished, test } from 'vitest'
import { outputFrame } from '../api/output-frame.ts'
import { openExecutor } from './open-executor.ts'

const HELLO = { processId: 'p', argv: ['/bin/true'] as const, env: {}, cwd: '/', tty: false, pipeStdin: false }
const CAPABILITIES = { outputFrames: true }

/** What answers every request with nothing, and does with a client what the test says. */
async function hostile(greeted: (link: FrameLink, answer: string) => void = (link, answer) => link.send(answer)) {
  const state: { greetings: number; link?: FrameLink } = { greetings: 0 }
  const answer = (link: FrameLink, text: string): void => {
    const { id, method }: { id?: number; method: string } = JSON.parse(text)
    if (id === undefined) return
    const result = method === 'initialize' ? { sessionId: 's', environmentInfo: { capabilities: CAPABILITIES } } : {}
    if (method !== 'initialize') return link.send(JSON.stringify({ id, result }))
    state.greetings += 1
    greeted(link, JSON.stringify({ id, result }))
  }
  const listener = await listenFrames({
    listen: { host: '127.0.0.1', port: 0 },
    onLink: (link) => {
      state.link = link
      link.open({ text: (text) => answer(link, text), fault: () => undefined, ended: () => undefined })
    },
  })
  onTestFinished(() => listener.close())
  return { state, dial: () => dialFrames({ url: listener.url }) }
}

test('a server that greets and ends the connection, each time, is given up in time', async () => {
  const { dial, state } = await hostile((link, answer) => {
    link.send(answer)
    if (state.greetings > 1) link.close()
  })
  const executor = await openExecutor({ dial, clientName: 'test', recoveryMs: 1_500 })
  state.link?.close()
  await expect(executor.start(HELLO)).rejects.toMatchObject({ code: 'executor_lost' })
  await executor.close()
})

test('a message of more values than any is worth is passed over, and names are shown in part', async () => {
  const logged: string[] = []
  const { dial } = await hostile((link, answer) => {
    link.send(answer)
    link.send(`{"method":"x","params":{"a":[${'{},'.repeat(1_100_000)}0]}}`)
    link.send(JSON.stringify({ method: `\u001b[31m${'x'.repeat(1_000)}` }))
  })
  const executor = await openExecutor({ dial, clientName: 'test', log: (message) => void logged.push(message) })
  await expect.poll(() => logged).toHaveLength(2)
  expect(logged[0]).toContain('more than 1000000 values')
  expect(logged[1]).toMatch(/^a notification was passed over: "\\u001b\[31mx{75}"$/)
  await executor.close()
})

test('a few bytes of output that are kept do not keep what came beside them', async () => {
  const { dial, state } = await hostile()
  const executor = await openExecutor({ dial, clientName: 'test' })
  const [small, large] = await Promise.all([executor.start(HELLO), executor.start({ ...HELLO, processId: 'large' })])
  const output = (processId: string, seq: number, bytes: Buffer): void =>
    state.link?.sendBytes?.(outputFrame(processId, { kind: 'output', seq, stream: 'stdout', bytes }) ?? [])
  const kept: Buffer[] = []
  small.subscribe((event) => {
    if (event.kind === 'output') kept.push(event.bytes)
  })
  const times = 50
  for (let seq = 1; seq <= times; seq += 1) {
    output('p', seq, Buffer.from('x'))
    output('large', seq, Buffer.alloc(40_000))
  }
  await expect.poll(() => large.lastSeq).toBe(times)
  expect(kept).toHaveLength(times)
  expect(kept.map(({ buffer }) => buffer.byteLength)).toEqual(kept.map(() => 1))
  await executor.close()
})
