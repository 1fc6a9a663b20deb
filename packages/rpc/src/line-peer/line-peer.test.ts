import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'
import { type LineHandlers, LinePeer, PeerGone, RemoteFailure } from './index.ts'

interface Side {
  readonly peer: LinePeer
  readonly notified: [string, JsonObject][]
  readonly garbage: string[]
  readonly ended: Promise<void>
}

/** Two peers that are each other's other side. */
function pair(answer: LineHandlers['request'] = () => null) {
  const there = new PassThrough()
  const back = new PassThrough()
  return { left: side(back, there, () => null), right: side(there, back, answer), there, back }
}

function side(input: PassThrough, output: PassThrough, request: LineHandlers['request'], jsonrpc = false): Side {
  const notified: [string, JsonObject][] = []
  const garbage: string[] = []
  const over = Promise.withResolvers<void>()
  const peer = new LinePeer({
    input,
    output,
    jsonrpc,
    handlers: {
      request,
      notified: (method, params) => void notified.push([method, params]),
      garbage: (reason) => void garbage.push(reason),
      ended: () => over.resolve(),
    },
  })
  return { peer, notified, garbage, ended: over.promise }
}

/** One peer whose other side is written by hand. */
function bare(jsonrpc = false) {
  const input = new PassThrough()
  const output = new PassThrough()
  const lines = async (): Promise<JsonValue> => {
    const chunk: unknown = await new Promise((resolve) => output.once('data', resolve))
    return JSON.parse(String(chunk))
  }
  return { input, output, lines, ...side(input, output, () => null, jsonrpc) }
}

test('requests are answered both ways and do not mix up ids', async () => {
  const { left, right } = pair((method, params, id) => ({ method, params, id }))
  const answers = await Promise.all([left.peer.ask('one', { a: 1 }), left.peer.ask('two')])
  expect(answers).toEqual([
    { method: 'one', params: { a: 1 }, id: 1 },
    { method: 'two', params: {}, id: 2 },
  ])
  expect(await right.peer.ask('back')).toBeNull()
})

test('a failure comes with its code and data, any other error as -32603', async () => {
  const { left } = pair((method) => {
    throw method === 'known' ? new RemoteFailure(-32_602, 'bad', { param: 'x' }) : new TypeError('a fault')
  })
  const known = expect.objectContaining({ code: -32_602, message: 'bad', data: { param: 'x' } })
  await expect(left.peer.ask('known')).rejects.toThrow(known)
  await expect(left.peer.ask('unknown')).rejects.toThrow(expect.objectContaining({ code: -32_603, message: 'a fault' }))
})

test('jsonrpc is sent where it is wanted, and read either way', async () => {
  const { peer, input, lines, notified } = bare(true)
  const asked = peer.ask('hello')
  expect(await lines()).toEqual({ jsonrpc: '2.0', id: 1, method: 'hello' })
  input.write('{"id":1,"result":7}\n{"jsonrpc":"2.0","method":"news","params":{"n":1}}\n')
  expect(await asked).toBe(7)
  expect(notified).toEqual([['news', { n: 1 }]])
})

test('lines that are no messages are told and skipped', async () => {
  const { peer, input, garbage } = bare()
  const asked = peer.ask('hello')
  input.write('not json\n[1]\n{"id":99,"result":1}\n{"id":null,"method":"x"}\n{"id":1,"result":"here"}\n')
  expect(await asked).toBe('here')
  expect(garbage).toEqual([
    'a line is not JSON',
    'a line is no message',
    'a message is neither a request nor an answer that is waited for',
    'an id is neither text nor a number',
  ])
})

test('a message that comes in pieces is one message', async () => {
  const { peer, input } = bare()
  const asked = peer.ask('hello')
  const bytes = Buffer.from('{"id":1,"result":"Grüße"}\n')
  for (const byte of bytes) input.write(Buffer.from([byte]))
  expect(await asked).toBe('Grüße')
})

test('when the other side ends, whatever waits fails, and so does what comes after', async () => {
  const { peer, input, ended } = bare()
  const asked = peer.ask('hello')
  input.end()
  await expect(asked).rejects.toThrow(PeerGone)
  await ended
  expect(peer.isGone).toBe(true)
  await expect(peer.ask('more')).rejects.toThrow(PeerGone)
})

test('an answer that does not come is given up, and coming late it is garbage', async () => {
  const { peer, input, garbage } = bare()
  await expect(peer.ask('slow', {}, { timeoutMs: 5 })).rejects.toThrow('slow was not answered')
  input.write('{"id":1,"result":1}\n')
  await expect.poll(() => garbage).toHaveLength(1)
})

test('an aborted request fails with the reason of its signal', async () => {
  const { peer } = bare()
  const controller = new AbortController()
  const asked = peer.ask('slow', {}, { signal: controller.signal })
  controller.abort(new Error('changed my mind'))
  await expect(asked).rejects.toThrow('changed my mind')
  await expect(peer.ask('slow', {}, { signal: controller.signal })).rejects.toThrow('changed my mind')
})

test('requests that wait for an answer are bounded', async () => {
  const { peer } = bare()
  const waiting = Array.from({ length: 1_024 }, () => peer.ask('slow'))
  await expect(peer.ask('one too many')).rejects.toThrow('1024 requests wait for an answer')
  peer.end('enough')
  const ends = await Promise.allSettled(waiting)
  expect(ends.every(({ status }) => status === 'rejected')).toBe(true)
})

test('many messages at once keep their order', async () => {
  const { left, right } = pair()
  for (let at = 0; at < 1_000; at++) left.peer.tell('tick', { at })
  await left.peer.drained()
  await left.peer.ask('done')
  expect(right.notified.map(([, params]) => params['at'])).toEqual(Array.from({ length: 1_000 }, (_, at) => at))
  expect(right.notified.every(([method, params]) => method === 'tick' && isJsonObject(params))).toBe(true)
})
