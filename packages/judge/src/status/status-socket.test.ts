import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Client, connectClient, httpTransport } from '@parley/rpc'
import { openServiceSocket, shortSocketPath } from '@parley/workspace'
import { expect, test } from 'vitest'
import { specOf } from '../fixture/open-bench.ts'
import type { Tester } from '../tester.ts'
import { SelfTests } from './self-test.ts'
import { statusService } from './status-service.ts'

const NO_TESTER: Tester = { languages: [], close: () => Promise.resolve(), test: () => Promise.reject(new Error('no')) }

function service(said: string[]) {
  const spec = specOf({ language: 'cpp', code: '' }, 'job_1')
  const parts = {
    tester: NO_TESTER,
    spec,
    inputFolder: '/',
    judgeName: 'j',
    claim: 1,
    attempt: 1,
    signal: new AbortController().signal,
  }
  const voice = { status: ({ summary }: { summary: string }) => `${said.push(summary)}` }
  return statusService({ voice, selfTests: new SelfTests(parts), spec, version: '1', now: Date.now })
}

test('another process of this user reaches the job over a socket file, and nobody else could', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-sock-'))
  const said: string[] = []
  const socket = await openServiceSocket({ service: service(said), socketPath: join(folder, 's') })
  expect((await stat(socket.socketPath)).mode & 0o777).toBe(0o600)
  const transport = httpTransport({ url: 'http://localhost/mcp', socketPath: socket.socketPath })
  const client = await connectClient(transport, { clientInfo: { name: 'relay', version: '1' } })
  const call = (summary: string) => client.request('tools/call', { name: 'status.update', arguments: { stage: 'plan', summary } })
  expect(await call('heard')).toMatchObject({ structuredContent: { seq: '1' } })
  expect(said).toEqual(['heard'])
  const failing = client.request('tools/call', { name: 'judge.self_test', arguments: { source: 'x' } })
  expect(await failing).toMatchObject({
    structuredContent: { ok: false, status: 'error', error: 'the judge could not test it: no' },
  })
  await client.close()
  await socket.close()
  expect(existsSync(join(folder, 's'))).toBe(false)
  await rm(folder, { recursive: true, force: true })
})

test('beside a flood of unfinished connections the engine goes on, and another relay gets in', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-sock-'))
  const said: string[] = []
  const socket = await openServiceSocket({ service: service(said), socketPath: join(folder, 's') })
  const open = () =>
    connectClient(httpTransport({ url: 'http://localhost/mcp', socketPath: socket.socketPath }), {
      clientInfo: { name: 'relay', version: '1' },
      era: 'legacy',
    })
  const older = await open()
  const say = (client: Client, summary: string) =>
    client.request('tools/call', { name: 'status.update', arguments: { stage: 'plan', summary } })
  await say(older, 'before')
  const json = 'content-type: application/json\r\naccept: application/json, text/event-stream\r\n'
  const begun = `POST /mcp HTTP/1.1\r\nhost: localhost\r\n${json}content-length: 8000000\r\n\r\n`
  const words = ['', 'POST /mcp HT', begun, begun + 'x'.repeat(2_000_000)]
  const peers = Array.from({ length: 200 }, (_, at) => {
    const peer = connect(socket.socketPath)
    peer.on('error', () => undefined)
    peer.write(words[at % words.length] ?? '')
    return peer.resume()
  })
  await expect.poll(() => peers.filter((peer) => peer.destroyed).length).toBeGreaterThan(peers.length - 32)
  const { connections, bodyBytes } = socket.holds()
  expect([connections <= 32, bodyBytes <= 16 * 1024 * 1024]).toEqual([true, true])
  await say(older, 'beside')
  const newer = await open()
  await say(newer, 'newer')
  expect(said).toEqual(['before', 'beside', 'newer'])
  for (const peer of peers) peer.destroy()
  for (const client of [older, newer]) await client.close()
  await expect.poll(() => socket.holds()).toEqual({ connections: 0, bodyBytes: 0, replayBytes: 0, unreadBytes: 0 })
  await socket.close()
  await rm(folder, { recursive: true, force: true })
})

test('nobody opens a WebSocket there, and sessions are few', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-sock-'))
  const socket = await openServiceSocket({ service: service([]), socketPath: join(folder, 's') })
  const peer = connect(socket.socketPath)
  peer.write('GET /api/mcp/ws HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n')
  expect(await text(peer)).toMatch(/^HTTP\/1.1 404/)
  const opened: Client[] = []
  const open = async () => {
    const transport = httpTransport({ url: 'http://localhost/mcp', socketPath: socket.socketPath })
    opened.push(await connectClient(transport, { clientInfo: { name: 'relay', version: '1' }, era: 'legacy' }))
  }
  for (let at = 0; at < 16; at += 1) await open()
  await expect(open()).rejects.toThrow(/too many sessions/)
  for (const client of opened) await client.close()
  await socket.close()
  await rm(folder, { recursive: true, force: true })
})

test('a path that no socket may have is refused, and a shorter one is found', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-sock-'))
  const deep = join(folder, 'd'.repeat(120))
  await mkdir(deep)
  await expect(openServiceSocket({ service: service([]), socketPath: join(deep, 's') })).rejects.toThrow(/longer than/)
  expect(shortSocketPath(folder, 's').path).toBe(join(folder, 's'))
  const { path, remove } = shortSocketPath(deep, 's')
  expect((await stat(dirname(path))).mode & 0o777).toBe(0o700)
  const socket = await openServiceSocket({ service: service([]), socketPath: path })
  await socket.close()
  remove()
  expect(existsSync(dirname(path))).toBe(false)
  await rm(folder, { recursive: true, force: true })
})
