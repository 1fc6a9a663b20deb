import { expect, test } from 'vitest'
import { ByteRoom } from '@parley/protocol'
import type { ClientLink } from '@parley/rpc'
import { ScriptedProcess } from './fixture/scripted-process.ts'
import { ExecutorProcessTransport, type ProcessTransportOptions } from './executor-process-transport.ts'

const MESSAGE = '{"jsonrpc":"2.0","method":"x"}'

/** A transport on a scripted process, opened. */
function openOn(process = new ScriptedProcess(), more: Partial<ProcessTransportOptions> = {}) {
  const logged: string[] = []
  const got: string[] = []
  const failed: [number, Error][] = []
  const ends: string[] = []
  const transport = new ExecutorProcessTransport(process, {
    name: 'srv',
    log: (level, message) => void logged.push(`${level} ${message}`),
    ...more,
  })
  const open = (): ClientLink =>
    transport.open({
      receive: (text) => got.push(text) < 0,
      fail: (id, error) => void failed.push([id, error]),
      sessionLost: () => undefined,
      ended: ({ reason }) => void ends.push(reason),
    })
  return { process, transport, open, logged, got, failed, ends }
}

const request = (link: ClientLink, id: number): void =>
  link.request?.({ id, method: 'm', text: JSON.stringify({ id }), headers: undefined })

test('it subscribes before anything is written, and what comes before it is opened is not lost', async () => {
  const { process, open, got } = openOn()
  expect(process.happened).toEqual(['subscribe'])
  process.out(1, `${MESSAGE}\n`)
  const link = open()
  request(link, 1)
  await expect.poll(() => process.happened).toEqual(['subscribe', 'write {"id":1}'])
  expect(got).toEqual([MESSAGE])
})

test('one message per line, a carriage return trimmed, a chunk that ends inside of a line waits for the rest', () => {
  const { process, open, got } = openOn()
  open()
  process.out(1, '{"a":')
  process.out(2, `1}\r\n{"b":2}\n{"c"`)
  process.out(3, ':3}\n\n')
  expect(got).toEqual(['{"a":1}', '{"b":2}', '{"c":3}'])
})

test('a final line without its newline is accepted after close, and not before', () => {
  const { process, open, got, ends } = openOn()
  open()
  process.out(1, '{"last":1}')
  process.tell({ kind: 'exited', seq: 2, exitCode: 0 })
  expect(got).toEqual([])
  process.tell({ kind: 'closed', seq: 3 })
  expect({ got, ends }).toEqual({ got: ['{"last":1}'], ends: ['the server ended with exit code 0'] })
})

test('stdout alone is protocol, and what comes from a terminal counts as stdout', () => {
  const { process, open, got } = openOn()
  open()
  process.out(1, `${MESSAGE}\n`, 'stderr')
  process.out(2, '{"a":1}\n', 'pty')
  expect(got).toEqual(['{"a":1}'])
})

test('stderr goes to the log line by line at info, what is not UTF-8 replaced, the last line flushed at the end', () => {
  const { process, open, logged } = openOn()
  open()
  process.out(1, 'one\r\ntw', 'stderr')
  process.out(2, Buffer.concat([Buffer.from('o '), Buffer.from([0xff]), Buffer.from('\nthree')]), 'stderr')
  expect(logged).toEqual(['info MCP server stderr (srv): one', 'info MCP server stderr (srv): two \uFFFD'])
  process.tell({ kind: 'closed', seq: 3 })
  expect(logged.at(-1)).toBe('info MCP server stderr (srv): three')
})

test('lines that cannot be parsed are logged at debug and skipped', () => {
  const { process, open, got, logged, ends } = openOn()
  open()
  process.out(1, 'hello there\n{"broken\n{"a" 1}\n')
  process.out(2, Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}\n')]))
  process.out(3, '{"a":1}\n')
  expect(got).toEqual(['{"a":1}'])
  expect(logged).toHaveLength(4)
  expect(logged[0]).toBe('debug Failed to parse remote MCP server message (srv): hello there')
  expect(ends).toEqual([])
})

test('an event that came already is ignored by its sequence', () => {
  const { process, open, got } = openOn()
  open()
  process.out(1, '{"a":1}\n')
  process.out(1, '{"a":1}\n')
  process.out(2, '{"b":1}\n')
  process.out(1, '{"a":1}\n')
  expect(got).toEqual(['{"a":1}', '{"b":1}'])
})

test('a healthy stream is never read', () => {
  const { process, open, got } = openOn()
  open()
  for (let seq = 1; seq <= 500; seq += 1) process.out(seq, `{"n":${seq}}\n`)
  process.tell({ kind: 'exited', seq: 501, exitCode: 0 })
  process.tell({ kind: 'closed', seq: 502 })
  expect(got).toHaveLength(500)
  expect(process.happened).toEqual(['subscribe'])
})

