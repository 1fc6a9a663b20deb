import { expect, test } from 'vitest'
import type { ExecBackend } from '../backend/exec-spec.ts'
import { openTalk } from './fixture/talk.ts'

const start = (script: string, more: object = {}) => ({
  processId: 'p',
  argv: ['/bin/sh', '-c', script],
  cwd: 'file:///',
  env: { PATH: '/usr/bin:/bin' },
  tty: false,
  pipeStdin: true,
  ...more,
})
const MIB = 1024 * 1024
/** More than waits in a stream, so that it is not answered while the process does not read. */
const write = (writeId: string, bytes = 3 * MIB) => ({
  processId: 'p',
  chunk: Buffer.alloc(bytes).toString('base64'),
  writeId,
})

test('the bytes of requests under way are bounded, for a connection and for all, and what ends them is always let in', async () => {
  await using talk = await openTalk({ limits: { requestBytesPerLink: 5 * MIB, requestBytes: 9 * MIB } })
  const clients = [talk.connect(), talk.connect(), talk.connect()] as const
  const [one, two, three] = clients
  for (const client of clients) {
    await client.greet()
    await client.ask('process/start', start('exec sleep 1000'))
  }
  const waiting = [one.ask('process/write', write('1')), two.ask('process/write', write('1'))]
  expect((await one.ask('process/write', write('2'))).error).toEqual({
    code: -32_600,
    message: `requests of as many bytes as a connection may have, ${5 * MIB}, are under way; wait for their answers`,
  })
  expect((await three.ask('process/write', write('1'))).error).toEqual({
    code: -32_600,
    message: `requests of as many bytes as all connections may have, ${9 * MIB}, are under way; wait for their answers`,
  })
  // Small writes count as well: they wait behind the large one, also when their connection is gone.
  const small = Array.from({ length: 1_000 }, (_, at) => one.ask('process/write', write(`small ${at}`, 1)))
  const refused = await Promise.race(small)
  expect(refused.error?.message).toContain('bytes as a connection may have')
  expect((await one.ask('process/terminate', { processId: 'p', force: true })).result).toEqual({ running: true })
  await Promise.all([waiting[0], ...small])
  await one.ask('process/start', start('exec cat', { processId: 'q' }))
  expect((await one.ask('process/write', { ...write('3'), processId: 'q' })).result).toEqual({ status: 'accepted' })
  await two.ask('process/terminate', { processId: 'p', force: true })
  await waiting[1]
})

test('whoever fills the room of all shuts nobody out from what is kept for a session', async () => {
  await using talk = await openTalk({ limits: { requestBytes: 4 * MIB + 2_048, requestBytesKept: 64 * 1024 } })
  const [one, other] = [talk.connect(), talk.connect()]
  for (const client of [one, other]) await client.greet()
  await one.ask('process/start', start('exec sleep 1000'))
  await other.ask('process/start', start('exec cat'))
  const filling = one.ask('process/write', write('1'))
  expect((await one.ask('process/write', write('2', 60_000))).error?.message).toContain('bytes as all connections may have')
  expect((await other.ask('process/write', write('1', 40_000))).result).toEqual({ status: 'accepted' })
  const env = { PATH: '/usr/bin:/bin', LONG: 'x'.repeat(10_000) }
  expect((await other.ask('process/start', start('true', { processId: 'q', env }))).error).toBeUndefined()
  await one.ask('process/terminate', { processId: 'p', force: true })
  await filling
})

test('what a request had under way when its connection was cut counts until it is done', async () => {
  await using talk = await openTalk({ limits: { requestBytes: 5 * MIB } })
  const client = talk.connect()
  const resumeSessionId = await client.greet()
  await client.ask('process/start', start('exec sleep 1000'))
  void client.ask('process/write', write('1'))
  client.cut()
  const after = talk.connect()
  await expect
    .poll(() => after.ask('initialize', { clientName: 't', resumeSessionId }))
    .toMatchObject({ result: { sessionId: resumeSessionId } })
  after.say({ method: 'initialized' })
  expect((await after.ask('process/write', write('2'))).error?.message).toContain('bytes as all connections may have')
  await after.ask('process/terminate', { processId: 'p', force: true })
  await expect.poll(() => after.ask('process/write', write('2'))).toMatchObject({ result: { status: 'stdinClosed' } })
})

test('reads that wait end with their connection', async () => {
  let waiting = 0
  const meddle = (backend: ExecBackend): ExecBackend => ({
    start: async (spec) => {
      const process = await backend.start(spec)
      const read = process.read.bind(process)
      process.read = (request) => {
        waiting += 1
        return read(request).finally(() => (waiting -= 1))
      }
      return process
    },
  })
  await using talk = await openTalk({ meddle })
  const first = talk.connect()
  const resumeSessionId = await first.greet()
  await first.ask('process/start', start('exec sleep 1000'))
  let client = first
  for (let cuts = 0; cuts < 3; cuts += 1) {
    for (let reads = 0; reads < 100; reads += 1) void client.ask('process/read', { processId: 'p', waitMs: 60_000 })
    await expect.poll(() => waiting).toBe(100)
    client.cut()
    await expect.poll(() => waiting).toBe(0)
    const next = talk.connect()
    await expect
      .poll(() => next.ask('initialize', { clientName: 't', resumeSessionId }))
      .toMatchObject({ result: { sessionId: resumeSessionId } })
    next.say({ method: 'initialized' })
    client = next
  }
})

test('a text of too many values is answered without being read; one of many bytes is read', async () => {
  await using talk = await openTalk()
  const client = talk.connect()
  await client.greet()
  client.raw(`{"id":70,"method":"environment/status","params":{"a":[${'[],'.repeat(100_000)}0]}}`)
  expect((await client.ask('environment/status')).result).toEqual({ status: 'ready' })
  expect(client.heard.filter((answer) => answer.id === -1 || answer.id === 70)).toEqual([
    { error: { code: -32_600, message: 'failed to parse JSON-RPC message: it holds more than 100000 values' }, id: -1 },
  ])
  expect(talk.logged).toContain('a message was passed over: it holds more than 100000 values')
  expect((await client.ask('process/write', write('1', 8 * MIB))).result).toEqual({ status: 'unknownProcess' })
})
