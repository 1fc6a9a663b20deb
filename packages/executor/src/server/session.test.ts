import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { type ExecBackend, retentionOf } from '../backend/exec-spec.ts'
import { StreamProcess } from '../backend/stream-process.ts'
import { openTalk, type Talker } from './fixture/talk.ts'

const start = (script: string, more: object = {}) => ({
  processId: 'p',
  argv: ['/bin/sh', '-c', script],
  cwd: 'file:///',
  env: { PATH: '/usr/bin:/bin' },
  tty: false,
  ...more,
})
const pidOf = ({ heard }: Talker): number => {
  const output = heard.find(({ method }) => method === 'process/output')
  return output === undefined ? 0 : Number(Buffer.from(output.params.chunk, 'base64').toString())
}

test('a process that outlives its session counts until it is gone, and nobody can come back to it', async () => {
  await using talk = await openTalk({ limits: { processes: 1 }, graceMs: 60_000 })
  const [one, other] = [talk.connect(), talk.connect()]
  const resumeSessionId = await one.greet({ detachMs: 1 })
  await other.greet()
  await one.ask('process/start', start('trap "" TERM HUP; echo $$; exec sleep 1000'))
  await expect.poll(() => pidOf(one)).toBeGreaterThan(0)
  one.cut()
  await expect
    .poll(async () => (await talk.connect().ask('initialize', { clientName: 't', resumeSessionId })).error)
    .toEqual({ code: -32_600, message: `unknown session id ${resumeSessionId}` })
  expect(talk.server.load()).toMatchObject({ sessions: 1, processes: [{ command: '/bin/sh', sinceMs: expect.any(Number) }] })
  expect((await other.ask('process/start', start('true'))).error?.message).toContain('1 processes run here')
  process.kill(pidOf(one), 'SIGKILL')
  await expect.poll(() => talk.server.load().processes).toEqual([])
  expect((await other.ask('process/start', start('true'))).error).toBeUndefined()
})

test('a process that starts while its session ends counts too, and is ended', async () => {
  const starting = Promise.withResolvers<void>()
  const meddle = (backend: ExecBackend): ExecBackend => ({
    start: async (spec) => {
      await starting.promise
      return backend.start(spec)
    },
  })
  await using talk = await openTalk({ meddle })
  const client = talk.connect(0)
  await client.greet()
  void client.ask('process/start', start('exec sleep 1000'))
  await expect.poll(() => talk.server.load().processes).toHaveLength(1)
  client.cut()
  await expect.poll(() => talk.server.load().sessions).toBe(0)
  expect(talk.server.load().processes).toHaveLength(1)
  starting.resolve()
  await expect.poll(() => talk.server.load().processes).toEqual([])
  await expect.poll(() => talk.processes.count()).toBe(0)
})

test('output that is held for a reader does not keep a process of an ended session', async () => {
  await using talk = await openTalk()
  const client = talk.connect(0)
  await client.greet()
  await client.ask('process/start', start('head -c 10000000 /dev/zero; exec sleep 1000', { onFull: 'hold', retainBytes: 1_000 }))
  await expect.poll(() => client.heard.some(({ method }) => method === 'process/output')).toBe(true)
  client.cut()
  await expect.poll(() => talk.server.load()).toEqual({ sessions: 0, processes: [] })
})

test('what a process says before the answer to its start has gone is told, more of it than is kept too', async () => {
  const chunk = Buffer.alloc(64 * 1024, 'x')
  const chunks = 40
  const ended = Promise.withResolvers<void>()
  const meddle = (): ExecBackend => ({
    start: (spec) => {
      const stdout = new PassThrough()
      const streams = {
        stdin: new PassThrough(),
        stdout,
        stderr: new PassThrough(),
        exitCode: ended.promise.then(() => 0),
        closed: ended.promise,
        terminate: () => Promise.resolve(ended.resolve()),
      }
      // In one turn, as a pipe that was full already is read.
      process.nextTick(() => {
        for (let said = 0; said < chunks; said += 1) stdout.emit('data', chunk)
        ended.resolve()
      })
      return Promise.resolve(
        new StreamProcess({ processId: spec.processId, pipeStdin: false, retention: retentionOf(spec), streams }),
      )
    },
  })
  await using talk = await openTalk({ meddle })
  const client = talk.connect()
  await client.greet()
  await client.ask('process/start', start('', { retainBytes: 64 * 1024 }))
  await expect.poll(() => client.heard.some(({ method }) => method === 'process/closed')).toBe(true)
  const told = client.heard.filter(({ method }) => method === 'process/output').map(({ params }) => params.seq)
  expect(told).toEqual(Array.from({ length: chunks }, (_, at) => at + 1))
  const answered = client.heard.findIndex(({ method, id }) => method === undefined && id === 2)
  expect(answered).toBeLessThan(client.heard.findIndex(({ method }) => method === 'process/output'))
})

test('a session whose connection hangs is taken over by its client, and by nobody who does not say so', async () => {
  await using talk = await openTalk()
  const [one, other] = [talk.connect(), talk.connect()]
  // Its processes do not outlive a connection, and they are not without one now.
  const resumeSessionId = await one.greet({ detachMs: 0 })
  await one.ask('process/start', start('cat', { pipeStdin: true }))
  expect((await other.ask('initialize', { clientName: 't', resumeSessionId })).error?.code).toBe(-32_010)
  expect(await other.greet({ resumeSessionId, takeOver: true })).toBe(resumeSessionId)
  const chunk = Buffer.from('hello').toString('base64')
  expect((await other.ask('process/write', { processId: 'p', chunk, writeId: '1' })).result).toEqual({ status: 'accepted' })
  await expect.poll(() => other.heard.find(({ method }) => method === 'process/output')?.params.chunk).toBe(chunk)
  expect(one.heard.filter(({ method }) => method === 'process/output')).toEqual([])
})