test('on lag it warns with the number skipped, reads on from the last sequence seen, and remembers nextSeq - 1', async () => {
  const { process, open, got, logged, ends } = openOn()
  open()
  process.out(1, '{"a":1}\n{"b"')
  process.onRead = async () =>
    ScriptedProcess.answer({
      chunks: [
        { seq: 2, stream: 'stdout', bytes: Buffer.from(':2}\n') },
        { seq: 3, stream: 'stdout', bytes: Buffer.from('{"c":3}\n') },
      ],
      nextSeq: 5,
      exited: true,
      exitCode: 0,
    })
  process.tell({ kind: 'lagged', skipped: 2 })
  process.out(3, '{"c":3}\n')
  process.out(5, '{"d":4}\n')
  await expect.poll(() => got).toEqual(['{"a":1}', '{"b":2}', '{"c":3}', '{"d":4}'])
  expect(process.happened).toEqual(['subscribe', 'read {"afterSeq":1,"waitMs":0}'])
  expect(logged).toEqual(['warn Remote MCP server output stream lagged (srv): skipped 2 events'])
  process.tell({ kind: 'closed', seq: 6 })
  expect(ends).toEqual(['the server ended with exit code 0'])
})

test('a number that was left out is read back like a lag', async () => {
  const { process, open, got, logged } = openOn()
  open()
  process.onRead = async () =>
    ScriptedProcess.answer({
      chunks: [
        { seq: 1, stream: 'stdout', bytes: Buffer.from('{"a"') },
        { seq: 2, stream: 'stdout', bytes: Buffer.from(':1}\n') },
      ],
      nextSeq: 3,
    })
  process.out(2, ':1}\n')
  await expect.poll(() => got).toEqual(['{"a":1}'])
  expect(logged).toEqual(['warn Remote MCP server output stream lagged (srv): skipped 1 events'])
})

test('what is read back says failure before closed', async () => {
  const { process, open, logged, ends, got } = openOn()
  open()
  const chunks = [{ seq: 1, stream: 'stdout', bytes: Buffer.from('{"a":1}') }] as const
  process.onRead = async () => ScriptedProcess.answer({ chunks, nextSeq: 2, failure: 'burnt down', closed: true })
  process.tell({ kind: 'lagged', skipped: 1 })
  await expect.poll(() => ends).toEqual(['the process of the server failed: burnt down'])
  expect(got).toEqual(['{"a":1}'])
  expect(logged.at(-1)).toBe('warn Remote MCP server process failed (srv): burnt down')
})

test('a read that fails is the end, with words', async () => {
  const { process, open, logged, ends } = openOn()
  open()
  process.onRead = () => Promise.reject(new Error('no way'))
  process.tell({ kind: 'lagged', skipped: 1 })
  await expect.poll(() => ends).toEqual(['the output of the server could not be read: no way'])
  expect(logged.at(-1)).toBe('warn Failed to recover remote MCP server output stream (srv): no way')
})

test('an event stream that ends without closed is drained, and then it is the end', async () => {
  const { process, open, got, ends } = openOn()
  open()
  process.out(1, '{"a":1}\n')
  process.onRead = async () =>
    ScriptedProcess.answer({ chunks: [{ seq: 2, stream: 'stdout', bytes: Buffer.from('{"b":2}') }], nextSeq: 3 })
  process.tell({ kind: 'ended' })
  await expect.poll(() => ends).toEqual(['the server ended'])
  expect(got).toEqual(['{"a":1}', '{"b":2}'])
})

test.each([
  [{ chunks: [{ seq: 5, stream: 'stdout', bytes: Buffer.from('2}\n') }], nextSeq: 6 } as const, 5],
  [{ chunks: [{ seq: 7, stream: 'stdout', bytes: Buffer.from('2}\n') }], nextSeq: 8, truncated: true, firstSeq: 7 } as const, 7],
])('a gap that cannot be read back closes with both numbers rather than splice', async (answer, received) => {
  const { process, open, got, ends } = openOn()
  open()
  process.out(1, '{"a":')
  process.onRead = async () => ScriptedProcess.answer(answer)
  process.tell({ kind: 'lagged', skipped: 3 })
  const words = `remote MCP server output stream lost process events: expected sequence 2, received ${received}`
  await expect.poll(() => ends).toEqual([words])
  expect(got).toEqual([])
  await expect.poll(() => process.happened).toContain('terminate')
})

test('a line over its bound on stdout closes with words, and the process is ended', async () => {
  const { process, open, ends } = openOn(new ScriptedProcess(), { stdoutLineBytes: 100 })
  open()
  process.out(1, `{"a":"${'x'.repeat(99)}"}\n`)
  expect(ends).toEqual(['a line has more than 100 bytes'])
  await expect.poll(() => process.happened).toContain('terminate')
  process.out(2, `${MESSAGE}\n`)
})

test('a message for which there is no room closes with words, and what had come of it is let go of', async () => {
  const room = new ByteRoom({ bytes: 100, bytesPerOwner: 100 })
  const { process, open, ends, got } = openOn(new ScriptedProcess(), { share: room.share('ann') })
  open()
  process.out(1, `{"a":"${'x'.repeat(60)}`)
  expect(room.share('bob').hold(50)).toBe(false)
  process.out(2, `"}\n`)
  expect([got.length, room.share('bob').hold(50)]).toEqual([1, true])
  process.out(3, 'y'.repeat(60))
  expect(ends).toEqual(['there is no room for what has come of unfinished messages'])
  expect(room.share('ann').hold(50)).toBe(true)
  await expect.poll(() => process.happened).toContain('terminate')
})

