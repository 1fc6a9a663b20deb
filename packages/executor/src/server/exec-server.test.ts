import { expect, test } from 'vitest'
import { gone } from '../local/fixture/gone.ts'
import { openTalk, type Talker } from './fixture/talk.ts'

const start = (script: string, more: object = {}) => ({
  processId: 'p',
  argv: ['/bin/sh', '-c', script],
  cwd: 'file:///',
  env: { PATH: '/usr/bin:/bin' },
  tty: false,
  ...more,
})
const textOf = ({ heard }: Talker): string =>
  heard
    .filter(({ method, params }) => method === 'process/output' && params.stream === 'stdout')
    .map(({ params }) => Buffer.from(params.chunk, 'base64').toString())
    .join('')

test('a client says who it is first, and gets what the real one answers', async () => {
  await using talk = await openTalk()
  const client = talk.connect()
  expect((await client.ask('process/read', { processId: 'p' })).error).toEqual({
    code: -32_600,
    message: 'client must call initialize before using exec methods',
  })
  const { result } = await client.ask('initialize', { clientName: 'test', resumeSessionId: null })
  expect(result).toEqual({
    sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    environmentInfo: expect.objectContaining({
      shell: { name: 'sh', path: '/bin/sh' },
      executorVersion: '1.2.3',
      cwd: 'file:///',
      userHomeDir: 'file:///root',
      platformOs: process.platform === 'darwin' ? 'macos' : process.platform,
      capabilities: { outputHold: true, endInput: true, outputFrames: true, takeOver: true },
    }),
  })
  expect((await client.ask('environment/status')).error).toEqual({
    code: -32_600,
    message: 'client must send initialized before using environment status methods',
  })
  expect((await client.ask('initialize', { clientName: 'test' })).error?.message).toBe(
    'initialize may only be sent once per connection',
  )
  client.say({ method: 'initialized', params: {} })
  expect((await client.ask('environment/status', {})).result).toEqual({ status: 'ready' })
  expect((await client.ask('environment/info', {})).result).toEqual(result.environmentInfo)
})

test('the answer to a start comes before what the process says, and a read has the names of the real one', async () => {
  await using talk = await openTalk()
  const client = talk.connect()
  await client.greet()
  const { result } = await client.ask('process/start', start('echo hi; read _; exit 4', { pipeStdin: true }))
  expect(result).toEqual({ processId: 'p', sandboxType: 'none' })
  await expect.poll(() => client.heard.at(-1)?.method).toBe('process/output')
  expect((await client.ask('process/write', { processId: 'p', chunk: 'Cg==', writeId: '0' })).result).toEqual({
    status: 'accepted',
  })
  await expect.poll(() => client.heard.at(-1)?.method).toBe('process/closed')
  expect(client.heard.slice(1)).toEqual([
    { id: 2, result },
    { method: 'process/output', params: { processId: 'p', seq: 1, stream: 'stdout', chunk: 'aGkK' } },
    { id: 3, result: { status: 'accepted' } },
    { method: 'process/exited', params: { processId: 'p', seq: 2, exitCode: 4, sandboxDenied: false } },
    { method: 'process/closed', params: { processId: 'p', seq: 3 } },
  ])
  const read = await client.ask('process/read', { processId: 'p', afterSeq: 0, maxBytes: null, waitMs: 0 })
  expect(read.result).toEqual({
    chunks: [{ seq: 1, stream: 'stdout', chunk: 'aGkK' }],
    nextSeq: 4,
    exited: true,
    exitCode: 4,
    closed: true,
    failure: null,
    sandboxDenied: false,
  })
  expect((await client.ask('process/write', { processId: 'p', chunk: '', writeId: '1' })).result).toEqual({
    status: 'stdinClosed',
  })
  expect((await client.ask('process/terminate', { processId: 'p' })).result).toEqual({ running: false })
})

test.each([
  ['process/start', { ...start('true'), argv: [] }, -32_602, 'argv must not be empty'],
  ['process/start', { ...start('true'), env: undefined }, -32_602, 'missing field `env`'],
  ['process/start', { ...start('true'), argv: 'sh' }, -32_602, 'argv'],
  ['process/start', { ...start('true'), cwd: '/tmp' }, -32_602, 'invalid URI: relative URL without a base'],
  ['process/start', { ...start('true'), cwd: 'http://x/' }, -32_602, 'cwd: only file: URIs'],
  ['process/start', { ...start('true'), tty: true }, -32_602, 'tty: '],
  ['process/start', { ...start('true'), sandbox: { type: 'x' } }, -32_602, 'sandbox: '],
  ['process/start', { ...start('true'), enforceManagedNetwork: true }, -32_602, 'enforceManagedNetwork: '],
  ['process/start', { ...start('true'), arg0: 'other' }, -32_602, 'arg0: '],
  ['process/start', { ...start('true'), retainBytes: 1e12 }, -32_602, 'retainBytes'],
  ['process/start', { ...start('true'), argv: ['no-such-thing'] }, -32_603, 'no-such-thing'],
  ['process/start', { ...start('true'), cwd: 'file:///no/such' }, -32_603, '/no/such'],
  ['process/start', { ...start('true'), argv: ['a\0b'] }, -32_602, 'NUL'],
  ['process/read', { processId: 'nope' }, -32_600, 'unknown process id nope'],
  ['process/read', { processId: 'p', afterSeq: -1 }, -32_602, 'afterSeq'],
  ['process/write', { processId: 'p', chunk: 'aGk=' }, -32_602, 'missing field `writeId`'],
  ['process/write', { processId: 'p', chunk: '***', writeId: '1' }, -32_602, 'chunk'],
  ['process/signal', { processId: 'p', signal: 'kill' }, -32_602, 'signal'],
  ['environmentConfig/read', {}, -32_601, 'environmentConfig/read'],
  ['http/request', {}, -32_601, 'http/request'],
  ['no/such', {}, -32_601, 'no/such'],
])('%s %j is answered with %i and the name of what is wrong', async (method, params, code, words) => {
  await using talk = await openTalk()
  const client = talk.connect()
  await client.greet()
  expect((await client.ask(method, params)).error).toEqual({ code, message: expect.stringContaining(words) })
  expect((await client.ask('environment/status')).result).toEqual({ status: 'ready' })
})

