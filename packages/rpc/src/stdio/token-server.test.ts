import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { initializeParams, rpc } from '../fixture/http-caller.ts'
import { openProbe, until } from '../fixture/probe-service.ts'
import { openTokenServer, type TokenServerOptions } from './token-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'parley-token-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let count = 0

async function openWorld(more: Partial<TokenServerOptions<{ readonly key: string }>> = {}) {
  const probe = openProbe()
  const socketPath = join(folder, `${(count += 1)}.sock`)
  const ends = new AbortController()
  const admit = (token: string) => (token === 'good' ? { signal: ends.signal } : undefined)
  const server = await openTokenServer({ socketPath, service: probe.service, caller: { key: 'box' }, admit, ...more })
  const sockets: Socket[] = []
  const dial = async () => {
    const socket = connect(socketPath)
    sockets.push(socket)
    let said = ''
    socket.on('data', (chunk: Buffer) => (said += chunk.toString()))
    socket.on('error', () => undefined)
    const closed = once(socket, 'close')
    await once(socket, 'connect')
    const lines = (): unknown[] => said.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
    return { socket, lines, closed }
  }
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy()
    await server.close()
  }
  return { probe, server, ends, dial, [Symbol.asyncDispose]: close }
}

const text = (message: object): string => `${JSON.stringify(message)}\n`
const refusal = (words: RegExp) => [
  { jsonrpc: '2.0', id: null, error: { code: expect.any(Number), message: expect.stringMatching(words) } },
]

test('who shows a token first is served as on stdio, also where all comes in one piece or in many', async () => {
  await using world = await openWorld()
  const [one, many] = [await world.dial(), await world.dial()]
  const said = `good\n${text(rpc(1, 'initialize', initializeParams()))}${text(rpc(2, 'ping'))}`
  one.socket.write(said)
  for (const letter of said) many.socket.write(letter)
  for (const { lines } of [one, many]) await until(() => lines().length === 2)
  expect(one.lines()).toMatchObject([
    { id: 1, result: {} },
    { id: 2, result: {} },
  ])
  expect(many.lines()).toEqual(one.lines())
})

test.each([
  ['a wrong token', 'bad\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n', /not a token that is good here/],
  ['a request', text(rpc(1, 'ping')), /not a token that is good here/],
  ['an empty line', '\n', /not a token that is good here/],
  ['a good one with more behind it', 'good \n', /not a token that is good here/],
  ['one without an end', 'x'.repeat(100_000), /256 bytes at most/],
  ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00, 0x0a]), /not a token that is good here/],
])('%s is told so in one line and closed', async (_what, first, words) => {
  await using world = await openWorld()
  const { socket, lines, closed } = await world.dial()
  socket.write(first)
  await closed
  expect(lines()).toEqual(refusal(words))
  await until(() => world.server.holds().connections === 0)
})

test('half a line is waited for, and not for long', async () => {
  await using world = await openWorld({ tokenLimits: { tokenMs: 50 } })
  const { socket, lines, closed } = await world.dial()
  socket.write('goo')
  await closed
  expect(lines()).toEqual(refusal(/no token came within/))
})

test('calls under way end with the token, and so do its connections', async () => {
  await using world = await openWorld()
  const { socket, closed } = await world.dial()
  socket.write(`good\n${text(rpc(1, 'tools/call', { name: 'hold' }))}`)
  await until(() => world.probe.holding() === 1)
  world.ends.abort()
  await closed
  await until(() => world.probe.cancelled.length === 1)
  const late = await world.dial()
  late.socket.write('good\n')
  await late.closed
  expect(late.lines()).toEqual(refusal(/not a token that is good here/))
})

test('a thousand that show nothing keep nobody out who shows a token', async () => {
  await using world = await openWorld()
  const idle: Awaited<ReturnType<typeof world.dial>>[] = []
  while (idle.length < 1_000) idle.push(await world.dial())
  await until(() => world.server.holds().waiting === 32 && world.server.holds().connections <= 96)
  const { socket, lines } = await world.dial()
  socket.write(`good\n${text(rpc(1, 'ping'))}`)
  await until(() => lines().length === 1)
  expect(lines()).toMatchObject([{ id: 1, result: {} }])
  await until(() => idle.filter(({ socket: { closed } }) => closed).length >= 968)
})

test('one token has so many connections and no more', async () => {
  await using world = await openWorld({ tokenLimits: { perToken: 2 } })
  const dialled = [await world.dial(), await world.dial(), await world.dial()]
  for (const [index, { socket, lines }] of dialled.entries()) {
    socket.write(`good\n${text(rpc(1, 'ping'))}`)
    await until(() => lines().length === 1)
    if (index === 2) expect(lines()).toEqual(refusal(/too many connections with this token/))
  }
  dialled[0]?.socket.destroy()
  await until(() => world.server.holds().connections === 1)
  const next = await world.dial()
  next.socket.write(`good\n${text(rpc(1, 'ping'))}`)
  await until(() => next.lines().length === 1)
  expect(next.lines()).toMatchObject([{ result: {} }])
})