test('8 MiB on stdout are taken, one byte more is not; a line of stderr is cut at 1 MiB with words', () => {
  const { process, open, got, ends, logged } = openOn()
  open()
  const fits = `{"a":"${'x'.repeat(8 * 1024 * 1024 - 8)}"}`
  process.out(1, `${fits}\n`)
  expect(got).toEqual([fits])
  process.out(2, `${'y'.repeat(1024 * 1024 + 1)}\nnext\n`, 'stderr')
  expect(logged[0]).toMatch(/^info MCP server stderr \(srv\): y+ \(cut: the line is longer than 1048576 bytes\)$/)
  expect(logged[1]).toBe('info MCP server stderr (srv): next')
  process.out(3, `${fits}x\n`)
  expect(ends).toEqual(['a line has more than 8388608 bytes'])
})

test('writes are serialised: one is under way, what comes meanwhile goes out together after it', async () => {
  const { process, open } = openOn()
  const link = open()
  process.holdsWrites = true
  request(link, 1)
  await expect.poll(() => process.writes).toHaveLength(1)
  request(link, 2)
  request(link, 3)
  expect(process.writes).toHaveLength(1)
  process.writes[0]?.answer.resolve('accepted')
  await expect.poll(() => process.writes.map(({ text }) => text)).toEqual(['{"id":1}\n', '{"id":2}\n{"id":3}\n'])
})

test.each([
  ['unknownProcess', 'EPIPE', 'unknown process'],
  ['stdinClosed', 'EPIPE', 'stdin closed'],
  ['starting', 'EAGAIN', 'process is starting'],
] as const)('%s fails the request with %s', async (status, code, message) => {
  const { process, open, failed, ends } = openOn()
  const link = open()
  process.writeStatus = status
  request(link, 7)
  await expect.poll(() => failed).toHaveLength(1)
  expect(failed[0]?.[0]).toBe(7)
  expect(failed[0]?.[1]).toMatchObject({ code, message })
  process.writeStatus = 'accepted'
  request(link, 8)
  await expect.poll(() => process.writes).toHaveLength(2)
  expect({ ends, failed: failed.length }).toEqual({ ends: [], failed: 1 })
})

test('a process that failed warns with the program’s name, drains, and then it is the end', () => {
  const { process, open, got, logged, ends } = openOn()
  open()
  process.out(1, '{"a":1}')
  process.out(2, 'tail', 'stderr')
  process.tell({ kind: 'failed', message: 'the executor is lost: gone' })
  expect(got).toEqual(['{"a":1}'])
  expect(logged).toEqual([
    'warn Remote MCP server process failed (srv): the executor is lost: gone',
    'info MCP server stderr (srv): tail',
  ])
  expect(ends).toEqual(['the process of the server failed: the executor is lost: gone; it said last: tail'])
})

test('close terminates once, however often it comes', async () => {
  const { process, transport, open } = openOn()
  const link = open()
  await Promise.all([link.close(), link.close(), transport[Symbol.asyncDispose]()])
  expect(process.happened.filter((what) => what === 'terminate')).toHaveLength(1)
})

test('a terminate that failed is tried again and logged', async () => {
  const { process, transport, logged } = openOn()
  let tries = 0
  process.onTerminate = () => {
    tries += 1
    return tries === 1 ? Promise.reject(new Error('not now')) : Promise.resolve(true)
  }
  await transport[Symbol.asyncDispose]()
  expect(tries).toBe(2)
  expect(logged).toEqual(['warn Failed to terminate remote MCP server process (srv): not now'])
})

test('a transport that is never opened ends its process', async () => {
  const { process } = openOn(new ScriptedProcess(), { openWaitMs: 1 })
  await expect.poll(() => process.happened).toContain('terminate')
})

test('a server that ended before it was opened is told to whoever opens it, with what it said', () => {
  const { process, open, got, ends } = openOn()
  process.out(1, `${MESSAGE}\n`)
  process.tell({ kind: 'exited', seq: 2, exitCode: 3 })
  process.tell({ kind: 'closed', seq: 3 })
  open()
  expect({ got, ends }).toEqual({ got: [MESSAGE], ends: ['the server ended with exit code 3'] })
})

test('a server that says too much before anybody listens is ended, with words for whoever opens it', async () => {
  const { process, open, ends, logged } = openOn()
  const long = `{"jsonrpc":"2.0","method":"${'x'.repeat(4 * 1024 * 1024)}"}\n`
  for (const seq of [1, 2]) process.out(seq, long)
  open()
  expect(ends).toEqual(['it said more than 8388608 characters before anybody listened'])
  expect(logged).toContain('warn srv: it said more than 8388608 characters before anybody listened')
  await expect.poll(() => process.happened).toContain('terminate')
})