test('nothing that comes in ends the connection: what cannot be read is answered, what is not known is passed over', async () => {
  await using talk = await openTalk()
  const client = talk.connect()
  await client.greet()
  for (const text of ['not json', '[]', '[{"id":1,"method":"environment/status"}]', '7', '{"id":{},"method":"x"}'])
    client.raw(text)
  for (const message of [{ method: 'no/such' }, { method: 'process/taken', params: 3 }, { id: 77, result: 1 }, {}])
    client.say(message)
  expect((await client.ask('environment/status')).result).toEqual({ status: 'ready' })
  const errors = client.heard.filter(({ id }) => id === -1)
  expect(errors).toHaveLength(5)
  expect(errors[0]).toEqual({
    error: { code: -32_600, message: expect.stringContaining('failed to parse JSON-RPC message') },
    id: -1,
  })
  expect(talk.logged).toEqual(expect.arrayContaining(['a notification was passed over: "no/such"']))
})

test('unknown processes: a write and an end say so, a signal does nothing', async () => {
  await using talk = await openTalk()
  const client = talk.connect()
  await client.greet()
  expect((await client.ask('process/write', { processId: 'x', chunk: '', writeId: '1' })).result).toEqual({
    status: 'unknownProcess',
  })
  expect((await client.ask('process/terminate', { processId: 'x' })).result).toEqual({ running: false })
  expect((await client.ask('process/signal', { processId: 'x', signal: 'interrupt' })).result).toEqual({})
})

test('names of processes belong to a session, and are taken while the process is readable', async () => {
  await using talk = await openTalk()
  const [one, other] = [talk.connect(), talk.connect()]
  await one.greet()
  await other.greet()
  const asked = [one.ask('process/start', start('sleep 1000')), one.ask('process/start', start('true'))]
  const write = one.ask('process/write', { processId: 'p', chunk: '', writeId: '1' })
  expect((await write).result).toEqual({ status: 'starting' })
  const answers = await Promise.all(asked)
  expect(answers[1]?.error).toEqual({ code: -32_600, message: 'process p already exists' })
  expect((await other.ask('process/start', start('true'))).result).toBeDefined()
})

test('a cut connection costs nothing: the session is taken back with its processes, and what was missed can be read', async () => {
  await using talk = await openTalk()
  const before = talk.connect()
  const sessionId = await before.greet()
  await before.ask('process/start', start('while read line; do echo "got $line"; done', { pipeStdin: true }))
  await before.ask('process/write', { processId: 'p', chunk: Buffer.from('one\n').toString('base64'), writeId: '1' })
  await expect.poll(() => textOf(before)).toBe('got one\n')
  const busy = talk.connect()
  expect((await busy.ask('initialize', { clientName: 't', resumeSessionId: sessionId })).error).toEqual({
    code: -32_010,
    message: `session ${sessionId} is already attached to another connection`,
  })
  before.cut()
  const after = talk.connect()
  await expect
    .poll(() => after.ask('initialize', { clientName: 't', resumeSessionId: sessionId }))
    .toMatchObject({ result: { sessionId } })
  after.say({ method: 'initialized' })
  // The same write again, because its answer may have been lost: not written twice.
  await after.ask('process/write', { processId: 'p', chunk: Buffer.from('one\n').toString('base64'), writeId: '1' })
  await after.ask('process/write', { processId: 'p', chunk: Buffer.from('two\n').toString('base64'), writeId: '2' })
  await expect.poll(() => textOf(after)).toBe('got two\n')
  const { result } = await after.ask('process/read', { processId: 'p', afterSeq: 0 })
  expect(result.chunks).toHaveLength(2)
  expect((await talk.connect().ask('initialize', { clientName: 't', resumeSessionId: 'nobody' })).error).toEqual({
    code: -32_600,
    message: 'unknown session id nobody',
  })
})

