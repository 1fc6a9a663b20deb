import { PassThrough } from 'node:stream'
import type { JsonObject } from '@parley/protocol'
import { expect, test } from 'vitest'
import { initializeParams, modern, rpc } from '../fixture/http-caller.ts'
import { openProbe, until } from '../fixture/probe-service.ts'
import { JsonText } from '../message/text.ts'
import type { Service } from '../service.ts'
import { serveStdio } from './server.ts'

function openPipe(limits = {}, more: Partial<Service> = {}) {
  const probe = openProbe()
  const input = new PassThrough()
  const output = new PassThrough()
  const messages: JsonObject[] = []
  const warnings: string[] = []
  let rest = ''
  output.on('data', (chunk: Buffer) => {
    const lines = `${rest}${chunk.toString()}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) messages.push(JSON.parse(line))
  })
  const ended = serveStdio({
    input,
    output,
    service: { ...probe.service, ...more },
    limits,
    warn: (words) => warnings.push(words),
  })
  const write = (message: JsonObject | string | Buffer): void => {
    input.write(typeof message === 'string' || Buffer.isBuffer(message) ? message : `${JSON.stringify(message)}\n`)
  }
  return { probe, input, messages, warnings, ended, write }
}

test('a client on a pipe is served in both eras', async () => {
  const pipe = openPipe()
  pipe.write(rpc(1, 'initialize', initializeParams()))
  pipe.write(rpc(2, 'tools/call', { name: 'echo', arguments: { a: 'é' } }))
  pipe.write(modern(3, 'server/discover').body)
  await until(() => pipe.messages.length === 3)
  expect(pipe.messages).toMatchObject([
    { id: 1, result: { protocolVersion: '2025-11-25' } },
    { id: 2, result: { structuredContent: { a: 'é' } } },
    { id: 3, result: { supportedVersions: ['2026-07-28'] } },
  ])
  pipe.input.end()
  await pipe.ended
})

test('a line that is not JSON is not answered, one that is no message is; both leave the pipe usable', async () => {
  const pipe = openPipe({ messageBytes: 200 })
  pipe.write('Hello, I am a log line\n')
  pipe.write('{"jsonrpc":"2.0","id":5}\n')
  pipe.write(Buffer.from([0x22, 0xff, 0x22, 0x0a]))
  pipe.write(`${'x'.repeat(500)}\n\n`)
  const [head, tail] = [JSON.stringify(rpc(6, 'ping')).slice(0, 10), JSON.stringify(rpc(6, 'ping')).slice(10)]
  pipe.write(head)
  pipe.write(`${tail}\n`)
  await until(() => pipe.messages.length === 2)
  expect(pipe.messages).toMatchObject([
    { id: 5, error: { code: -32600 } },
    { id: 6, result: {} },
  ])
  expect(pipe.warnings).toEqual(['input: a line is not JSON', 'input: a line is not UTF-8', 'input: a line is too long'])
  pipe.input.end('{"torn')
  await pipe.ended
  expect(pipe.warnings.at(-1)).toBe('input: the last line was cut off')
})

test('the end of the input interrupts what is under way and ends the server', async () => {
  const pipe = openPipe()
  pipe.write(rpc(1, 'tools/call', { name: 'hold' }))
  await until(() => pipe.probe.holding() === 1)
  pipe.input.end()
  await pipe.ended
  expect(pipe.probe.cancelled).toEqual(['Error: the input ended'])
})

test('a reader that lags leaves no listener behind for each time it was waited for', async () => {
  const probe = openProbe()
  const input = new PassThrough()
  const output = new PassThrough()
  const ended = serveStdio({ input, output, service: probe.service, limits: { streamBufferBytes: 32 * 1024 } })
  input.write(`${JSON.stringify(rpc(1, 'initialize', initializeParams()))}\n`)
  await until(() => probe.links.size === 1)
  const [link] = probe.links
  const before = output.listenerCount('close')
  for (let round = 0; round < 20; round += 1) {
    while (link?.notify('notifications/x', { text: 'x'.repeat(10_000) }) === true);
    let hasRoom = false
    void link?.drained().then(() => (hasRoom = true))
    await until(() => output.read() === null && hasRoom)
  }
  expect(output.listenerCount('close')).toBe(before)
  output.destroy()
  await until(() => probe.links.size === 0, 'the end of the link')
  input.end()
  await ended
})

test('a result that came as several lines of text is one message', async () => {
  const forged = '{"a":\r\n{"jsonrpc":"2.0","id":2,"result":{}}\n}'
  const pipe = openPipe({}, { call: () => new JsonText(forged) })
  pipe.write(rpc(1, 'tools/list'))
  pipe.write(rpc(3, 'ping'))
  await until(() => pipe.messages.length >= 2)
  expect(pipe.messages).toEqual([
    { jsonrpc: '2.0', id: 1, result: { a: { jsonrpc: '2.0', id: 2, result: {} } } },
    { jsonrpc: '2.0', id: 3, result: {} },
  ])
  pipe.input.end()
  await pipe.ended
})