test('a session that nobody comes back to ends with its processes: after detachMs, at once where that is 0', async () => {
  await using talk = await openTalk()
  for (const [fixed, asked] of [
    [undefined, 20],
    [0, 60_000],
  ] as const) {
    const client = talk.connect(fixed)
    const sessionId = await client.greet({ detachMs: asked })
    await client.ask('process/start', start('echo $$; trap "" HUP; while :; do sleep 1000; done'))
    await expect.poll(() => textOf(client)).toContain('\n')
    client.cut()
    await gone(Number(textOf(client)))
    const later = await talk.connect().ask('initialize', { clientName: 't', resumeSessionId: sessionId })
    expect(later.error?.message).toBe(`unknown session id ${sessionId}`)
  }
  expect((await talk.connect().ask('initialize', { clientName: 't', detachMs: 1e9 })).error?.message).toContain('detachMs')
})

test('bounds have names: sessions, processes, bytes', async () => {
  await using talk = await openTalk({ limits: { sessions: 1, processesPerSession: 1, sessionBytes: 2_000_000 } })
  const client = talk.connect()
  await client.greet()
  expect((await talk.connect().ask('initialize', { clientName: 't' })).error?.message).toContain('1 sessions are open')
  expect((await client.ask('process/start', start('true', { retainBytes: 3_000_000 }))).error?.message).toContain('retainBytes')
  await client.ask('process/start', start('sleep 1000'))
  expect((await client.ask('process/start', { ...start('true'), processId: 'q' })).error?.message).toContain(
    '1 processes at most',
  )
})

test('processes that have ended take no places: the oldest of them are forgotten for new ones', async () => {
  await using talk = await openTalk({ limits: { processesPerSession: 2, readablePerSession: 2 } })
  const client = talk.connect()
  await client.greet()
  const closed = (): number => client.heard.filter(({ method }) => method === 'process/closed').length
  for (let count = 1; count <= 8; count += 1) {
    const started = await client.ask('process/start', { ...start('true'), processId: `p${count}` })
    expect(started.error).toBeUndefined()
    await expect.poll(closed).toBe(count)
  }
  expect((await client.ask('process/read', { processId: 'p1' })).error?.message).toBe('unknown process id p1')
  expect((await client.ask('process/read', { processId: 'p8' })).result.closed).toBe(true)
})

test('the processes of all sessions together have a bound, and one that drains opens none', async () => {
  await using talk = await openTalk({ limits: { processes: 1 } })
  const [one, other] = [talk.connect(), talk.connect()]
  await one.greet()
  await other.greet()
  await one.ask('process/start', start('sleep 1000'))
  expect((await other.ask('process/start', start('true'))).error?.message).toContain('1 processes run here')
  expect(talk.server.load()).toMatchObject({ sessions: 2, processes: [{ command: start('sleep 1000').argv[0] }] })
  talk.server.drain(true)
  expect((await talk.connect().ask('initialize', { clientName: 't' })).error?.message).toContain('being drained')
  talk.server.drain(false)
  expect((await talk.connect().ask('initialize', { clientName: 't' })).error).toBeUndefined()
})

test('a process can be read from for a while after its end, and its name is free again then', async () => {
  await using talk = await openTalk({ limits: { readableMs: 20 } })
  const client = talk.connect()
  await client.greet()
  await client.ask('process/start', start('echo hi'))
  await expect.poll(() => client.heard.at(-1)?.method).toBe('process/closed')
  await expect
    .poll(async () => (await client.ask('process/read', { processId: 'p' })).error?.message)
    .toBe('unknown process id p')
  expect((await client.ask('process/start', start('true'))).error).toBeUndefined()
})

test('a process gets of the variables of the executor what its policy asks for, and then its own', async () => {
  await using talk = await openTalk()
  const client = talk.connect()
  await client.greet()
  const envOf = async (envPolicy: object | null): Promise<string[]> => {
    const processId = JSON.stringify(envPolicy)
    await client.ask('process/start', { ...start(''), processId, argv: ['/usr/bin/env'], env: { OWN: '1' }, envPolicy })
    await expect.poll(async () => (await client.ask('process/read', { processId })).result.closed).toBe(true)
    const { result } = await client.ask('process/read', { processId })
    return Buffer.concat(result.chunks.map(({ chunk }: { chunk: string }) => Buffer.from(chunk, 'base64')))
      .toString()
      .trim()
      .split('\n')
      .sort()
  }
  expect(await envOf(null)).toEqual(['OWN=1'])
  expect(await envOf({ inherit: 'none', set: { A: 'b' } })).toEqual(['A=b', 'OWN=1'])
  expect(await envOf({ inherit: 'core' })).toEqual(['HOME=/root', 'OWN=1', 'PATH=/usr/bin:/bin', 'SHELL=/bin/sh'])
  expect(await envOf({ inherit: 'all', ignoreDefaultExcludes: false, exclude: ['sh*'] })).toEqual([
    'HOME=/root',
    'OWN=1',
    'PATH=/usr/bin:/bin',
  ])
  expect(await envOf({ inherit: 'all', includeOnly: ['h?me'] })).toEqual(['HOME=/root', 'OWN=1'])
})
